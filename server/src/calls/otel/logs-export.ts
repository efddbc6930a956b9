/** Stores the evaluation results among the log records of an export request as feedback. */
import { formatRef } from "../../objects/refs/refs.ts"
import { HeddleError } from "../../errors.ts"
import type { Principal } from "../../http/principal.ts"
import { findFeedback } from "../../storage/traces/labelling/feedback-rows.ts"
import { derivedId } from "../write/derived-id.ts"
import type { CallDependencies } from "../dependencies.ts"
import { createFeedback } from "../../labelling/feedback/feedback-create.ts"
import type { NewFeedback } from "../../labelling/feedback/feedback-task.ts"
import { runPayloadTask } from "../../objects/payload/run-payload-task.ts"
import type { EvaluationResult } from "./evaluation-event.ts"
import { scorerName, scorerRef } from "./event-scorers.ts"
import type { Export } from "./export-handler.ts"
import { logsTask } from "./logs-task.ts"
import type { Outcome, SpanOwner } from "./otlp/otlp-input.ts"

/** Limit on the scorers of one request; each is looked up, and published if new. */
const mostScorers = 1000

/**
 * Stores all valid records at once; the outcome lists the others.
 * @throws {HeddleError} when nothing could be stored for a reason that the client can mend; 503.
 */
export async function exportLogs(
  dependencies: CallDependencies,
  { principal, input, options }: Export,
): Promise<Outcome> {
  const { owned, outcome } = await runPayloadTask(dependencies, principal, logsTask, input, options)
  const items: NewFeedback[] = []
  for (const { owner, results } of owned) items.push(...(await feedbackOf(dependencies, principal, owner, results)))
  await createFeedback(dependencies, principal, items)
  return outcome
}

async function feedbackOf(
  dependencies: CallDependencies,
  principal: Principal,
  project: SpanOwner,
  results: readonly EvaluationResult[],
): Promise<NewFeedback[]> {
  const ids = results.map((one) => feedbackId(one, project))
  // A retry may come when its scorer has a newer version, and is the same score nevertheless.
  const stored = new Set((await findFeedback(dependencies.traces, project.id, ids)).map(({ id }) => id))
  const added = results.filter((_, index) => !stored.has(ids[index] as string))
  const names = new Set(added.map((one) => scorerName(one.name)))
  if (names.size > mostScorers) throw tooManyScorers(names.size)
  const refs = new Map<string, string>()
  for (const name of names) refs.set(name, await scorerRef(dependencies, principal, project, name))
  return added.map((result) => {
    const name = scorerName(result.name)
    return newFeedback(result, project, name, refs.get(name) as string)
  })
}

/** As scorers of the SDK give it (evaluation-store-objects 2.3, `wandb.runnable.<name>`). */
function newFeedback(result: EvaluationResult, project: SpanOwner, name: string, ref: string): NewFeedback {
  const { spanId, score, explanation, payload } = result
  const fields = {
    project_id: project.name,
    id: feedbackId(result, project),
    weave_ref: formatRef(project.name, "call", spanId),
    feedback_type: `wandb.runnable.${name}`,
    runnable_ref: ref,
    scorer_ratings: score === null ? {} : { [name]: score },
    scorer_rating_reasons: explanation === null ? {} : { [name]: explanation },
  }
  return { fields, payload }
}

/** The same for the same event of the same user: a retry is no second score. */
function feedbackId({ name, spanId, payload }: EvaluationResult, { id, userId }: SpanOwner): string {
  return derivedId(id, userId, name, spanId, payload)
}

function tooManyScorers(count: number): HeddleError {
  const message = `the evaluation results have ${count} different names; those of one request may have ${mostScorers}`
  return new HeddleError("payload_too_large", message)
}
