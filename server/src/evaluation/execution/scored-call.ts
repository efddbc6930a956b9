/** Applying a scorer to a call: the scorer's call, and feedback on the call that was scored. Done again, it stores the same. */
import type { Principal } from "../../http/principal.ts"
import { parseExact } from "../../json/exact-json.ts"
import { type CallRow, readCallRows } from "../../storage/traces/calls/shown-calls.ts"
import { derivedId } from "../calls/derived-id.ts"
import { recordCalls, usageSummary } from "../calls/recorded-call.ts"
import { runOpRef } from "../evaluation-runs/run-ops.ts"
import { createFeedback } from "../feedback/feedback-create.ts"
import { isMap } from "../objects/object-classes.ts"
import type { ProjectAccess } from "../project-access.ts"
import { refPrefix } from "../refs/refs.ts"
import { failureText } from "./model-failure.ts"
import type { ExecutionDependencies } from "./dependencies.ts"
import { patiently } from "./jobs/patience.ts"
import { type Scorer, score } from "./scorer.ts"
import type { TemplateVariables } from "./template.ts"

export interface ScoringTarget {
  /** The call that is scored. */
  callId: string
  /** JSON texts. */
  inputs: string
  output: string
  /** What the scorer may ask for besides the inputs of the call. */
  more?: TemplateVariables
  /** Where the scorer's call lies; null: it is a root. */
  parent: { id: string; traceId: string } | null
  /** Of the scorer's call: JSON text. */
  attributes: string
}

export interface Scoring {
  /** JSON text; null: the scorer failed. */
  output: string | null
}

/** `jobId`: with the call and the scorer it makes the ids. @throws {HeddleError} what is not the scorer's failure. */
export async function applyScorer(
  dependencies: ExecutionDependencies,
  {
    jobId,
    principal,
    project,
    signal,
  }: { jobId: string; principal: Principal; project: ProjectAccess; signal: AbortSignal },
  scorer: Scorer,
  target: ScoringTarget,
): Promise<Scoring> {
  const id = derivedId(jobId, target.callId, scorer.ref)
  const before = await endedCall(dependencies, project, id)
  const output = before === null ? await scoreAnew() : before.exception == null ? (before.output ?? "null") : null
  if (output === null) return { output }
  const call = `${refPrefix}${project.name}/call/`
  const body = {
    id: derivedId(id, "feedback"),
    project_id: project.name,
    weave_ref: `${call}${target.callId}`,
    feedback_type: `wandb.runnable.${scorer.name}`,
    runnable_ref: scorer.ref,
    call_ref: `${call}${id}`,
    payload: { output: null },
  }
  await createFeedback(dependencies, principal, [{ body, payload: `{"output":${output}}` }])
  return { output }

  async function scoreAnew(): Promise<string | null> {
    const startedAt = new Date()
    const inputs = inputsOf(target)
    const thing = { requestId: id, inputs, output: parseExact(target.output) }
    const result = await patiently(signal, () => score(dependencies, principal, project, scorer, thing, signal)).then(
      (prediction) => ({ ...prediction, exception: null }),
      (error: unknown) => ({ output: null, usage: null, usageModel: "", exception: failureText(error) }),
    )
    // The server stops: the next start does it again.
    signal.throwIfAborted()
    const opName = await runOpRef(dependencies, principal, project, {
      owner: scorer.name,
      method: "score",
      otherwise: "Scorer",
    })
    const place = { traceId: target.parent?.traceId ?? id, parentId: target.parent?.id ?? null }
    const shown = JSON.stringify({ self: scorer.ref, ...inputs })
    await recordCalls(dependencies, principal, project.name, [
      {
        start: {
          id,
          ...place,
          opName,
          startedAt,
          attributes: target.attributes,
          inputs: `${shown.slice(0, -1)},"output":${target.output}}`,
        },
        end: {
          id,
          endedAt: new Date(),
          output: result.output ?? "null",
          summary: usageSummary(result.usageModel, result.usage),
          exception: result.exception,
        },
      },
    ])
    return result.output
  }
}

/** The inputs of the call but for the object whose method it is, and what the caller adds. */
function inputsOf({ inputs, more }: ScoringTarget): TemplateVariables {
  const given = parseExact(inputs)
  const { self: _self, this: _this, ...rest } = isMap(given) ? given : {}
  return { ...rest, ...more }
}

/** null: not there, or it has not ended. */
export async function endedCall(
  { traces }: Pick<ExecutionDependencies, "traces">,
  project: ProjectAccess,
  id: string,
): Promise<CallRow | null> {
  const [row] = await readCallRows(traces, project.id, [id], ["ended_at", "exception", "output"])
  return row?.ended_at == null ? null : row
}
