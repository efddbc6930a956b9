import type { UsagePage } from "@heddle/server/wire/inference/usage.ts"
import { expect, test } from "vitest"
import { tokensOverTime, usageRows, usageTotals } from "./usage-rows.ts"

const result = (model: string, [requests, input, cached, output]: [number, number, number, number]) => ({
  object: "organization.usage.completions.result" as const,
  num_model_requests: requests,
  input_tokens: input,
  input_cached_tokens: cached,
  output_tokens: output,
  project_id: null,
  user_id: null,
  api_key_id: null,
  model,
})
const page: UsagePage = {
  object: "page",
  data: [
    { object: "bucket", start_time: 0, end_time: 60, results: [result("a", [1, 10, 4, 5])] },
    { object: "bucket", start_time: 60, end_time: 120, results: [] },
    {
      object: "bucket",
      start_time: 120,
      end_time: 180,
      results: [result("a", [2, 20, 0, 5]), result("b", [1, 100, 50, 20])],
    },
  ],
  has_more: false,
  next_page: null,
}

test("rows are summed over all buckets, the most tokens first, with their share", () => {
  expect(usageRows(page, "model")).toEqual([
    { name: "b", requests: 1, input: 100, cached: 50, output: 20, share: 0.75 },
    { name: "a", requests: 3, input: 30, cached: 4, output: 10, share: 0.25 },
  ])
})

test("totals are those of all rows; a bucket without requests counts as none", () => {
  expect(usageTotals(page)).toEqual({ requests: 4, input: 130, cached: 54, output: 30 })
  expect(tokensOverTime(page)).toEqual({ x: [0, 60_000, 120_000], y: [15, 0, 145] })
})
