/** Rows of a table that are chosen by digest, or come in another order than the table's: evaluation-store-calls 6.2. */
import type { SortBy } from "../../wire/queries/query.ts"
import { jsonValue } from "./query/json-value.ts"
import { compileOrder } from "./query/query-order.ts"
import { SqlParameters } from "./query/sql-parameters.ts"
import { splitPath } from "./query/sql-value.ts"
import { chunkRows, isThere } from "./table-rows.ts"
import type { TraceStore } from "./store/trace-store.ts"

export interface PlacedDigest {
  digest: string
  /** In the table, from 0. */
  position: number
}

export interface TableSelection {
  tableDigest: string
  /** null: every row. */
  rowDigests: readonly string[] | null
  /** Dotted paths into the rows; empty: the table's own order. */
  sortBy: readonly SortBy[]
}

/** Rows that are not stored, which only `create_from_digests` can name, are left out when sorting. */
export async function selectRows(
  traces: TraceStore,
  projectId: string,
  { tableDigest, rowDigests, sortBy }: TableSelection,
  { limit, offset }: { limit: number; offset: number },
): Promise<PlacedDigest[]> {
  const parameters = new SqlParameters()
  const project = `project_id = ${parameters.bind(projectId, "UUID")}`
  const chosen = rowDigests === null ? "" : `where row_digest in ${parameters.bind(rowDigests, "Array(String)")}`
  const table = `${project} and digest = ${parameters.bind(tableDigest, "String")}`
  const members = `select row_digest, chunk * ${chunkRows} + place - 1 as position
    from (
      select chunk, row_digests from tables
      where ${table} and ${isThere(table)} limit 1 by chunk
    ) array join row_digests as row_digest, arrayEnumerate(row_digests) as place ${chosen}`
  const order = compileOrder(sortBy, (path) => jsonValue("stored.val", splitPath(path), parameters))
  const page = `limit ${parameters.bind(limit, "UInt64")} offset ${parameters.bind(offset, "UInt64")}`
  const sql =
    sortBy.length === 0
      ? `select row_digest as digest, position from (${members}) order by position ${page}`
      : // The rows stream through; only positions and sort keys are held.
        `select member.row_digest as digest, member.position as position
          from table_rows as stored final inner join (${members}) as member on member.row_digest = stored.digest
          where stored.${project} order by ${[...order, "member.position"].join(", ")} ${page}`
  const rows = await traces.rows<{ digest: string; position: string }>(sql, parameters.values)
  return rows.map((row) => ({ digest: row.digest, position: Number(row.position) }))
}
