/**
 * Models that the server can run: objects of the class `LLMStructuredCompletionModel`, which name a
 * model of ours or of a provider and how it is prompted (weave 0.54, `flow/llm_structured_model.py`).
 */
import { HeddleError } from "../../errors.ts"
import type { Principal } from "../../http/principal.ts"
import { isJsonObject } from "../../json/parsed-json.ts"
import type { ProjectAccess } from "../../access/project-access.ts"
import { refPrefix } from "../../objects/refs/refs.ts"
import { ModelFailure } from "../../gateway/providers/model-failure.ts"
import { completionMessages } from "./completion-prompt.ts"
import type { ExecutionDependencies } from "./dependencies.ts"
import { jsonAnswer } from "./json-answer.ts"
import { admitModel } from "./model-target.ts"
import { readPaid } from "./paid-answer.ts"
import { isProviderModelName } from "./providers/provider.ts"
import { type PublishedObject, readPublished } from "./published-object.ts"
import { fillMessage, type TemplateVariables } from "./template.ts"

export const modelClass = "LLMStructuredCompletionModel"

export interface StructuredModel {
  llmModelId: string
  /** Messages of the template, when there is no prompt object. */
  template: readonly unknown[]
  prompt: string | null
  answersJson: boolean
  /** For the model: `temperature` and its like. */
  parameters: Record<string, unknown>
}

export interface Prediction {
  /** JSON text. */
  output: string
  /** The name under which the usage is counted. */
  usageModel: string
  /** JSON text; null: not told. */
  usage: string | null
}

/** @throws {HeddleError} 400 naming the ref when it is code that only its author's machine can run. */
export async function readStructuredModel(
  { database }: Pick<ExecutionDependencies, "database">,
  principal: Principal,
  ref: string,
): Promise<{ object: PublishedObject; model: StructuredModel }> {
  const object = await readPublished(database, principal, ref)
  return { object, model: toStructuredModel(object) }
}

function toStructuredModel({ value, leafClass, kind }: PublishedObject): StructuredModel {
  if (leafClass !== modelClass)
    throw notRunnable("model", kind === "op" ? "an op" : `of the class ${leafClass ?? "none"}`)
  return structuredModel(value)
}

/** `value`: of an object of the class, or as it lies in another object. */
export function structuredModel(value: Record<string, unknown>): StructuredModel {
  const id = value["llm_model_id"]
  if (typeof id !== "string" || id === "") throw new HeddleError("invalid_request", "the model has no llm_model_id")
  const given = isJsonObject(value["default_params"]) ? value["default_params"] : {}
  const { messages_template, prompt, response_format } = given
  const parameters = Object.entries(given).filter(
    ([name, one]) => passed.has(name) && one !== null && !isEmptyList(one),
  )
  return {
    llmModelId: id,
    template: Array.isArray(messages_template) ? messages_template.map(plainMessage) : [],
    prompt: typeof prompt === "string" && prompt !== "" ? prompt : null,
    answersJson: response_format === "json_object" || response_format === "json_schema",
    parameters: Object.fromEntries(parameters),
  }
}

const passed = new Set([
  "temperature",
  "top_p",
  "max_tokens",
  "presence_penalty",
  "frequency_penalty",
  "stop",
  "functions",
])

function isEmptyList(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0
}

/** Without what the SDK adds to every object, and nulls. */
function plainMessage(message: unknown): unknown {
  if (!isJsonObject(message)) return message
  return Object.fromEntries(Object.entries(message).filter(([name, value]) => !name.startsWith("_") && value !== null))
}

export interface PredictionInput {
  requestId: string
  /** Messages after those of the template. */
  messages: readonly unknown[]
  variables: TemplateVariables
}

/**
 * Asks the model once.
 * @throws {HeddleError} {@link ModelFailure} when the model fails; `UnusableAnswer` when its answer is not what was asked
 * for: nothing is made up.
 */
export async function predict(
  dependencies: ExecutionDependencies,
  principal: Principal,
  project: ProjectAccess,
  model: StructuredModel,
  { requestId, messages, variables }: PredictionInput,
  signal: AbortSignal,
): Promise<Prediction> {
  const all = await promptedMessages(dependencies, principal, project, model, { messages, variables })
  const isOutside = isProviderModelName(model.llmModelId)
  const sent = model.answersJson && !isOutside ? askingForJson(all) : all
  // Our own models are held to the format as others are, and are also told of it in words (`askingForJson`).
  const format = model.answersJson ? { response_format: { type: "json_object" } } : {}
  const exactBody = { model: model.llmModelId, ...model.parameters, ...format, messages: sent }
  // The same with plain numbers: those of a published object are exact ones (`parseExact`).
  const body = JSON.parse(JSON.stringify(exactBody)) as typeof exactBody
  const { chat, model: usageModel } = await admitModel(dependencies, principal, project, { requestId, body, exactBody })
  const { content, usage } = await chat.complete(signal)
  return { output: readPaid(usage, () => outputIn(content, model)), usageModel, usage }
}

function outputIn(content: string | null, { answersJson }: StructuredModel): string {
  if (content === null) throw new ModelFailure("the model answered without a text")
  return answersJson ? jsonAnswer(content) : JSON.stringify(content)
}

async function promptedMessages(
  { database }: ExecutionDependencies,
  principal: Principal,
  project: ProjectAccess,
  { prompt, template }: StructuredModel,
  { messages, variables }: Pick<PredictionInput, "messages" | "variables">,
): Promise<unknown[]> {
  if (prompt !== null) return completionMessages(database, principal, project, { prompt, messages, variables })
  const isVaried = Object.keys(variables).length > 0
  return [...template.map((message) => (isVaried ? fillMessage(message, variables) : message)), ...messages]
}

const jsonOnly = "\n\nAnswer with one JSON object and nothing else."

/** At the end of the last message: not every chat template takes a system message there. */
export function askingForJson(messages: readonly unknown[]): unknown[] {
  const last = messages.at(-1)
  if (!isJsonObject(last) || typeof last["content"] !== "string")
    return [...messages, { role: "user", content: jsonOnly.trim() }]
  return [...messages.slice(0, -1), { ...last, content: last["content"] + jsonOnly }]
}

export function notRunnable(what: "model" | "scorer" | "action", found: string): HeddleError {
  const runs = { model: modelClass, scorer: "LLMAsAJudgeScorer", action: "ActionSpec" }[what]
  const message =
    `the ${what} is ${found}: this server runs no code that was sent to it, only objects of the class ${runs}. ` +
    `Run it where its code is, with the SDK (weave.Evaluation(…).evaluate, call.apply_scorer)`
  return new HeddleError("invalid_request", message)
}

/** Names the ref at fault in front of what is wrong with it. */
export async function naming<T>(ref: string, read: () => Promise<T>): Promise<T> {
  try {
    return await read()
  } catch (error) {
    if (!(error instanceof HeddleError) || error.status === 403 || error.message.includes(ref)) throw error
    const label = ref.startsWith(refPrefix) ? ref : JSON.stringify(ref)
    throw new HeddleError(error.code, `${label}: ${error.message}`, { ...error.details, cause: error })
  }
}
