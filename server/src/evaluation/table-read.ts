/** Reading tables: evaluation-store-calls 6.2. */
import type { z } from "zod"
import { HeddleError } from "../errors.ts"
import type { Principal } from "../http/principal.ts"
import { type PlacedDigest, selectRows } from "../storage/traces/table-order.ts"
import { queryFailure } from "../storage/traces/query-failure.ts"
import { rowTexts, tableCounts, tableDigests, tableSizes } from "../storage/traces/table-rows.ts"
import type {
  tableQueryBody,
  tableStats,
  tableStatsBatch,
  tableStatsBatchBody,
  tableStatsBody,
} from "../wire/evaluation/table.ts"
import type { EvaluationDependencies } from "./dependencies.ts"
import { checkRange } from "./list-range.ts"
import { type ProjectAccess, projectForRead } from "./project-access.ts"
import { tableNotFound } from "./table-write.ts"

/** Digests that are looked up at once, and what the rows read at once should weigh. */
const windowRows = 16_384
const batchBytes = 4 * 1024 * 1024
const firstBatchRows = 64
const mostBatchRows = 2048

/** JSON texts of rows, in batches. An unknown table has none. */
export async function queryTable(
  { database, traces }: EvaluationDependencies,
  principal: Principal,
  body: z.output<typeof tableQueryBody>,
): Promise<AsyncGenerator<string[]>> {
  const range = checkRange(body)
  for (const { field } of body.sort_by ?? []) checkSortField(field)
  const project = await projectForRead(database, principal, body.project_id)
  return rowBatches(traces, project, placedDigests(traces, project, body, range))
}

function checkSortField(field: string): void {
  if (field.trim() !== "" && !/^\.|\.\.|(?<!\\)\.$/.test(field)) return
  throw new HeddleError("invalid_request", `Invalid sort field "${field}": name a path into the rows such as a.b`)
}

/** What is read, in its order, window by window. */
async function* placedDigests(
  traces: EvaluationDependencies["traces"],
  project: ProjectAccess,
  { digest, filter, sort_by }: z.output<typeof tableQueryBody>,
  range: { limit: number | null; offset: number },
): AsyncGenerator<PlacedDigest[]> {
  const rowDigests = filter?.row_digests?.length ? filter.row_digests : null
  const selection = { tableDigest: digest, rowDigests, sortBy: sort_by ?? [] }
  const inOrder = rowDigests === null && selection.sortBy.length === 0
  let { offset } = range
  let left = range.limit ?? Infinity
  while (left > 0) {
    const limit = Math.min(left, windowRows)
    const placed = inOrder
      ? await digestsInOrder(traces, project, digest, { offset, limit })
      : await selectRows(traces, project.id, selection, { limit, offset }).catch((error: unknown) => {
          throw queryFailure(error)
        })
    yield placed
    if (placed.length < limit) return
    offset += limit
    left -= limit
  }
}

async function digestsInOrder(
  traces: EvaluationDependencies["traces"],
  project: ProjectAccess,
  digest: string,
  { offset, limit }: { offset: number; limit: number },
): Promise<PlacedDigest[]> {
  const digests = await tableDigests(traces, project.id, digest, { from: offset, to: offset + limit })
  return (digests ?? []).map((rowDigest, index) => ({ digest: rowDigest, position: offset + index }))
}

/** Rows of very different sizes: the last batch tells how many the next one may hold. */
async function* rowBatches(
  traces: EvaluationDependencies["traces"],
  project: ProjectAccess,
  windows: AsyncIterable<PlacedDigest[]>,
): AsyncGenerator<string[]> {
  let count = firstBatchRows
  for await (const placed of windows) {
    for (let from = 0; from < placed.length;) {
      const batch = placed.slice(from, from + count)
      from += count
      const texts = await rowTexts(
        traces,
        project.id,
        batch.map((row) => row.digest),
      )
      const rows = batch.flatMap(({ digest, position }) => {
        const text = texts.get(digest)
        return text === undefined
          ? []
          : [`{"digest":${JSON.stringify(digest)},"val":${text},"original_index":${position}}`]
      })
      yield rows
      const bytes = rows.reduce((sum, row) => sum + row.length, 1)
      count = Math.max(1, Math.min(mostBatchRows, Math.floor((batchBytes / bytes) * batch.length)))
    }
  }
}

export async function readTableStats(
  { database, traces }: EvaluationDependencies,
  principal: Principal,
  { project_id, digest }: z.output<typeof tableStatsBody>,
): Promise<z.output<typeof tableStats>> {
  const project = await projectForRead(database, principal, project_id)
  const count = (await tableCounts(traces, project.id, [digest])).get(digest)
  if (count === undefined) throw tableNotFound(digest)
  return { count }
}

/** Tables that are not there are left out. */
export async function readTableStatsBatch(
  { database, traces }: EvaluationDependencies,
  principal: Principal,
  { project_id, digests, include_storage_size }: z.output<typeof tableStatsBatchBody>,
): Promise<z.output<typeof tableStatsBatch>> {
  const project = await projectForRead(database, principal, project_id)
  const asked = [...new Set(digests ?? [])]
  const counts = await tableCounts(traces, project.id, asked)
  const sizes = include_storage_size === true ? await tableSizes(traces, project.id, [...counts.keys()]) : null
  const tables = asked.flatMap((digest) => {
    const count = counts.get(digest)
    return count === undefined
      ? []
      : [{ digest, count, storage_size_bytes: sizes === null ? null : (sizes.get(digest) ?? 0) }]
  })
  return { tables }
}
