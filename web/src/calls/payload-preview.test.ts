import { expect, test } from "vitest"
import type { JsonText } from "../json/json-text.ts"
import { callName, callStatus } from "./call-names.ts"
import { payloadPreview } from "./payload-preview.ts"

test.each([
  ['{"question": "How many?"}', "How many?"],
  ['{"order_id": "NL-1", "amount": 119.0}', '{"order_id": "NL-1", "amount": 119.0}'],
  [
    '{"model": "m", "messages": [{"role": "system", "content": "be brief"}, {"role": "user", "content": "4+5="}]}',
    "4+5=",
  ],
  ['{"choices": [{"message": {"role": "assistant", "content": "9"}}]}', "9"],
  ['{"messages": [{"role": "user", "content": [{"type": "text", "text": "a\\nb"}]}]}', "a b"],
  ["12345678901234567890", "12345678901234567890"],
  ['"plain"', "plain"],
  ["null", ""],
  ["{}", ""],
  ["[]", ""],
  ['{"content": null, "text": "x"}', "x"],
  ['{"content": [{"type": "text", "text": {"value": "x"}}]}', "x"],
  ['{"text": {"format": {"type": "text"}}, "output": [{"content": [{"type": "output_text", "text": "9"}]}]}', "9"],
  ['{"self": {"baseURL": "x"}, "arg0": {"model": "m", "messages": [{"role": "user", "content": "4+5="}]}}', "4+5="],
  ['{"self": {"baseURL": "x"}, "x": 1.0, "y": [2]}', '{"x": 1.0, "y": [2]}'],
  ['{"self": "weave:///local/demo/object/M:a1"}', "weave:///local/demo/object/M:a1"],
  [
    '{"content": [{"type": "text", "text": ""}, {"type": "text_delta", "text": "so "}, {"type": "text_delta", "text": "9"}]}',
    "so 9",
  ],
  ['[{"type": "text_delta"}]', "text_delta"],
])("%s is shown as %j", (payload, text) => expect(payloadPreview(payload as JsonText)).toBe(text))

test("a long one is cut", () => expect(payloadPreview(JSON.stringify("ab ".repeat(500)) as JsonText)).toHaveLength(301))

test.each([
  ["weave:///local/demo/op/answer:a1b2", null, "answer"],
  ["chat.completions", null, "chat.completions"],
  ["weave:///local/demo/op/answer:a1b2", "Ask", "Ask"],
])("%s with the name %j is %s", (op_name, display_name, name) => expect(callName({ op_name, display_name })).toBe(name))

test.each([
  [{ exception: "boom", ended_at: null }, "error"],
  [{ exception: null, ended_at: null }, "running"],
  [{ exception: null, ended_at: "2026-11-22T14:31:58Z" }, "ok"],
] as const)("%j: %s", (call, status) => expect(callStatus(call)).toBe(status))
