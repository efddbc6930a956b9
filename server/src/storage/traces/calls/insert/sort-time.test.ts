/** The sort time of an id, here and in SQL, which must agree. */
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import path from "node:path"
import { expect, test } from "vitest"
import { newClickHouseUrl } from "../../../../../test/support/clickhouse-database.ts"
import { connectTraces } from "../../open-traces.ts"
import { holdsSortTimeSql, sortTimeInId, sortTimeInIdSql, sortTimeOfStart } from "./sort-time.ts"

test.each([
  ["019b7d1c-5e48-7000-8000-00000000000a", 1767330569800],
  ["00000000-0001-7fff-bfff-ffffffffffff", 1],
  ["ffffffff-ffff-7000-9000-000000000000", 281474976710655],
  ["019b7d1c-5e48-4000-8000-00000000000a", null],
  ["019B7D1C-5E48-7000-8000-00000000000A", null],
  ["019b7d1c-5e48-7000-0000-00000000000a", null],
  ["b7ad6b7169203331", null],
  ["", null],
])("%s holds %s", async (id, expected) => {
  expect(sortTimeInId(id)).toBe(expected)
  const folder = await mkdtemp(path.join(tmpdir(), "heddle-sort-time-"))
  const traces = await connectTraces({ clickhouseUrl: newClickHouseUrl(), folder })
  try {
    const sql = `select toFloat64(if(${holdsSortTimeSql}, ${sortTimeInIdSql}, -1)) as at from (select {id:String} as id)`
    expect(await traces.rows(sql, { id })).toEqual([{ at: expected ?? -1 }])
  } finally {
    await traces.close()
    await rm(folder, { recursive: true, force: true })
  }
})

test.each([
  ["2026-01-02 03:04:05.123456", 1767323045123],
  ["2026-01-02 03:04:05.123", 1767323045123],
  ["2026-01-02 03:04:05", 1767323045000],
  ["1900-01-01 00:00:00.000001", -2208988800000],
  ["2299-12-31 23:59:59.999999", 10413791999999],
])("a start at %s is at %s", (startedAt, expected) => {
  expect(sortTimeOfStart(startedAt)).toBe(expected)
})
