/**
 * `/actions/execute_batch`: an ActionSpec over calls, its result as feedback on each (weave 0.52.41,
 * `actions_worker/`). What cannot be told is feedback with `error`, and an output of null.
 */
import { randomUUIDv7 } from "node:crypto"
import { HeddleError } from "../../../errors.ts"
import type { Principal } from "../../../http/principal.ts"
import { memberText } from "../../../json/json-members.ts"
import { isJsonObject } from "../../../json/parsed-json.ts"
import { pythonJson } from "../../../json/python-json.ts"
import { type CallRow, readCallRows } from "../../../storage/traces/calls/call-row-reads.ts"
import { findFeedback } from "../../../storage/traces/labelling/feedback-rows.ts"
import type { RunActionBody } from "../../../wire/evaluations/execution.ts"
import { derivedId } from "../../../calls/write/derived-id.ts"
import { createFeedback } from "../../../labelling/feedback/feedback-create.ts"
import { checkPayloadSize } from "../../../labelling/feedback/payload-size.ts"
import { findValueFault } from "../../../objects/schemas/user-schemas.ts"
import { existingProject, requireRoom } from "../../../access/project-access.ts"
import { formatRef } from "../../../objects/refs/refs.ts"
import { failureText, ModelFailure } from "../../../gateway/providers/model-failure.ts"
import type { ExecutionDependencies } from "../dependencies.ts"
import { readPublished } from "../published-object.ts"
import { naming, notRunnable, predict } from "../structured-model.ts"
import type { JobContext, JobKind, JobRunner } from "./job-runner.ts"
import { forEachParallel } from "./parallel.ts"
import { retryTransient } from "./retry-transient.ts"
import { requireCalls } from "./score-calls.ts"

interface RunActionRequest {
  callIds: string[]
  actionRef: string
}

type Action =
  | { type: "contains_words"; words: string[] }
  | { type: "llm_judge"; model: string; prompt: string; schema: Record<string, unknown> }

const callsAtOnce = 64
/** Below the 30 s after which the clients give up; the rest of a longer batch is done all the same. */
const longestWaitMs = 20_000

/** @throws {HeddleError} 400, 403, 404: nothing was stored. */
export async function runAction(
  dependencies: ExecutionDependencies,
  jobs: JobRunner,
  principal: Principal,
  body: RunActionBody,
): Promise<void> {
  const project = await existingProject(dependencies.database, principal, body.project_id)
  const { pinnedRef } = await readAction(dependencies, principal, body.action_ref)
  const callIds = [...new Set(body.call_ids)]
  await requireCalls(dependencies, project, callIds)
  if (callIds.length === 0) return
  const id = randomUUIDv7()
  const request: RunActionRequest = { callIds, actionRef: pinnedRef }
  const ended = jobs.ended(id, longestWaitMs)
  await jobs.add("run_action", id, principal, project, request)
  await ended
}

function readAction({ database }: ExecutionDependencies, principal: Principal, ref: string) {
  return naming(ref, async () => {
    const object = await readPublished(database, principal, ref)
    if (object.leafClass !== "ActionSpec") {
      throw notRunnable("action", object.kind === "op" ? "an op" : `of the class ${object.leafClass ?? "none"}`)
    }
    return { pinnedRef: object.ref, name: object.name, action: toAction(object.value["config"]) }
  })
}

function toAction(config: unknown): Action {
  const { action_type, target_words, model, prompt, response_schema } = isJsonObject(config) ? config : {}
  if (
    action_type === "contains_words" &&
    Array.isArray(target_words) &&
    target_words.every((word) => typeof word === "string")
  ) {
    return { type: "contains_words", words: target_words }
  }
  if (
    action_type === "llm_judge" &&
    typeof model === "string" &&
    typeof prompt === "string" &&
    isJsonObject(response_schema)
  ) {
    return { type: "llm_judge", model, prompt, schema: response_schema }
  }
  throw new HeddleError(
    "invalid_request",
    `the action's config is neither contains_words nor llm_judge: ${JSON.stringify(config)?.slice(0, 200)}`,
  )
}

export function runActionJob(dependencies: ExecutionDependencies): JobKind {
  return {
    run: async (context) => {
      const { callIds, actionRef } = JSON.parse(context.request) as RunActionRequest
      const { principal, project, jobId, signal } = context
      const { action, name } = await readAction(dependencies, principal, actionRef)
      for (let from = 0; from < callIds.length; from += callsAtOnce) {
        const some = callIds.slice(from, from + callsAtOnce)
        const ids = some.map((id) => derivedId(jobId, id))
        const done = new Set((await findFeedback(dependencies.traces, project.id, ids)).map(({ id }) => id))
        const rows = await readCallRows(dependencies.traces, project.id, some, ["inputs", "output"])
        const left = rows.filter(({ id }) => !done.has(derivedId(jobId, id)))
        await forEachParallel(left, signal, async (row) => {
          await requireRoom(dependencies.database, project)
          const payload = await payloadOf(dependencies, context, action, row)
          signal.throwIfAborted()
          const fields = {
            id: derivedId(jobId, row.id),
            project_id: project.name,
            weave_ref: formatRef(project.name, "call", row.id),
            feedback_type: `wandb.runnable.${name}`,
            runnable_ref: actionRef,
          }
          await createFeedback(dependencies, principal, [{ fields, payload }])
        })
      }
    },
  }
}

async function payloadOf(
  dependencies: ExecutionDependencies,
  context: JobContext,
  action: Action,
  row: CallRow,
): Promise<string> {
  if (action.type === "contains_words") {
    const text = pythonJson(row.output ?? "null", { sortKeys: false })
    return JSON.stringify({ output: action.words.some((word) => text.includes(word)) })
  }
  try {
    const payload = `{"output":${await judge(dependencies, context, action, row)}}`
    checkPayloadSize(payload)
    return payload
  } catch (error) {
    return JSON.stringify({ output: null, error: failureText(error) })
  }
}

/** In place of a schema that is not of an object, an object with one member of it. */
const onlyMember = "response"

async function judge(
  dependencies: ExecutionDependencies,
  context: JobContext,
  { model, prompt, schema }: Extract<Action, { type: "llm_judge" }>,
  row: CallRow,
): Promise<string> {
  const { principal, project, signal, jobId } = context
  const isObject = schema["type"] === "object"
  const whole = isObject
    ? schema
    : { type: "object", properties: { [onlyMember]: schema }, required: [onlyMember], additionalProperties: false }
  const question = `{"inputs": ${row.inputs ?? "{}"}, "output": ${row.output ?? "null"}}`
  const structured = { llmModelId: model, template: [], prompt: null, answersJson: true, parameters: {} }
  const messages = [
    { role: "system", content: `${prompt}\n\nThe answer must satisfy this JSON Schema: ${JSON.stringify(whole)}` },
    { role: "user", content: question },
  ]
  const request = { requestId: derivedId(jobId, row.id), messages, variables: {} }
  const ask = () => predict(dependencies, principal, project, structured, request, signal)
  const { output } = await retryTransient(context, ask)
  const response = { schema: JSON.stringify(whole), name: "the schema of the action's response_schema" }
  const fault = await findValueFault(dependencies, response, [output])
  if (fault !== null)
    throw new ModelFailure(
      `the model's answer does not satisfy the schema: it ${fault.message}: ${output.slice(0, 200)}`,
    )
  return isObject ? output : (memberText(output, onlyMember) ?? "null")
}
