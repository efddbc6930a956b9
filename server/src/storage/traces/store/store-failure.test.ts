import { expect, test } from "vitest"
import { storeFailure } from "./store-failure.ts"
import { TraceStoreError } from "./trace-store.ts"

test.each([
  [159, "query_timeout", 504],
  [160, "query_timeout", 504],
  [241, "query_memory", 502],
  [396, "query_memory", 502],
  [167, "bad_query", 400],
  [168, "bad_query", 400],
  [306, "bad_query", 400],
  [25, "value_error", 400],
])("calls 1.3: ClickHouse's %i is %s, %i", (number, code, status) => {
  expect(storeFailure("why", number, null)).toMatchObject({ name: "HeddleError", code, status })
})

test.each([62, null])("calls 1.3: of %j nobody but the server is to blame", (number) => {
  expect(storeFailure("why", number, null)).toBeInstanceOf(TraceStoreError)
})

test.each([
  [243, "Cannot reserve 1.00 MiB, not enough space"],
  [null, "write failed: No space left on device"],
  [null, "ENOSPC: no space left on device, write"],
])("of %j and %j the disk is full", (number, message) => {
  expect(storeFailure(message, number, null)).toMatchObject({ code: "insufficient_storage" })
})
