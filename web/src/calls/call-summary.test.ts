import { expect, test } from "vitest"
import type { JsonText } from "../json/json-text.ts"
import { callFacts } from "./call-summary.ts"
import { matchSnippet } from "./match-snippet.ts"
import { pathsOf, valueAt } from "./payload-path.ts"

const facts = (summary: object | null) => callFacts(JSON.stringify(summary) as JsonText)

test("tokens of both spellings are added, and a model without a price has no cost", () => {
  const usage = { a: { prompt_tokens: 5, completion_tokens: 2 }, b: { input_tokens: 1, output_tokens: 1 } }
  expect(facts({ usage }).tokens).toEqual({ input: 6, output: 3, cached: 0, cost: null, models: ["a", "b"] })
  const costs = { a: { prompt_tokens_total_cost: 0.5, completion_tokens_total_cost: 0.25 } }
  expect(facts({ usage, weave: { costs } }).tokens?.cost).toBe(0.75)
  expect([facts(null).tokens, facts({ usage: {} }).tokens, facts({ usage: { a: { requests: 1 } } }).tokens]).toEqual([
    null,
    null,
    null,
  ])
})

test.each([
  ["wandb.reaction.1", { emoji: "👍" }, null, [["reaction", "", "👍"]]],
  ["wandb.note.1", { note: "4.2 allows it" }, null, [["note", "note", "4.2 allows it"]]],
  ["wandb.annotation.tone", { value: 3 }, null, [["score", "tone", "3"]]],
  ["wandb.runnable.tone", { output: { tone: 2 } }, "weave:///e/p/op/tone:v1", [["score", "tone", "2"]]],
  [
    "wandb.runnable.judge",
    { output: { ok: false, why: "late" } },
    "weave:///e/p/op/judge:v1",
    [
      ["score", "judge.ok", "no"],
      ["score", "judge.why", "late"],
    ],
  ],
])("feedback %s with %j", (feedback_type, payload, runnable_ref, marks) => {
  const row = { id: "f", feedback_type, payload, runnable_ref, creator: null, created_at: "2026-11-22T14:31:58Z" }
  const shown = facts({ weave: { feedback: [row] } }).feedback
  expect(shown.map(({ kind, name, text }) => [kind, name, text])).toEqual(marks)
})

test("a match is seen, wherever the text has it", () => {
  const joined = (parts: { text: string; isMatch: boolean }[]) =>
    parts.map(({ text, isMatch }) => (isMatch ? `[${text}]` : text)).join("")
  expect(joined(matchSnippet("a Refund please", "", ["refund"]))).toBe("a [Refund] please")
  expect(joined(matchSnippet(`${"x".repeat(60)} refund`, "", ["refund"]))).toBe(`… ${"x".repeat(23)} [refund]`)
  expect(joined(matchSnippet("a long word or two stand before the refund", "", ["refund"]))).toBe(
    "… two stand before the [refund]",
  )
  expect(joined(matchSnippet("9", '{"why": "refund", "n": 9}', ["refund"]))).toBe('{"why": "[refund]", "n": 9}')
  expect(joined(matchSnippet("plain", "", []))).toBe("plain")
})

test("values at paths keep their spelling", () => {
  const payload = '{"a": {"n": 12345678901234567890, "list": [1.0, {"x": "y"}]}}' as JsonText
  expect(valueAt(payload, ["a", "n"])).toBe("12345678901234567890")
  expect(valueAt(payload, ["a", "list", "1", "x"])).toBe('"y"')
  expect([valueAt(payload, ["a", "b"]), valueAt(payload, ["a", "n", "z"])]).toEqual([null, null])
  expect(pathsOf(payload, "inputs")).toEqual(["inputs.a.n", "inputs.a.list"])
})
