import { expect, test } from "vitest"
import { parseFilter } from "../../../../calls/filter/filter-text.ts"
import { costRows, costsOverTime, costTotals, filterOfModel } from "./cost-rows.ts"

const bucket = (hour: number, model: string, [count, input, cached, output, cost, unpriced]: number[]) => ({
  timestamp: `2026-03-01T0${hour}:00:00+00:00`,
  model,
  sum_input_tokens: input ?? null,
  sum_cache_read_input_tokens: cached ?? null,
  sum_output_tokens: output ?? null,
  sum_total_cost: cost ?? null,
  sum_unpriced_calls: unpriced ?? null,
  count: count ?? 0,
})
const buckets = [
  bucket(0, "dear", [1, 10, 4, 5, 3, 0]),
  bucket(0, "free", [9, 900, 0, 90, 0, 9]),
  bucket(0, "cheap", [2, 20, 0, 2, 1, 1]),
  bucket(1, "dear", [1, 1, 0, 1, 4, 0]),
  bucket(1, "free", [0, 0, 0, 0, 0, 0]),
  bucket(1, "cheap", [0, 0, 0, 0, 0, 0]),
]

test("rows are summed over all buckets, the dearest first, with their share of the cost", () => {
  expect(costRows(buckets, "model")).toEqual([
    { name: "dear", calls: 2, input: 11, cached: 4, output: 6, cost: 7, unpriced: 0, share: 0.875 },
    { name: "cheap", calls: 2, input: 20, cached: 0, output: 2, cost: 1, unpriced: 1, share: 0.125 },
    { name: "free", calls: 9, input: 900, cached: 0, output: 90, cost: 0, unpriced: 9, share: 0 },
  ])
  expect(costTotals(buckets)).toEqual({ calls: 13, input: 931, cached: 4, output: 98, cost: 8, unpriced: 10 })
})

test("over time, of some together", () => {
  const x = [Date.parse("2026-03-01T00:00Z"), Date.parse("2026-03-01T01:00Z")]
  expect(costsOverTime(buckets, "model", ["dear", "cheap"])).toEqual({ x, y: [4, 4] })
})

test("the filter of a model is understood, also with dots in its name; a name that it cannot hold has none", () => {
  const filter = filterOfModel("gpt-4.1")
  expect(filter).toBe(String.raw`summary.usage.gpt-4\.1 exists`)
  expect(parseFilter(filter ?? "")).toEqual([
    { field: String.raw`summary.usage.gpt-4\.1`, operator: "exists", values: [] },
  ])
  expect([filterOfModel("two words"), filterOfModel('a"b')]).toEqual([null, null])
})
