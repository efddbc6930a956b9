import { expect, test } from "vitest"
import { exceptionLine } from "./call-names.ts"
import { linesOnTheWay, tracebackText } from "./exception-traceback.ts"

const frame = { filename: "agent.py", line_number: 14, function_name: "agent", text: "search(question)" }
const ofWeave = JSON.stringify({ type: "ValueError", message: "no such order", traceback: [frame] })

test.each([
  [ofWeave, "ValueError: no such order"],
  ['{"message": "no such order"}', "no such order"],
  ['{"code": 503}', '{"code": 503}'],
  ["null", "null"],
  ["Timeout: no answer within 8,000 ms", "Timeout: no answer within 8,000 ms"],
  [
    'Traceback (most recent call last):\n  File "agent.py", line 14\nValueError: no such order\n',
    "ValueError: no such order",
  ],
])("%s says what happened", (exception, line) => {
  expect(exceptionLine(exception)).toBe(line)
})

test("a traceback of the Weave SDK reads as Python prints it", () => {
  expect(tracebackText(ofWeave)).toBe(
    ['  File "agent.py", line 14, in agent', "    search(question)", "ValueError: no such order"].join("\n"),
  )
  expect(tracebackText("Timeout")).toBe("Timeout")
  expect(tracebackText('{"type": "ValueError", "message": "late", "traceback": "gone"}')).toBe("ValueError: late")
  expect(tracebackText('{"message": "late", "traceback": [null, 3]}')).toMatch(/\nlate$/)
})

test("the lines on the way to an exception are counted without those of its message", () => {
  const two = { type: "ValidationError", message: "1 error for Order\nid is missing" }
  expect(linesOnTheWay(JSON.stringify({ ...two, traceback: [frame] }))).toBe(2)
  expect(linesOnTheWay(JSON.stringify(two))).toBe(0)
  expect(linesOnTheWay("Traceback:\n  in agent\nValueError: late\n")).toBe(2)
  expect(linesOnTheWay("Timeout")).toBe(0)
})
