import { expect, test } from "vitest"
import { clickHouseFailure } from "./clickhouse-failure.ts"

test.each([
  ["243", "Cannot reserve 1.00 MiB, not enough space. (NOT_ENOUGH_SPACE)"],
  ["75", "Cannot write to file: /var/lib/clickhouse/tmp, errno: 28, strerror: No space left on device."],
])("a ClickHouse server whose disk is full, code %s: 507 and the way out", (code, message) => {
  const failure = clickHouseFailure(Object.assign(new Error(message), { code }))
  expect(failure).toMatchObject({
    status: 507,
    message: "the server's disk is full; nothing was stored. Make room on it, then send this again",
  })
})
