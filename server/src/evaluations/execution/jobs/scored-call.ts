/** Applies a scorer to a call: records the scorer's own call, and stores its output as feedback. Repeating it stores the same. */
import { parseExact } from "../../../json/exact-json.ts"
import { isJsonObject } from "../../../json/parsed-json.ts"
import { type CallRow, readCallRows } from "../../../storage/traces/calls/call-row-reads.ts"
import { derivedId } from "../../../calls/write/derived-id.ts"
import { recordCalls, usageSummary } from "../../../calls/write/recorded-call.ts"
import { createFeedback } from "../../../labelling/feedback/feedback-create.ts"
import { checkPayloadSize } from "../../../labelling/feedback/payload-size.ts"
import type { ProjectAccess } from "../../../access/project-access.ts"
import { formatRef } from "../../../objects/refs/refs.ts"
import type { ExecutionDependencies } from "../dependencies.ts"
import { failureText } from "../../../gateway/providers/model-failure.ts"
import { type Scorer, score } from "../scorer.ts"
import type { TemplateVariables } from "../template.ts"
import type { JobContext } from "./job-runner.ts"
import { jobOpRef } from "./op-refs.ts"
import { retryTransient } from "./retry-transient.ts"

export interface ScoringTarget {
  /** The call that is scored. */
  callId: string
  /** JSON texts. */
  inputs: string
  output: string
  /** Parent of the scorer's call, or null for a root. */
  parent: { id: string; traceId: string } | null
  /** Attributes of the scorer's call, as JSON text. */
  attributes: string
}

/** The scorer's output as JSON text, or null if it failed. @throws {HeddleError} for a failure that is not the scorer's. */
export async function applyScorer(
  dependencies: ExecutionDependencies,
  context: JobContext,
  scorer: Scorer,
  target: ScoringTarget,
): Promise<string | null> {
  const { jobId, principal, project } = context
  const id = derivedId(jobId, target.callId, scorer.ref)
  const before = await endedCall(dependencies, project, id)
  const output = before === null ? await scoreAnew(dependencies, context, scorer, target, id) : outputOf(before)
  if (output === null) return null
  const fields = {
    id: derivedId(id, "feedback"),
    project_id: project.name,
    weave_ref: formatRef(project.name, "call", target.callId),
    feedback_type: `wandb.runnable.${scorer.name}`,
    runnable_ref: scorer.ref,
    call_ref: formatRef(project.name, "call", id),
  }
  await createFeedback(dependencies, principal, [{ fields, payload: payloadOf(output) }])
  return output
}

const payloadOf = (output: string) => `{"output":${output}}`

async function scoreAnew(
  dependencies: ExecutionDependencies,
  context: JobContext,
  scorer: Scorer,
  target: ScoringTarget,
  id: string,
): Promise<string | null> {
  const { principal, project, signal } = context
  const startedAt = new Date()
  const inputs = inputsOf(target)
  const thing = { requestId: id, inputs, output: parseExact(target.output) }
  const ask = async () => {
    const prediction = await score(dependencies, principal, project, scorer, thing, signal)
    checkPayloadSize(payloadOf(prediction.output))
    return prediction
  }
  const result = await retryTransient(context, ask).then(
    (prediction) => ({ ...prediction, exception: null }),
    (error: unknown) => ({ output: null, usage: null, usageModel: "", exception: failureText(error) }),
  )
  // When the server stops, the next start scores the call again.
  signal.throwIfAborted()
  const recordedInputs = JSON.stringify({ self: scorer.ref, ...inputs })
  const start = {
    id,
    traceId: target.parent?.traceId ?? id,
    parentId: target.parent?.id ?? null,
    opName: await jobOpRef(dependencies, context, { owner: scorer.name, method: "score", otherwise: "Scorer" }),
    startedAt,
    attributes: target.attributes,
    inputs: `${recordedInputs.slice(0, -1)},"output":${target.output}}`,
  }
  const summary = usageSummary(result.usageModel, result.usage)
  const end = { id, endedAt: new Date(), output: result.output ?? "null", summary, exception: result.exception }
  await recordCalls(dependencies, principal, project.name, [{ start, end }])
  return result.output
}

/** The call's inputs, without `self` and `this`, and without one named `output`: the scorer gets the call's output under that name. */
function inputsOf({ inputs }: ScoringTarget): TemplateVariables {
  const given = parseExact(inputs)
  const { self: _self, this: _this, output: _output, ...rest } = isJsonObject(given) ? given : {}
  return rest
}

/** null: there is no such call, or it has not ended. */
export async function endedCall(
  { traces }: Pick<ExecutionDependencies, "traces">,
  project: ProjectAccess,
  id: string,
): Promise<CallRow | null> {
  const [row] = await readCallRows(traces, project.id, [id], ["ended_at", "exception", "output"])
  return row?.ended_at == null ? null : row
}

/** JSON text; null: the call failed. */
export function outputOf({ exception, output }: CallRow): string | null {
  return exception == null ? (output ?? "null") : null
}
