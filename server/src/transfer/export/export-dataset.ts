/** The rows of a dataset as a file. */
import { Readable } from "node:stream"
import { HeddleError } from "../../errors.ts"
import { jsonLine } from "../../json/json-lines.ts"
import { membersOf } from "../../json/json-members.ts"
import type { ExportDatasetBody } from "../../wire/transfer/export.ts"
import type { CallDependencies } from "../../calls/dependencies.ts"
import { keepScope } from "../../work/work-scope.ts"
import { liveVersion } from "../../objects/object-read.ts"
import type { ProjectAccess } from "../../access/project-access.ts"
import { tryParseRef } from "../../objects/refs/refs.ts"
import { tableTexts } from "../../objects/tables/table-read.ts"
import { csvLine, jsonCell } from "./dataset-cells.ts"
import { type DatasetColumns, datasetColumns } from "./dataset-columns.ts"
import { datasetParquet } from "./dataset-parquet.ts"
import { rowSlices } from "./row-slices.ts"

export async function exportDataset(
  { database, traces, blobs, threads, limits }: CallDependencies,
  project: ProjectAccess,
  body: ExportDatasetBody,
): Promise<Readable> {
  const digest = body.table_digest ?? (await tableOf(database, project, body))
  const rows = () => tableTexts(traces, project, digest)
  if (body.format === "jsonl") return readable(lines(await rows()))
  const columns = await datasetColumns(rowSlices(await rows()), limits.import_columns)
  if (body.format === "parquet") return datasetParquet(threads, columns, await rows(), blobs.temporaryPath())
  return readable(csv(columns, rowSlices(await rows(), columns.size), body.spreadsheet_safe === true))
}

function readable(pieces: AsyncGenerator<string>): Readable {
  return Readable.from(keepScope(pieces), { objectMode: false })
}

/** The digest of a dataset's table. */
export async function tableOf(
  database: CallDependencies["database"],
  project: ProjectAccess,
  { object_id, digest }: Pick<ExportDatasetBody, "object_id" | "digest">,
): Promise<string> {
  if (object_id == null)
    throw new HeddleError("invalid_request", "name a dataset by object_id, or a table by table_digest")
  const name = { objectId: object_id, version: digest ?? "latest", preferred: "object" } as const
  const { val } = await liveVersion(database, project.id, name, true)
  const rows = val === null ? undefined : (JSON.parse(val) as { rows?: unknown } | null)?.rows
  const ref = typeof rows === "string" ? tryParseRef(rows) : null
  if (ref?.kind !== "table" || ref.project !== project.name) {
    throw new HeddleError(
      "invalid_request",
      `${object_id}:${name.version} is not a dataset with a table in ${project.name}`,
    )
  }
  return ref.name
}

async function* lines(batches: AsyncIterable<readonly string[]>): AsyncGenerator<string> {
  for await (const rows of batches) yield rows.map(jsonLine).join("")
}

async function* csv(
  columns: DatasetColumns,
  batches: AsyncIterable<readonly string[]>,
  spreadsheetSafe: boolean,
): AsyncGenerator<string> {
  const names = [...columns.keys()]
  if (names.length > 0) yield csvLine(names, spreadsheetSafe)
  for await (const rows of batches) {
    yield rows.map((row) => csvLine(cellsOf(row, names), spreadsheetSafe)).join("")
  }
}

function cellsOf(row: string, names: readonly string[]): (string | null)[] {
  const members = new Map(membersOf(row))
  return names.map((name) => {
    const json = members.get(name)
    return json === undefined ? null : jsonCell(json)
  })
}
