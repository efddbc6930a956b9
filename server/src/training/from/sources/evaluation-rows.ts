/** Trials of evaluations: what their model was asked and answered, with the scores of each. */
import { invalid } from "../../../errors.ts"
import type { ProjectAccess } from "../../../access/project-access.ts"
import { retentionDays } from "../../../storage/catalog/accounts/call-retention.ts"
import { printPayloads } from "../../../storage/traces/calls/print-payloads.ts"
import { readCallRows } from "../../../storage/traces/calls/call-row-reads.ts"
import { findModelCalls, readTrialChats, type TrialChat } from "../../../storage/traces/evaluations/trial-chats.ts"
import type { TrainingDependencies } from "../../dependencies.ts"
import type { RowExtra } from "../map-rows-task.ts"
import { extraPlaces, type RowPlan } from "../row-plan.ts"
import type { RowChunk } from "../row-source.ts"
import { fieldText, unpacked, valueAt } from "../shapes/loose.ts"
import { chunksOf } from "./queue-rows.ts"

const trialsAtOnce = 500

export async function* evaluationRows(
  dependencies: Pick<TrainingDependencies, "database" | "traces">,
  project: ProjectAccess,
  plan: RowPlan,
  evaluationIds: readonly string[],
): AsyncGenerator<RowChunk> {
  const { traces } = dependencies
  const roots = await readCallRows(traces, project.id, evaluationIds, [])
  const missing = evaluationIds.find((id) => !roots.some((root) => root.id === id))
  if (missing !== undefined) {
    throw invalid(["body", "source", "evaluation_call_ids"], `there is no evaluation "${missing}" in ${project.name}`)
  }
  const traceIds = [...new Set(roots.map(({ trace_id }) => trace_id))]
  const scope = { projectId: project.id, evaluationIds, traceIds }
  const places = placesOf(plan)
  for (let after = ""; ;) {
    const trials = await readTrialChats(traces, scope, after, trialsAtOnce)
    const last = trials.at(-1)
    if (last === undefined) return
    after = last.id
    const calls = await findModelCalls(
      traces,
      scope,
      trials.map(({ id }) => id),
    )
    yield* chatRows(dependencies, project, plan, trials, calls, places)
    const others = trials.filter(({ id }) => !calls.has(id))
    if (others.length === 0) continue
    yield {
      lines: Buffer.from(others.map((trial) => bareLine(trial, plan)).join("")),
      extras: Object.fromEntries(others.map((trial) => [trial.id, extraOf(trial, places)])),
      wanted: null,
    }
  }
}

async function* chatRows(
  { database, traces }: Pick<TrainingDependencies, "database" | "traces">,
  { id: projectId, name: projectName }: ProjectAccess,
  { fields }: RowPlan,
  trials: readonly TrialChat[],
  calls: ReadonlyMap<string, string>,
  places: ReadonlyMap<string, string[]>,
): AsyncGenerator<RowChunk> {
  if (calls.size === 0) return
  const wanted = [...calls.values()]
  const extras = Object.fromEntries(
    trials.flatMap((trial) => {
      const call = calls.get(trial.id)
      return call === undefined ? [] : [[call, extraOf(trial, places)]]
    }),
  )
  const request = { ids: wanted, fields, filter: {}, query: null, limit: null }
  const kept = await retentionDays(database, projectId)
  const stream = await printPayloads(traces, { projectId, projectName, retentionDays: kept, ...request })
  yield* chunksOf(stream, extras, wanted)
}

/** A trial whose model is no chat: its row was asked, and its output answers. */
function bareLine({ id, exception, has_ended, example, answer }: TrialChat, { fields }: RowPlan): string {
  const texts = [id, exception, has_ended ? "1" : "", ...fields.map(() => null)]
  const inputs = unpacked(example) ?? null
  return `${JSON.stringify([texts, inputs, answer, null])}\n`
}

/** By name, the steps into the scores. */
function placesOf(plan: RowPlan): Map<string, string[]> {
  return new Map(extraPlaces(plan).map(({ at }) => [at, at.split(".")]))
}

function extraOf(
  { row_digest: rowDigest, scores, exception }: TrialChat,
  places: ReadonlyMap<string, string[]>,
): RowExtra {
  const parsed = unpacked(scores)
  const fields = [...places].flatMap(([name, path]) => {
    const text = fieldText(valueAt(parsed, path))
    return text === null ? [] : [[name, text]]
  })
  const drop = exception === null ? null : ({ cause: "failed", detail: exception.slice(0, 200) } as const)
  return {
    fields: Object.fromEntries(fields) as Record<string, string>,
    disputed: [],
    absent: {},
    feedbackIds: [],
    rowDigest,
    drop,
  }
}
