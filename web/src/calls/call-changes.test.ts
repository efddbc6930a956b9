import { expect, test } from "vitest"
import type { JsonText } from "../json/json-text.ts"
import { callChanges } from "./call-changes.ts"

const call = (inputs: object, output: unknown, attributes: object = {}) => ({
  inputs: JSON.stringify(inputs) as JsonText,
  output: JSON.stringify(output) as JsonText,
  attributes: JSON.stringify(attributes) as JsonText,
})

test("of chats what was said stands apart from the parameters", () => {
  const said = (content: string) => [{ role: "user", content }]
  const parts = callChanges(
    call({ messages: said("Hello"), model: "m", temperature: 0.5 }, "yes"),
    call({ messages: said("Hello there"), model: "m", temperature: 1 }, "yes", { place: "b" }),
  )
  expect(parts.map(({ name, changes }) => [name, changes.map(({ path }) => path)])).toEqual([
    ["Messages", ["messages[0].content"]],
    ["Parameters", ["temperature"]],
    ["Output", []],
    ["Attributes", ["place"]],
  ])
})

test("of other calls there are inputs", () => {
  expect(callChanges(call({ a: 1 }, 1), call({ a: 1 }, 2)).map(({ name, changes }) => [name, changes.length])).toEqual([
    ["Inputs", 0],
    ["Output", 1],
    ["Attributes", 0],
  ])
})

test("of calls that failed the errors are compared", () => {
  const failed = (exception: string | null) => ({ ...call({ a: 1 }, null), exception })
  const errorOf = (before: string | null, after: string | null) =>
    callChanges(failed(before), failed(after)).find(({ name }) => name === "Error")?.changes
  expect(errorOf("timeout after 3 s", "timeout after 9 s")).toEqual([
    { path: "", before: '"timeout after 3 s"', after: '"timeout after 9 s"' },
  ])
  expect(errorOf(null, "timeout")).toEqual([{ path: "", before: null, after: '"timeout"' }])
  expect(errorOf("timeout", "timeout")).toEqual([])
  expect(errorOf(null, null)).toBeUndefined()
})
