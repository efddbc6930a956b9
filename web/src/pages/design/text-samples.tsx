import { useState } from "react"
import { Button } from "../../components/controls/button.tsx"
import { TextField } from "../../components/controls/field.tsx"
import { JsonViewer } from "../../components/json/json-viewer.tsx"
import { Clamped } from "../../components/text/clamped.tsx"
import { LongText } from "../../components/text/long-text.tsx"
import { Markdown } from "../../components/text/markdown.tsx"
import { Code } from "../../components/text/code.tsx"
import { Sample } from "./sample.tsx"

const manyLines = Array.from({ length: 30 }, (_, line) => `Line ${line + 1} of what an agent answered.`).join("\n")

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
      <LargeJson />
      <Sample title="Code to copy, and plain text">
        <Code label="Code for OpenAI" code={'client = OpenAI(base_url="http://127.0.0.1:8080/v1")  # this server'} />
        <LongText text={"Is it day 33, so no refund?\nThe zipper broke on the first day."} />
      </Sample>
      <Sample title="A long text, cut until somebody asks for all of it">
        <Clamped text={manyLines}>
          <LongText text={manyLines} />
        </Clamped>
      </Sample>
    </>
  )
}

/** A list of records of about 500 characters; one near the end holds a word that no other has. */
function largeJson(megabytes: number): string {
  const count = Math.max(8, Math.floor((megabytes * 1_000_000) / 500))
  const filling = "words of one record ".repeat(19)
  const records: string[] = []
  for (let number = 0; number < count; number += 1) {
    const text = number === count - 7 ? "the xylographer stands here" : filling
    records.push(
      `{"number":${number},"id":"record-${number}","text":"${text}","values":[${number * 3},true,null],"inner":{"more":${number}}}`,
    )
  }
  return `{"records":[${records.join(",")}]}`
}

/** On demand, so that a benchmark sees it opened: `npm run bench -- web-json`. */
function LargeJson() {
  const [megabytes, setMegabytes] = useState("50")
  const [text, setText] = useState<string | null>(null)
  const [isShown, setShown] = useState(false)
  return (
    <Sample title="JSON of any size" isWide>
      <TextField
        label="Megabytes"
        inputMode="numeric"
        value={megabytes}
        onChange={(event) => setMegabytes(event.target.value)}
      />
      <Button onClick={() => setText(largeJson(Number(megabytes)))}>Make a large JSON text</Button>
      <Button disabled={text === null} isOn={isShown} onClick={() => setShown(!isShown)}>
        Open the large JSON text
      </Button>
      {isShown && text !== null && <JsonViewer label="Large" text={text} height={260} />}
    </Sample>
  )
}
