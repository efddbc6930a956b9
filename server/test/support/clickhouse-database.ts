/** Where a test keeps its traces: embedded, or in a database of its own on the server of `HEDDLE_TEST_CLICKHOUSE_URL`. */
import { randomUUID } from "node:crypto"

/** null: embedded. The database is made when it is opened. */
export function newClickHouseUrl(): string | null {
  const server = process.env["HEDDLE_TEST_CLICKHOUSE_URL"]
  return server === undefined ? null : new URL(`/heddle_test_${randomUUID().replaceAll("-", "")}`, server).href
}
