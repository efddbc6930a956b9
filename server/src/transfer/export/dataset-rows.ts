/** The rows of a version of a dataset, with their digests. */
import type { ProjectAccess } from "../../access/project-access.ts"
import type { StoreDependencies } from "../../objects/dependencies.ts"
import { tableTexts } from "../../objects/tables/table-read.ts"
import { tableOf } from "./export-dataset.ts"

export interface DatasetRow {
  digest: string
  /** JSON text. */
  text: string
}

/** In order, some at a time. `digest` null: the latest version. @throws {HeddleError} `not_found`, `invalid_request`. */
export async function* datasetRows(
  { database, traces }: StoreDependencies,
  project: ProjectAccess,
  { objectId, digest: version }: { objectId: string; digest: string | null },
): AsyncGenerator<DatasetRow[]> {
  const table = await tableOf(database, project, { object_id: objectId, digest: version })
  // A digest has no blank.
  for await (const rows of await tableTexts(traces, project, table, ({ digest }, text) => `${digest} ${text}`)) {
    yield rows.map((row) => {
      const end = row.indexOf(" ")
      return { digest: row.slice(0, end), text: row.slice(end + 1) }
    })
  }
}
