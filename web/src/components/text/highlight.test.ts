import { expect, test } from "vitest"
import { highlight } from "./highlight.ts"

test("strings, comments and keywords, and nothing is lost", () => {
  const code = 'from openai import OpenAI\nclient = OpenAI(key="a # b")  # ships\nimported = 1'
  expect(highlight(code)).toEqual([
    { part: "keyword", text: "from" },
    { part: "plain", text: " openai " },
    { part: "keyword", text: "import" },
    { part: "plain", text: " OpenAI\nclient = OpenAI(key=" },
    { part: "string", text: '"a # b"' },
    { part: "plain", text: ")  " },
    { part: "comment", text: "# ships" },
    { part: "plain", text: "\nimported = 1" },
  ])
})
