/** Rows of a version of a dataset. */
import type { ProjectAccess } from "../../../access/project-access.ts"
import type { TrainingSource } from "../../../wire/training/train-from.ts"
import type { AreaSources, RowChunk } from "../row-source.ts"

type DatasetSource = Extract<TrainingSource, { kind: "dataset" }>

export async function* datasetRows(
  rowsOf: AreaSources["datasetRows"],
  project: ProjectAccess,
  { object_id: objectId, digest }: DatasetSource,
): AsyncGenerator<RowChunk> {
  for await (const rows of rowsOf(project, { objectId, digest: digest ?? null })) {
    const lines = rows.map((row) => `[[${JSON.stringify(row.digest)},null,"1"],${inLine(row.text)},null,null]\n`)
    yield { lines: Buffer.from(lines.join("")), extras: null, wanted: null }
  }
}

/** Line breaks in valid JSON stand only between tokens. */
const inLine = (json: string) => json.replaceAll(/[\r\n]/g, " ")
