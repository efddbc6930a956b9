/** The trace store of a test: embedded, or a database of its own on the server of `HEDDLE_TEST_CLICKHOUSE_URL`. */
import { randomUUID } from "node:crypto"

/** Address of a new database, which is made when it is opened; null for the embedded store. */
export function newClickHouseUrl(): string | null {
  const server = process.env["HEDDLE_TEST_CLICKHOUSE_URL"]
  return server === undefined ? null : new URL(`/heddle_test_${randomUUID().replaceAll("-", "")}`, server).href
}
