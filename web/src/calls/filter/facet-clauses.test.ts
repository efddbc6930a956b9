import { expect, test } from "vitest"
import { checkedValues, filterValues, toggledFacet, withoutFacet } from "./facet-clauses.ts"
import { parseFilter, printFilter } from "./filter-text.ts"

test.each([
  ["", "status", "error", "status is error"],
  ["status is error", "status", "ok", "status in error, ok"],
  ["status in error, ok and refund", "status", "error", "status is ok refund"],
  ["status is error and duration > 10s", "status", "error", "duration > 10s"],
  ["op contains refund", "op", "pay", "op contains refund and op is pay"],
  ["model is m", "model", null, "model missing"],
  ["model missing", "model", "m", "model is m"],
  ["model missing", "model", null, ""],
  ["", "model", "4", 'model is "4"'],
  ["", "model", "my, model", 'model is "my, model"'],
] as const)("“%s”, and the box %s %s pressed, is “%s”", (before, field, value, after) => {
  expect(printFilter(toggledFacet(parseFilter(before), field, value))).toBe(after)
})

test("boxes are read from what the filter says, written in any way", () => {
  const clauses = parseFilter("op in a, b and op contains c and user missing")
  expect([...checkedValues(clauses, "op")]).toEqual(["a", "b"])
  expect([...checkedValues(clauses, "user")]).toEqual([null])
  expect([...checkedValues(clauses, "status")]).toEqual([])
  expect(printFilter(withoutFacet(clauses, "op"))).toBe("op contains c and user missing")
})

test("versions of a function are one value, and statuses have the names of the filter", () => {
  const versions = [
    { value: "weave:///e/p/op/pay:abc", count: 2 },
    { value: "refund", count: 4 },
    { value: "weave:///e/p/op/pay:def", count: 3 },
  ]
  expect(filterValues("op", versions)).toEqual([
    { value: "pay", count: 5 },
    { value: "refund", count: 4 },
  ])
  expect(filterValues("status", [{ value: "success", count: 1 }])).toEqual([{ value: "ok", count: 1 }])
})
