import { describe, expect, test } from "vitest"
import type { Call } from "../api/calls/calls.ts"
import type { JsonText } from "../json/json-text.ts"
import { evalRunOf } from "./eval-run.ts"
import { changedScorers, hasSameDataset, setupOf } from "./evaluation-setup.ts"
import { leafTexts, readableText, rowPreview } from "./readable-text.ts"
import { objectNames, runLabel } from "./run-labels.ts"

const json = (text: string) => text as JsonText

test.each([
  ['"a\\nb"', "a\nb"],
  ['{"content":"only"}', "only"],
  ['{"a":9007199254740993,"b":1.0}', '{"a":9007199254740993,"b":1.0}'],
  ["null", "nothing"],
  [`{"long":"${"x".repeat(60)}","list":[1.0,2]}`, `{\n  "long": "${"x".repeat(60)}",\n  "list": [1.0,2]\n}`],
])("%s is read as %j", (text, expected) => expect(readableText(json(text))).toBe(expected))

test("scores are shown leaf by leaf, with numbers as written", () => {
  expect(leafTexts(json('{"ok":true,"judge":{"tone":1.0,"why":{"short":"x"}},"list":[1]}'))).toEqual([
    { name: "ok", value: "true" },
    { name: "judge.tone", value: "1.0" },
    { name: "judge.why.short", value: '"x"' },
    { name: "list", value: "[1]" },
  ])
  expect(leafTexts(json("3"))).toEqual([])
})

test.each([
  ['{"id":7,"ticket":"Where is it?","expected":"There."}', "Where is it?"],
  ['{"question":"Q","id":"x"}', "Q"],
  ['{"a":1,"b":2}', '{"a":1,"b":2}'],
  ['"plain"', "plain"],
])("a row %s is told by %j", (text, expected) => expect(rowPreview(json(text))).toBe(expected))

describe("a run", () => {
  const run = (inputs: string, more: Partial<Call> = {}) =>
    evalRunOf({
      id: "r",
      trace_id: "t",
      inputs: json(inputs),
      started_at: "2026-01-01T00:00:00Z",
      ended_at: null,
      exception: null,
      display_name: null,
      ...more,
    } as Call)

  test("names its evaluation and model, of both SDKs, by refs or plain", () => {
    const ref = (name: string) => `weave:///e/p/object/${name}:abcdefghijk`
    expect(run(`{"self":"${ref("eval")}","model":"${ref("agent")}"}`)).toMatchObject({
      evaluation: "eval",
      model: "agent",
      status: "running",
    })
    expect(run(`{"this":"${ref("eval")}"}`)).toMatchObject({ evaluation: "eval", model: "no model named" })
    expect(run('{"self":{"inline":1},"model":"gpt"}')).toMatchObject({ evaluation: "unnamed", model: "gpt" })
  })

  test("that failed says why as lists of calls do", () => {
    const exception = JSON.stringify({ type: "ValueError", message: "no rows", traceback: [] })
    expect(run("{}", { exception }).exception).toBe("ValueError: no rows")
  })

  test("is called by its model and version", () => {
    const one = run('{"model":"weave:///e/p/object/agent:abcdefghijk"}')
    expect(runLabel(one, [{ object_id: "agent", digest: "abcdefghijk", version_index: 3 }])).toBe("agent v3")
    expect(runLabel(one, [{ object_id: "other", digest: "abcdefghijk", version_index: 3 }])).toBe("agent abcdef")
    expect(runLabel(run('{"model":"gpt"}'), [])).toBe("gpt")
  })

  test("only objects of the project itself are asked for", () => {
    const refs = ["weave:///e/p/object/b:1", "weave:///e/p/op/a:1", "weave:///e/other/object/c:1", "plain", null]
    expect(objectNames("e/p", refs)).toEqual(["a", "b"])
  })
})

describe("what an evaluation was made of", () => {
  const version = (digest: string, val: unknown) => ({ object_id: "eval", digest, val })
  const refs = (dataset: string, tone: string) => ({
    dataset: `weave:///e/p/object/data:${dataset}`,
    scorers: [`weave:///e/p/object/tone:${tone}`, "weave:///e/p/op/exact:v1", 3],
  })
  const versions = [version("a", refs("1", "x")), version("b", refs("2", "y")), version("c", "text")]
  const setup = (digest: string) => setupOf(`weave:///e/p/object/eval:${digest}`, versions)

  test("other versions of the dataset and of scorers are found", () => {
    const [a, b] = [setup("a"), setup("b")]
    if (a === null || b === null) throw new Error("a version is missing")
    expect([hasSameDataset(a, b), hasSameDataset(a, a)]).toEqual([false, true])
    expect([changedScorers(a, b), changedScorers(a, a)]).toEqual([["tone"], []])
  })

  test("is not known of a version that is not there or is no object", () => {
    expect([setup("c"), setup("gone"), setupOf(null, versions)]).toEqual([null, null, null])
  })
})
