/** `/import/…`: files of calls and feedback, as `/export/…` makes them or anybody else. */
import { z } from "zod"
import type { Principal } from "../../http/principal.ts"
import { type Route, route } from "../../http/route.ts"
import { importDatasetQuery, importDatasetReport, importQuery, importReport } from "../../wire/transfer/import.ts"
import type { CallDependencies } from "../../calls/dependencies.ts"
import { datasetIdOf } from "../../objects/families/dataset-task.ts"
import { checkObjectId } from "../../objects/object-classes.ts"
import { ensureProject } from "../../access/project-access.ts"
import { importCalls } from "./import-calls.ts"
import { importDataset } from "./import-dataset.ts"
import { importFeedback } from "./import-feedback.ts"
import type { ImportTarget } from "./import-target.ts"

const partBytes = 512 * 1024
/** Small parts for feedback: it comes back as values, which costs time on the main thread. */
const feedbackPartBytes = 128 * 1024

const shared = {
  method: "POST",
  dialect: "reason",
  tag: "Export",
  streamsBody: true,
  bodyDocument: z.file(),
  bodyType: "application/octet-stream",
  schemas: { query: importQuery },
  response: importReport,
} as const

export function importRoutes(dependencies: CallDependencies): Route[] {
  const { threads, blobs, limits } = dependencies
  const temporaryPath = () => blobs.temporaryPath()
  const reading = { threads, temporaryPath, mostColumns: limits.import_columns, partBytes }
  return [
    route({
      ...shared,
      path: "/import/calls",
      access: { right: "write", of: "project query.project_id", ingest: true },
      summary: "Store the calls of a file of JSON Lines, CSV or Parquet",
      handle: async ({ query, principal, request, held }) => {
        const target = await targetOf(dependencies, principal, query)
        const body = { ...reading, request, held, format: query.format }
        return (await importCalls(dependencies, target, body)).answer()
      },
    }),
    route({
      ...shared,
      path: "/import/feedback",
      access: { right: "write", of: "project query.project_id", ingest: true },
      summary: "Store the feedback of a file of JSON Lines, CSV or Parquet",
      handle: async ({ query, principal, request, held }) => {
        const target = await targetOf(dependencies, principal, query)
        const body = { ...reading, request, held, format: query.format, partBytes: feedbackPartBytes }
        return (await importFeedback(dependencies, principal, target, body)).answer()
      },
    }),
    route({
      ...shared,
      path: "/import/dataset",
      access: { right: "write", of: "project query.project_id", ingest: true },
      summary: "Store the rows of a file of JSON Lines, CSV or Parquet as a table, and as a dataset when it has a name",
      schemas: { query: importDatasetQuery },
      response: importDatasetReport,
      handle: async ({ query, principal, request, held }) => {
        checkObjectId(datasetIdOf(query.name))
        const target = await targetOf(dependencies, principal, query)
        const body = { ...reading, request, held, format: query.format }
        return importDataset(dependencies, principal, target, query, body)
      },
    }),
  ]
}

/** Only an administrator may say that somebody else wrote something. */
async function targetOf(
  { database }: CallDependencies,
  principal: Principal,
  { project_id, moved_from }: z.output<typeof importQuery>,
): Promise<ImportTarget> {
  const project = await ensureProject(database, principal, project_id)
  return { project, movedFrom: moved_from ?? null, keepUsers: principal.isAdmin }
}
