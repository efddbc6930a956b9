/** Reading tables: evaluation-store-calls 6.2. */
import type { z } from "zod"
import { HeddleError } from "../../errors.ts"
import type { Principal } from "../../http/principal.ts"
import { type PlacedDigest, selectRows, type TableSelection } from "../../storage/traces/table-order.ts"
import { tableDigests } from "../../storage/traces/table-digests.ts"
import { readTablePage } from "../../storage/traces/table-pages.ts"
import { mostNamed } from "../../storage/traces/query/named-at-once.ts"
import { rangeTexts, rowPieces, type RowTexts, tableCounts, tableSizes } from "../../storage/traces/table-rows.ts"
import type {
  tableQueryBody,
  tableStats,
  tableStatsBatch,
  tableStatsBatchBody,
  tableStatsBody,
} from "../../wire/objects/table.ts"
import type { StoreDependencies } from "../dependencies.ts"
import { checkRange } from "../requests/list-range.ts"
import { type ProjectAccess, existingProject } from "../../access/project-access.ts"
import { tableNotFound } from "./table-tasks.ts"

/** Target size and row limit of one read, so that most batches are read in one piece. */
const batchBytes = 8 * 1024 * 1024
const firstBatchRows = 256
const mostBatchRows = 65_536
/** A request for more takes several batches, and is none of a client that turns pages. */
const mostPageRows = firstBatchRows

/** JSON texts of rows, in batches. An unknown table has none. */
export async function queryTable(
  { database, traces }: StoreDependencies,
  principal: Principal,
  body: z.output<typeof tableQueryBody>,
): Promise<AsyncGenerator<string[]>> {
  const range = checkRange(body)
  for (const { field } of body.sort_by ?? []) checkSortField(field)
  const project = await existingProject(database, principal, body.project_id)
  const rowDigests = body.filter?.row_digests?.length ? body.filter.row_digests : null
  const sortBy = body.sort_by ?? []
  const selection = { tableDigest: body.digest, rowDigests, sortBy }
  const readRows = (range.limit ?? Infinity) <= mostPageRows ? pageInOrder : rowsInOrder
  const source: RowSource =
    rowDigests === null && sortBy.length === 0
      ? (at) => readRows(traces, project, body.digest, at)
      : (at) => selectedRows(traces, project, selection, at)
  return rowBatches(source, range, printRow)
}

/** The rows of a whole table as they are stored, in batches. @throws {HeddleError} `not_found` */
export async function tableTexts(
  traces: Traces,
  project: ProjectAccess,
  digest: string,
  print: PrintRow = (_, text) => text,
): Promise<AsyncGenerator<string[]>> {
  if (!(await tableCounts(traces, project.id, [digest])).has(digest)) throw tableNotFound(digest)
  return rowBatches((at) => rowsInOrder(traces, project, digest, at), { limit: null, offset: 0 }, print)
}

type PrintRow = (place: PlacedDigest, text: string) => string

const printRow: PrintRow = ({ digest, position }, text) =>
  `{"digest":${JSON.stringify(digest)},"val":${text},"original_index":${position}}`

function checkSortField(field: string): void {
  if (field.trim() !== "" && !/^\.|\.\.|(?<!\\)\.$/.test(field)) return
  throw new HeddleError("invalid_request", `Invalid sort field "${field}": name a path into the rows such as a.b`)
}

type Traces = StoreDependencies["traces"]

interface Part {
  limit: number
  offset: number
}

/** Rows in their order, and the texts of those that are stored. */
interface Rows {
  placed: readonly PlacedDigest[]
  texts: RowTexts
}

/** A part of what is asked for: fewer rows than its limit are the last ones. */
type RowSource = (part: Part) => AsyncGenerator<Rows>

async function* pageInOrder(
  traces: Traces,
  project: ProjectAccess,
  tableDigest: string,
  part: Part,
): AsyncGenerator<Rows> {
  const { limit, offset } = part
  const page = await readTablePage(traces, { projectId: project.id, tableDigest, from: offset, to: offset + limit })
  if (page === null) yield* rowsInOrder(traces, project, tableDigest, part)
  else yield { placed: placedFrom(offset, page.digests), texts: page.texts }
}

async function* rowsInOrder(
  traces: Traces,
  project: ProjectAccess,
  tableDigest: string,
  { limit, offset }: Part,
): AsyncGenerator<Rows> {
  const range = { from: offset, to: offset + limit }
  const digests = (await tableDigests(traces, project.id, tableDigest, range)) ?? []
  const placed = placedFrom(offset, digests)
  const texts = digests.length > mostNamed ? await rangeTexts(traces, project.id, tableDigest, range) : null
  if (texts === null) yield* rowsOf(traces, project, placed)
  else yield { placed, texts }
}

async function* selectedRows(
  traces: Traces,
  project: ProjectAccess,
  selection: TableSelection,
  part: Part,
): AsyncGenerator<Rows> {
  yield* rowsOf(traces, project, await selectRows(traces, project.id, selection, part))
}

async function* rowsOf(traces: Traces, project: ProjectAccess, placed: readonly PlacedDigest[]): AsyncGenerator<Rows> {
  let read = 0
  const wanted = placed.map(({ digest }) => digest)
  for await (const { digests, texts } of rowPieces(traces, project.id, wanted)) {
    yield { placed: placed.slice(read, read + digests.length), texts }
    read += digests.length
  }
}

function placedFrom(offset: number, digests: readonly string[]): PlacedDigest[] {
  return digests.map((digest, index) => ({ digest, position: offset + index }))
}

/** Rows are of very different sizes: each batch tells how many the next one may hold. */
async function* rowBatches(
  source: RowSource,
  range: { limit: number | null; offset: number },
  print: PrintRow,
): AsyncGenerator<string[]> {
  let { offset } = range
  let left = range.limit ?? Infinity
  let count = firstBatchRows
  while (left > 0) {
    const limit = Math.min(left, count)
    let found = 0
    let bytes = 1
    for await (const { placed, texts } of source({ limit, offset })) {
      const rows = placed.flatMap((place) => {
        const text = texts.get(place.digest)
        return text === undefined ? [] : [print(place, text)]
      })
      found += placed.length
      bytes += rows.reduce((sum, row) => sum + row.length, 0)
      yield rows
    }
    if (found < limit) return
    offset += limit
    left -= limit
    count = Math.max(1, Math.min(mostBatchRows, Math.floor((batchBytes / bytes) * limit)))
  }
}

export async function readTableStats(
  { database, traces }: StoreDependencies,
  principal: Principal,
  { project_id, digest }: z.output<typeof tableStatsBody>,
): Promise<z.output<typeof tableStats>> {
  const project = await existingProject(database, principal, project_id)
  const count = (await tableCounts(traces, project.id, [digest])).get(digest)
  if (count === undefined) throw tableNotFound(digest)
  return { count }
}

/** Tables that are not there are left out. */
export async function readTableStatsBatch(
  { database, traces }: StoreDependencies,
  principal: Principal,
  { project_id, digests, include_storage_size }: z.output<typeof tableStatsBatchBody>,
): Promise<z.output<typeof tableStatsBatch>> {
  const project = await existingProject(database, principal, project_id)
  const wanted = [...new Set(digests ?? [])]
  const counts = await tableCounts(traces, project.id, wanted)
  const sizes = include_storage_size === true ? await tableSizes(traces, project.id, [...counts.keys()]) : null
  const tables = wanted.flatMap((digest) => {
    const count = counts.get(digest)
    return count === undefined
      ? []
      : [{ digest, count, storage_size_bytes: sizes === null ? null : (sizes.get(digest) ?? 0) }]
  })
  return { tables }
}
