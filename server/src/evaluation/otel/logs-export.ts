/** Stores the evaluation results among the log records of an export request as feedback. */
import type { Principal } from "../../http/principal.ts"
import { findFeedback } from "../../storage/traces/feedback/feedback-rows.ts"
import { derivedId } from "../calls/derived-id.ts"
import type { EvaluationDependencies } from "../dependencies.ts"
import { checkPayloadSize, createFeedback, type NewFeedback } from "../feedback/feedback-create.ts"
import type { ProjectAccess } from "../project-access.ts"
import { type EvaluationResult, evaluationResult } from "./evaluation-event.ts"
import { scorerName, scorerRef } from "./event-scorers.ts"
import type { ResourceItems } from "./export-request.ts"
import type { LogRecord } from "./log-record.ts"
import { ExportOutcome } from "./otlp-answer.ts"
import type { ResourceProjects } from "./resource-project.ts"

const otherRecords = "only events gen_ai.evaluation.result are stored; send other log records elsewhere"

/**
 * What can be stored is stored at once; the outcome tells what cannot.
 * @throws {HeddleError} when nothing could be stored for a reason that the client can mend; 503.
 */
export async function exportLogs(
  dependencies: EvaluationDependencies,
  principal: Principal,
  projects: ResourceProjects,
  all: readonly ResourceItems<LogRecord>[],
): Promise<ExportOutcome> {
  const outcome = new ExportOutcome()
  const items: NewFeedback[] = []
  for (const { resource, scopes } of all) {
    const records = scopes.flatMap((one) => one.items)
    const results = resultsOf(records, outcome)
    const project = results.length === 0 ? null : await outcome.needed(results.length, () => projects.of(resource))
    if (project === null) continue
    items.push(...(await feedbackOf(dependencies, principal, project, results)))
    outcome.accept(results.length)
  }
  outcome.assertAnyAccepted()
  await createFeedback(dependencies, principal, items)
  return outcome
}

function resultsOf(records: readonly LogRecord[], outcome: ExportOutcome): EvaluationResult[] {
  const results: EvaluationResult[] = []
  for (const record of records) {
    try {
      const result = evaluationResult(record)
      if (result === null) outcome.ignore(otherRecords)
      else {
        checkPayloadSize(result.payload)
        results.push(result)
      }
    } catch (error) {
      outcome.reject(error)
    }
  }
  return results
}

async function feedbackOf(
  dependencies: EvaluationDependencies,
  principal: Principal,
  project: ProjectAccess,
  results: readonly EvaluationResult[],
): Promise<NewFeedback[]> {
  const ids = results.map((one) => feedbackId(one, project))
  // A retry may come when its scorer has a newer version, and is the same score nevertheless.
  const stored = new Set((await findFeedback(dependencies.traces, project.id, ids)).map(({ id }) => id))
  const added = results.filter((_, index) => !stored.has(ids[index] as string))
  const names = new Set(added.map((one) => scorerName(one.name)))
  const refs = new Map<string, string>()
  for (const name of names) refs.set(name, await scorerRef(dependencies, principal, project, name))
  return added.map((result) => {
    const name = scorerName(result.name)
    return newFeedback(result, project, name, refs.get(name) as string)
  })
}

/** As scorers of the SDK give it (evaluation-store-objects 2.3, `wandb.runnable.<name>`). */
function newFeedback(result: EvaluationResult, project: ProjectAccess, name: string, ref: string): NewFeedback {
  const { spanId, score, explanation, payload } = result
  const body = {
    project_id: project.name,
    id: feedbackId(result, project),
    weave_ref: `weave:///${project.name}/call/${spanId}`,
    feedback_type: `wandb.runnable.${name}`,
    payload: JSON.parse(payload) as Record<string, unknown>,
    runnable_ref: ref,
    scorer_ratings: score === null ? {} : { [name]: score },
    scorer_rating_reasons: explanation === null ? {} : { [name]: explanation },
  }
  return { body, payload }
}

/** The same for the same event of the same user: a retry is no second score. */
function feedbackId({ name, spanId, payload }: EvaluationResult, { id, userId }: ProjectAccess): string {
  return derivedId(id, userId, name, spanId, payload)
}
