import { JsonViewer } from "../../components/json/json-viewer.tsx"
import { LongText } from "../../components/text/long-text.tsx"
import { Markdown } from "../../components/text/markdown.tsx"
import { Code } from "../../components/text/code.tsx"
import { Sample } from "./sample.tsx"

const markdown = `**Markdown** of a model, with a [link](https://example.com/), \`code\` and a list:

- one
- two

| step | reward |
|---|---|
| 42 | 0.74 |

<b onclick="alert(1)">HTML is text</b> ![a picture of another host](https://example.com/x.png)`

const json = `{"id": 12345678901234567890, "reward": 1.0, "messages": [{"role": "user", "content": "4+5="}, {"role": "assistant",
"content": "9"}], "tools": null, "stream": false, "empty": {}, "more": ${JSON.stringify(Array.from({ length: 300 }, (_, index) => index))}}`

export function TextSamples() {
  return (
    <>
      <Sample title="Markdown, of which no HTML is run">
        <Markdown text={markdown} />
      </Sample>
      <Sample title="JSON, opened on demand, numbers as written">
        <JsonViewer label="Sample" text={json} height={260} />
      </Sample>
      <Sample title="Code to copy, and plain text">
        <Code label="Code for OpenAI" code={'client = OpenAI(base_url="http://127.0.0.1:8080/v1")  # this server'} />
        <LongText text={"Is it day 33, so no refund?\nThe zipper broke on the first day."} />
      </Sample>
    </>
  )
}
