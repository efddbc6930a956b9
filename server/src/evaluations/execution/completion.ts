/** `/completions/create` and its stream: a chat completion that is recorded as a call (evaluation-store-calls 9). */
import { randomUUIDv7 } from "node:crypto"
import { HeddleError, type ValidationIssue } from "../../errors.ts"
import type { RouteContext } from "../../http/route.ts"
import { jsonLine } from "../../json/json-lines.ts"
import { withTextAt } from "../../json/json-members.ts"
import { isJsonObject } from "../../json/parsed-json.ts"
import type { CompletionBody } from "../../wire/evaluations/completion.ts"
import { type ProjectAccess, ensureProject } from "../../access/project-access.ts"
import type { AdmittedChat, ChatAnswer, SentChunk } from "../../gateway/chat-models.ts"
import { ChunkCollector } from "./chunk-collector.ts"
import { completionMessages } from "./completion-prompt.ts"
import type { CompletionDependencies } from "./dependencies.ts"
import { failureKind, failureText } from "../../gateway/providers/model-failure.ts"
import { admitModel } from "./model-target.ts"
import { usageSummary } from "../../calls/write/recorded-call.ts"
import { RecordedCompletion } from "./recorded-completion.ts"
import type { TemplateVariables } from "./template.ts"

const opName = "weave.completions_create"

/** The caller of a completion, and its abort signal. */
export type ExecutionContext = Pick<RouteContext, "principal" | "requestId" | "signal">

interface Completion {
  project: ProjectAccess
  chat: AdmittedChat
  /** The name under which its usage is counted. */
  model: string
  call: CompletionCall
}

/** The body of the answer. @throws {HeddleError} for what is wrong before a model is asked. */
export async function createCompletion(
  dependencies: CompletionDependencies,
  context: ExecutionContext,
  body: CompletionBody,
  exactBody: unknown,
): Promise<string> {
  const { chat, model, call } = await begin(dependencies, context, body, exactBody)
  const result = await outcome(chat, context.signal)
  const response = result.answer === null ? JSON.stringify({ error: result.error }) : result.answer.text
  await call.end(response, usageSummary(model, result.answer?.usage ?? null), result.error)
  return `{"response":${response},"weave_call_id":${JSON.stringify(call.id)},${call.idFields}}`
}

type Outcome = { answer: ChatAnswer; error: null } | { answer: null; error: string }

async function outcome(chat: AdmittedChat, signal: AbortSignal): Promise<Outcome> {
  try {
    return { answer: await chat.complete(signal), error: null }
  } catch (error) {
    return { answer: null, error: failureText(error) }
  }
}

/** JSON Lines, each with its line feed. A failure of the model is a line; the call is ended however the stream ends. */
export async function streamCompletion(
  dependencies: CompletionDependencies,
  context: ExecutionContext,
  body: CompletionBody,
  exactBody: unknown,
): Promise<AsyncGenerator<string>> {
  return lines(await begin(dependencies, context, body, exactBody), context.signal)
}

async function* lines({ chat, model, call }: Completion, signal: AbortSignal): AsyncGenerator<string> {
  const collector = new ChunkCollector()
  let failure: string | null = "the client closed the stream before its end"
  try {
    if (call.id !== null) yield jsonLine(`{"_meta":${call.meta}}`)
    for await (const batch of chat.stream(signal)) {
      for (const { value } of batch) collector.add(value)
      yield batch.map(chunkLine).join("")
    }
    failure = null
  } catch (error) {
    failure = failureText(error)
    yield jsonLine(JSON.stringify({ error: failure, ...failureKind(error) }))
  } finally {
    await chat.release()
    await call.end(collector.completion(model) ?? "null", usageSummary(model, collector.usage), failure)
  }
}

const emptyChoices = '[{"index":0,"delta":{},"finish_reason":null}]'

/** A chunk without choices gets an empty one: the example of weave's client reads `choices[0]` of every chunk. */
function chunkLine({ text, value }: SentChunk): string {
  const choices = isJsonObject(value) ? value["choices"] : null
  return jsonLine(Array.isArray(choices) && choices.length === 0 ? withTextAt(text, ["choices"], emptyChoices) : text)
}

/** Stores the call before the model is asked, and paid: what cannot be recorded is refused. */
async function begin(
  dependencies: CompletionDependencies,
  context: ExecutionContext,
  body: CompletionBody,
  exactBody: unknown,
): Promise<Completion> {
  const completion = await prepare(dependencies, context, body, exactBody)
  try {
    await completion.call.begin()
    return completion
  } catch (error) {
    await completion.chat.release()
    throw error
  }
}

async function prepare(
  dependencies: CompletionDependencies,
  context: ExecutionContext,
  body: CompletionBody,
  exactBody: unknown,
): Promise<Completion> {
  if (body.inference_route != null) throw routeRefused()
  const { database } = dependencies
  const project = await ensureProject(database, context.principal, body.project_id)
  const exact = (exactBody as { inputs: Record<string, unknown> }).inputs
  const messages = await completionMessages(database, context.principal, project, {
    prompt: body.inputs.prompt,
    messages: (exact["messages"] as unknown[] | null | undefined) ?? [],
    variables: (exact["template_vars"] as TemplateVariables | null | undefined) ?? {},
  })
  const { chat, model } = await admitModel(dependencies, context.principal, project, {
    requestId: context.requestId,
    body: { ...modelFields(body.inputs), messages: JSON.parse(JSON.stringify(messages)) as unknown },
    exactBody: { ...modelFields(exact), messages },
  }).catch(underInputs)
  return { project, chat, model, call: new CompletionCall(dependencies, context, project, body, exact) }
}

/** Fields that do not go to the model: the server itself acts on them, or they hold keys of other services. */
const ownFields = [
  "prompt",
  "template_vars",
  "extra_headers",
  "vertex_credentials",
  "api_version",
  "stream",
  "stream_options",
]
/** May hold keys, so they are not stored. */
const secretFields = ["extra_headers", "vertex_credentials"]

function modelFields<T extends object>(inputs: T): T {
  return without(inputs, ownFields)
}

function without<T extends object>(inputs: T, names: readonly string[]): T {
  const kept = Object.entries(inputs).filter(([name, value]) => value !== null && !names.includes(name))
  return Object.fromEntries(kept) as T
}

/** A chat request is checked as a body of its own; here it lies under `inputs`. */
function underInputs(error: unknown): never {
  if (!(error instanceof HeddleError) || error.details.issues === undefined) throw error
  const issues = error.details.issues.map(({ loc, ...rest }): ValidationIssue => ({
    loc: ["body", "inputs", ...loc.slice(1)],
    ...rest,
  }))
  throw new HeddleError(error.code, error.message, { ...error.details, issues })
}

function routeRefused(): HeddleError {
  return new HeddleError(
    "invalid_request",
    "inference_route is not taken from requests: apply a runtime (PUT /v2/{entity}/{project}/runtimes/{name}) and name its model custom::<runtime>::<id>",
  )
}

/** The call that a completion is recorded as; one that is not to be recorded has no id. */
class CompletionCall {
  readonly id: string | null
  readonly #traceId: string | null
  readonly #conversation: string | null
  readonly #recorded: RecordedCompletion | null

  constructor(
    dependencies: CompletionDependencies,
    { principal }: ExecutionContext,
    project: ProjectAccess,
    body: CompletionBody,
    exactInputs: object,
  ) {
    const isTracked = body.track_llm_call !== false
    this.id = isTracked ? randomUUIDv7() : null
    this.#traceId = isTracked ? (body.trace_id ?? randomUUIDv7()) : null
    this.#conversation = body.conversation_id ?? null
    const { source, conversation_name } = body
    const attributes = {
      ...(source == null ? {} : { source }),
      ...(conversation_name == null ? {} : { conversation_name }),
    }
    this.#recorded =
      this.id === null || this.#traceId === null
        ? null
        : new RecordedCompletion(dependencies, principal, project, {
            id: this.id,
            traceId: this.#traceId,
            parentId: body.parent_id ?? null,
            opName,
            threadId: this.#conversation,
            startedAt: new Date(),
            attributes: JSON.stringify(attributes),
            inputs: JSON.stringify(without(exactInputs, secretFields)),
          })
  }

  get meta(): string {
    return JSON.stringify({ weave_call_id: this.id, trace_id: this.#traceId, conversation_id: this.#conversation })
  }

  /** Id fields of the answer. A call is no span, so there is no span id. */
  get idFields(): string {
    const fields = { trace_id: this.#traceId, span_id: null, conversation_id: this.#conversation }
    return JSON.stringify(fields).slice(1, -1)
  }

  async begin(): Promise<void> {
    await this.#recorded?.begin()
  }

  async end(output: string, summary: string, exception: string | null): Promise<void> {
    await this.#recorded?.end({ output, summary, exception })
  }
}
