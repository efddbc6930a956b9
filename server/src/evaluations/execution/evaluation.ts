/** Evaluations that the server can run: their dataset is published, their scorers are LLM judges. */
import { HeddleError } from "../../errors.ts"
import type { Principal } from "../../http/principal.ts"
import { tableDigests } from "../../storage/traces/table-digests.ts"
import type { ProjectAccess } from "../../access/project-access.ts"
import { tryParseRef } from "../../objects/refs/refs.ts"
import type { ExecutionDependencies } from "./dependencies.ts"
import { type PublishedObject, readPublished } from "./published-object.ts"
import { readScorers, type Scorer } from "./scorer.ts"
import { naming } from "./structured-model.ts"

export interface Evaluation {
  pinnedRef: string
  dataset: DatasetRows
  scorers: readonly Scorer[]
  trials: number
}

export interface DatasetRows {
  /** Pinned. */
  ref: string
  project: ProjectAccess
  tableDigest: string
  rowDigests: readonly string[]
}

const mostTrials = 100_000

/** @throws {HeddleError} 400, 403, 404 that names the ref at fault. */
export function readEvaluation(
  dependencies: ExecutionDependencies,
  principal: Principal,
  ref: string,
): Promise<Evaluation> {
  return naming(ref, async () => {
    const object = await readPublished(dependencies.database, principal, ref)
    if (object.baseClass !== "Evaluation") {
      throw new HeddleError(
        "invalid_request",
        `it is ${object.leafClass ?? "an object without a class"}, not an Evaluation`,
      )
    }
    if (typeof object.value["preprocess_model_input"] === "string") {
      throw new HeddleError("invalid_request", "it has preprocess_model_input, which is code: evaluate it with the SDK")
    }
    const { dataset, scorers } = object.value
    const rows = await datasetRows(dependencies, principal, dataset)
    const count = trialCount(object)
    if (count === null || count * rows.rowDigests.length > mostTrials) {
      throw new HeddleError(
        "invalid_request",
        `${rows.rowDigests.length} rows and ${JSON.stringify(object.value["trials"])} trials are not 1 to ${mostTrials} predictions`,
      )
    }
    return {
      pinnedRef: object.ref,
      dataset: rows,
      scorers: await scorersOf(dependencies, principal, scorers),
      trials: count,
    }
  })
}

/** How often each row is predicted; null: what the evaluation has there is no such number. */
export function trialCount({ value }: PublishedObject): number | null {
  const trials = value["trials"] ?? 1
  const count = Number(JSON.isRawJSON(trials) ? trials.rawJSON : trials)
  return Number.isInteger(count) && count > 0 ? count : null
}

async function scorersOf(
  dependencies: ExecutionDependencies,
  principal: Principal,
  scorers: unknown,
): Promise<Scorer[]> {
  const refs: unknown[] = Array.isArray(scorers) ? scorers : []
  if (refs.every((ref) => typeof ref === "string")) return readScorers(dependencies, principal, refs)
  throw new HeddleError("invalid_request", "a scorer of the evaluation is no ref of a published object")
}

async function datasetRows(
  dependencies: ExecutionDependencies,
  principal: Principal,
  dataset: unknown,
): Promise<DatasetRows> {
  if (typeof dataset !== "string")
    throw new HeddleError("invalid_request", "its dataset is no ref of a published object")
  const object = await naming(dataset, () => readPublished(dependencies.database, principal, dataset))
  const table = tableOf(object)
  const rowDigests = await tableDigests(dependencies.traces, object.project.id, table)
  if (rowDigests === null)
    throw new HeddleError("not_found", `the table ${table} of the dataset ${dataset} is not there`)
  return { ref: object.ref, project: object.project, tableDigest: table, rowDigests }
}

function tableOf({ value, project, name }: PublishedObject): string {
  const { rows } = value
  const ref = typeof rows === "string" ? tryParseRef(rows) : null
  if (ref?.kind === "table" && ref.project === project.name) return ref.name
  throw new HeddleError("invalid_request", `the dataset "${name}" has no rows that name a table of its project`)
}

/** As the SDK names the row that a prediction was made for. */
export function rowRef({ ref }: DatasetRows, digest: string): string {
  return `${ref}/attr/rows/id/${digest}`
}
