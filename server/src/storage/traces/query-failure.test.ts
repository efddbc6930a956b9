import { expect, test } from "vitest"
import { queryFailure } from "./query-failure.ts"
import { TraceStoreError } from "./store/trace-store.ts"

test("calls 1.3: a limit that a query reached is 504 or 502, anything else stays what it was", () => {
  const failure = (code: number | null) => queryFailure(new TraceStoreError("why", code, null))
  expect(failure(159)).toMatchObject({ code: "query_timeout", status: 504 })
  expect(failure(160)).toMatchObject({ code: "query_timeout", status: 504 })
  expect(failure(241)).toMatchObject({ code: "query_memory", status: 502 })
  expect(failure(62)).toBeInstanceOf(TraceStoreError)
  const other = new Error("other")
  expect(queryFailure(other)).toBe(other)
})
