/** From the body of a request to the table of a dataset, as a task that may run on another thread. */
import { z } from "zod"
import { tableDigest } from "../../json/digests.ts"
import { tableLines } from "../../storage/traces/table-rows.ts"
import { threadTask } from "../../threads/thread-task.ts"
import { datasetCreateBody } from "../../wire/objects/object-families.ts"
import { checkObjectId } from "../object-classes.ts"
import { ensureProjectId, type PayloadLookup } from "../payload/payload-lookups.ts"
import { RefNames } from "../refs/ref-names.ts"
import { bodyText, readText } from "../requests/request-text.ts"
import { RowTexts } from "../tables/row-texts.ts"
import { rowsOwnThreadBytes, type TableInput, type TableResult } from "../tables/table-tasks.ts"
import { objectIdOf } from "./family.ts"

/** A row is its index among the rows of the request. */
const datasetText = datasetCreateBody.extend({ rows: z.array(z.number()) })

export interface DatasetResult extends Omit<TableResult, "answer"> {
  name: string | null
  description: string | null
  /** Digest of the table. */
  digest: string
}

/** @throws {HeddleError} 400, 403, 413, 422. */
export const datasetTask = threadTask<TableInput & { projectName: string }, DatasetResult, PayloadLookup, unknown>({
  name: "dataset",
  ownThreadBytes: rowsOwnThreadBytes,
  *run({ bytes, projectName, mostRows, mostProjects }) {
    const text = bodyText(bytes)
    const rows = new RowTexts(mostRows)
    const { name = null, description = null } = readText(datasetText, text, {
      "rows.*": (cursor) => rows.take(cursor, ["body", "rows", rows.count]),
    })
    checkObjectId(datasetIdOf(name))
    const projectId = yield* ensureProjectId(projectName)
    const { lines: rowLines, digests } = yield* rows.stored(text, projectId, new RefNames(mostProjects))
    const digest = tableDigest(digests)
    return { projectId, rowLines, lines: tableLines(projectId, digest, digests), name, description, digest }
  },
})

/** The object's name of a dataset that a person called so. */
export function datasetIdOf(name: string | null | undefined): string {
  return name == null ? "Dataset" : objectIdOf(name)
}
