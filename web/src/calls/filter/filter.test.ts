import { expect, test } from "vitest"
import { selectionOf } from "./filter-query.ts"
import { suggestionsFor } from "./filter-suggestions.ts"
import { FilterError, parseFilter, printFilter } from "./filter-text.ts"

test.each([
  ["", ""],
  ["op is handle_ticket and feedback.tone < 3 refund", "op is handle_ticket and feedback.tone < 3 refund"],
  ['status=error duration>=1.5s "no refund"', 'status is error and duration >= 1.5s "no refund"'],
  ["op in a, b,c and name is not x", "op in a, b, c and name is not x"],
  ['inputs.code is "3" and output exists', 'inputs.code is "3" and output exists'],
  [String.raw`"say \"yes\"" inputs.a contains "is"`, String.raw`"say \"yes\"" and inputs.a contains "is"`],
  // Words after what is no field are words, also "is".
  ["where is my money", 'where "is" my money'],
  ["constructor toString", "constructor toString"],
  ["feedback missing and error contains Timeout", "feedback missing and error contains Timeout"],
])("%s is read, and written as %s", (text, written) => {
  expect(printFilter(parseFilter(text))).toBe(written)
  expect(printFilter(parseFilter(written))).toBe(written)
})

test.each([
  ["tone < 3", "tone <", "“tone” is no field. A text that holds signs goes between quotes."],
  ["feedback.tone <", "feedback.tone <", "A value is missing after “<”."],
  ["duration > 10", "duration > 10", "A duration has a unit: 500ms, 10s, 2m, 1h."],
  ["status is fine", "status is fine", "A status is one of ok, error, running, descendant_error."],
  ["status is constructor", "status is constructor", "A status is one of ok, error, running, descendant_error."],
  ["status > error", "status > error", "“status” takes is, is not, in."],
  ["a or b", "or", "Clauses are joined by “and” alone; several values of one field are “op in a, b”."],
  ['name is "open', '"open', "A quote is not closed."],
  ["started > yesterday", "started > yesterday", "A time is written 2026-11-20 or 2026-11-20T14:30."],
  ["< 3", "<", "A field must stand before it, as in “duration > 10s”."],
])("%s is refused at %s", (text, place, message) => {
  const failure = (() => {
    try {
      return parseFilter(text)
    } catch (error) {
      return error
    }
  })()
  expect(failure).toBeInstanceOf(FilterError)
  expect([(failure as FilterError).place, (failure as FilterError).message]).toEqual([place, message])
})

const expression = (text: string) => {
  const { filter, query } = selectionOf(parseFilter(text), { projectId: "e/p", rootsOnly: true })
  return { filter, query: JSON.stringify(query) }
}

test("an operation is asked for by its name and as any version of the traced function", () => {
  expect(expression("op is a")).toEqual({
    filter: { trace_roots_only: true, op_names: ["a", "weave:///e/p/op/a:*"] },
    query: undefined,
  })
})

test.each([
  ["status is ok", '{"$eq":[{"$getField":"summary.weave.status"},{"$literal":"success"}]}'],
  ["duration > 1.5s", '{"$gt":[{"$getField":"summary.weave.latency_ms"},{"$literal":1500}]}'],
  ["tokens >= 5000", '{"$gte":[{"$getField":"summary.weave.tokens"},{"$literal":5000}]}'],
  ["inputs.n is 12345678901234567890", '{"$eq":[{"$getField":"inputs.n"},{"$literal":12345678901234567890}]}'],
  ['inputs.n is "3"', '{"$eq":[{"$getField":"inputs.n"},{"$literal":"3"}]}'],
  ["inputs.ok is true", '{"$eq":[{"$getField":"inputs.ok"},{"$literal":true}]}'],
  ["error missing", '{"$eq":[{"$getField":"exception"},{"$literal":null}]}'],
  ["feedback exists", '{"$not":[{"$eq":[{"$getField":"feedback.[*].id"},{"$literal":null}]}]}'],
])("%s asks %s", (text, operand) => expect(expression(text).query).toBe(`{"$expr":{"$and":[${operand}]}}`))

test("words are looked for as JSON writes them, plain and with escapes", () => {
  const { query } = expression('"é\\"x"')
  expect(query).toContain(JSON.stringify('é\\"x'))
  expect(query).toContain(JSON.stringify('\\u00e9\\"x'))
  expect(query).toContain('"$getField":"output"')
  // An error is no JSON.
  expect(query?.split('"$getField":"exception"')).toHaveLength(2)
})

test("a range is part of what is asked", () => {
  const { query } = selectionOf([], { projectId: "e/p", rootsOnly: false, from: 10, to: 20 })
  expect(JSON.stringify(query)).toBe(
    '{"$expr":{"$and":[{"$gte":[{"$getField":"started_at"},{"$literal":10}]},{"$lte":[{"$getField":"started_at"},{"$literal":20}]}]}}',
  )
})

const known = {
  ops: ["answer", "ask"],
  paths: ["inputs.ticket.id", "output.idle"],
  feedback: ["tone"],
  values: { model: ["gpt-4.1-mini", "returns agent"], op: ["ask", "refund"] },
}

test.each([
  ["st", ["status", "started"]],
  ["status ", ["status is", "status is not", "status in"]],
  ["status is e", ["error"]],
  ["op is a", ["answer", "ask"]],
  ["inputs.t", ["inputs.ticket.id"]],
  ["feedback.", ["feedback.tone"]],
  ["inp", ["inputs.…", "inputs.ticket.id"]],
  ["i", ["inputs.…", "inputs.ticket.id"]],
  ["id", ["inputs.ticket.id", "output.idle"]],
  ["tone", ["feedback.tone"]],
  ["model is ", ["gpt-4.1-mini", "returns agent"]],
  ["model is AGENT", ["returns agent"]],
  ["op is ", ["answer", "ask", "refund"]],
  ["two words", []],
])("after %j comes %j", (draft, labels) => {
  expect(suggestionsFor(draft, known).map(({ label }) => label)).toEqual(labels)
})

test("a suggested value that holds a space is taken between quotes", () => {
  expect(suggestionsFor("model is ret", known).map(({ text }) => text)).toEqual(['model is "returns agent"'])
})
