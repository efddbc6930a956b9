/** `POST /v1/completions`: text or token ids in, several prompts at once (inference-api 1 and 9). */
import { type CompletionRecord, ledgerKey, type SampledChoice } from "../gateway/completion-record.ts"
import type { RequestSize } from "../gateway/admission.ts"
import type { AdmittedRequest, ChatEvent, Gateway, SamplingCall } from "../gateway/gateway.ts"
import { type Route, route } from "../http/route.ts"
import type { ChatChoice, EngineChatResult, TokenLogprob } from "../wire/engine/chat.ts"
import { textCompletion, textCompletionRequest, type TextCompletionRequest } from "../wire/inference/text-completion.ts"
import { askAll, toPrompts } from "./prompts.ts"
import { toUsage } from "./chat/chat-answer.ts"
import { admit, completionId, tokenDetails, unixSeconds } from "./completion-request.ts"
import type { InferenceDependencies } from "./dependencies.ts"
import { event, sendEvents } from "../http/answers/event-stream.ts"
import { withExactFields } from "./exact-fields.ts"
import { StreamedChoices, toSampled } from "./chat/sampled-choice.ts"
import { toSampling } from "./sampling.ts"
import { exactStructuredFields, toStructuredOutput } from "./structured-output.ts"
import { textAnswerJson, type TextFrame, textLogprobs, TextOffsets } from "./text-completion-answer.ts"
import { refused, refusePromptLogprobsOfStream, refuseUnsupported } from "./unsupported.ts"

/** Several prompts of one request are as many engine calls. */
const maximumPrompts = 256

/** Limit per request over all prompts: above what the engine decodes at once, far below what it admits. */
const choicesAtOnce = 256

export function textCompletionRoutes({ gateway, limits }: InferenceDependencies): Route[] {
  return [
    route({
      method: "POST",
      path: "/v1/completions",
      access: { right: "write", of: "model body.model", train: true },
      dialect: "openai",
      summary: "Complete text or token ids, without a chat template",
      tag: "Chat",
      schemas: { body: textCompletionRequest },
      maximumBodyBytes: limits.prompt_body_bytes,
      maximumBodyValues: limits.prompt_token_ids,
      response: textCompletion,
      answerTypes: ["application/json", "text/event-stream"],
      handle: async (context) => {
        const { body, signal, reply } = context
        const calls = toCalls(withExactFields(body, context.exactBody, ["seed", ...exactStructuredFields]))
        const promptsAtOnce = body.stream === true ? 1 : mostAtOnce(calls)
        const admitted = await admit(gateway, context, sizeOf(calls, promptsAtOnce))
        const frame = frameOf(body, admitted)
        try {
          if (body.stream === true) {
            await sendEvents(reply, chunks(gateway, admitted, calls, frame, body, signal))
          } else {
            const answer = await plainAnswer(gateway, admitted, calls, promptsAtOnce, frame, signal)
            reply.type("application/json; charset=utf-8").send(answer)
          }
        } catch (error) {
          await admitted.release()
          throw error
        }
      },
    }),
  ]
}

function frameOf(body: TextCompletionRequest, admitted: AdmittedRequest): TextFrame {
  const id = completionId("cmpl")
  return {
    id,
    created: unixSeconds(),
    model: body.model,
    // Here a number: how many alternatives each comes with.
    details: tokenDetails(body, body.logprobs == null ? null : true, admitted),
    echo: body.echo === true,
    numTop: body.logprobs ?? 0,
    promptLogprobs: body.prompt_logprobs ?? null,
    // A request that samples nothing leaves nothing to train on.
    ledgerKey: admitted.served.trained === null || body.max_tokens === 0 ? null : (index) => ledgerKey(id, index),
  }
}

/** One engine call per prompt. */
function toCalls(body: TextCompletionRequest): SamplingCall[] {
  refuseUnsupported(body)
  const prompt_logprobs = promptAlternatives(body)
  if (body.max_tokens === 0 && prompt_logprobs === null)
    throw refused("max_tokens", "must be at least 1, or 0 with echo: true or prompt_logprobs")
  const n = body.n ?? 1
  if (body.best_of != null && body.best_of !== n) throw refused("best_of", "only the value of n is supported")
  const prompts = toPrompts(body.prompt)
  if (prompts.length > maximumPrompts) throw refused("prompt", `at most ${maximumPrompts} prompts in one request`)
  // OpenAI's own default of 16 tokens; vLLM has it too.
  const sampling = toSampling(body, body.max_tokens ?? 16, body.logprobs ?? 0)
  const structured_output = toStructuredOutput(body)
  return prompts.map((prompt) => ({ ...prompt, n, sampling, structured_output, prompt_logprobs }))
}

/** The number of alternatives that the answer gives for each token of the prompt; null: it gives nothing about the prompt. */
function promptAlternatives({
  echo,
  stream,
  logprobs,
  prompt_logprobs: requested,
}: TextCompletionRequest): number | null {
  if (stream === true && echo === true) throw refused("echo", "not together with stream: true")
  refusePromptLogprobsOfStream({ stream, prompt_logprobs: requested })
  return echo === true ? Math.max(requested ?? 0, logprobs ?? 0) : (requested ?? null)
}

function mostAtOnce(calls: readonly SamplingCall[]): number {
  return Math.min(calls.length, Math.max(1, Math.floor(choicesAtOnce / choicesOf(calls))))
}

function sizeOf(calls: readonly SamplingCall[], promptsAtOnce: number): RequestSize {
  const { max_tokens: maxTokens } = samplingOf(calls)
  return { prompts: promptsAtOnce, choices: promptsAtOnce * choicesOf(calls), maxTokens }
}

async function plainAnswer(
  gateway: Gateway,
  admitted: AdmittedRequest,
  calls: SamplingCall[],
  promptsAtOnce: number,
  frame: TextFrame,
  signal: AbortSignal,
): Promise<string> {
  const results = await askAll(calls, promptsAtOnce, signal, (call, either) => gateway.complete(admitted, call, either))
  const samples = samplingOf(calls).max_tokens !== 0
  const sampled = results.flatMap((result, place) =>
    samples ? sampledOf(result, place, (choice) => choice.tokens) : [],
  )
  await gateway.record(admitted, recordOf(frame, calls, sampled))
  await admitted.release()
  return textAnswerJson(frame, calls, results, toUsage(sum(results)))
}

function recordOf({ id }: TextFrame, calls: readonly SamplingCall[], choices: SampledChoice[]): CompletionRecord {
  const prompts = calls.map(({ prompt, prompt_token_ids: ids }) => prompt ?? ids)
  const request = { prompt: prompts.length === 1 ? prompts[0] : prompts }
  return { id, protocol: "completions", request, sampling: samplingOf(calls), choices }
}

/** Choices of prompt `place`, numbered over all prompts. */
function sampledOf(
  result: EngineChatResult,
  place: number,
  tokensOf: (choice: ChatChoice) => readonly TokenLogprob[],
): SampledChoice[] {
  return result.choices.map((choice) => ({
    ...toSampled(choice, tokensOf(choice), result.prompt_token_ids),
    index: place * result.choices.length + choice.index,
  }))
}

/** The same for every prompt of a request. */
function samplingOf(calls: readonly SamplingCall[]): SamplingCall["sampling"] {
  return (calls[0] as SamplingCall).sampling
}

/** Number of choices per prompt. */
function choicesOf(calls: readonly SamplingCall[]): number {
  return (calls[0] as SamplingCall).n ?? 1
}

type Totals = Pick<EngineChatResult, "prompt_token_ids" | "cached_tokens" | "completion_tokens">

function sum(results: readonly EngineChatResult[]): Totals {
  return {
    prompt_token_ids: results.flatMap((result) => result.prompt_token_ids),
    cached_tokens: results.reduce((total, result) => total + result.cached_tokens, 0),
    completion_tokens: results.reduce((total, result) => total + result.completion_tokens, 0),
  }
}

/** Prompt after prompt, so that choices come in order. */
async function* chunks(
  gateway: Gateway,
  admitted: AdmittedRequest,
  calls: SamplingCall[],
  frame: TextFrame,
  body: TextCompletionRequest,
  signal: AbortSignal,
): AsyncGenerator<string> {
  const results: EngineChatResult[] = []
  const choices: SampledChoice[] = []
  const n = body.n ?? 1
  let open: { streamed: StreamedChoices; place: number } | null = null
  let isRecorded = false
  try {
    for (const [place, call] of calls.entries()) {
      const texts = new TextChunks(frame, place * n, body.stream_options?.include_usage === true)
      const streamed = new StreamedChoices()
      open = { streamed, place }
      await using batches = gateway.stream(admitted, call, signal)
      let next = await batches.next()
      while (next.done !== true) {
        for (const each of next.value) streamed.add(each)
        const text = next.value.map((each) => texts.event(each)).join("")
        if (text !== "") yield text
        next = await batches.next()
      }
      results.push(next.value)
      const sampled = sampledOf(next.value, place, (choice) => streamed.tokensOf(choice.index))
      choices.push(...sampled)
      open = null
      if (place === calls.length - 1) {
        isRecorded = true
        await gateway.recordEnd(admitted, recordOf(frame, calls, choices))
      }
      await gateway.recordSampled(admitted, recordOf(frame, calls, sampled))
      yield next.value.choices.map((choice) => texts.finish(choice.index, choice)).join("")
    }
    if (body.stream_options?.include_usage === true) {
      const { id, created, model } = frame
      yield event(
        JSON.stringify({
          id,
          object: "text_completion",
          created,
          model,
          choices: [],
          usage: toUsage(sum(results)),
        }),
      )
    }
  } finally {
    if (!isRecorded) {
      const rest = open?.streamed.unfinished() ?? []
      const first = (open?.place ?? 0) * n
      const brought = [...choices, ...rest.map((choice) => ({ ...choice, index: first + choice.index }))]
      await gateway.recordBroken(admitted, recordOf(frame, calls, brought))
    }
    await admitted.release()
  }
}

/** The chunks of one prompt; offsets in the text go on from chunk to chunk. */
class TextChunks {
  readonly #frame: TextFrame
  readonly #firstIndex: number
  readonly #includeUsage: boolean
  readonly #offsets = new Map<number, TextOffsets>()
  #promptTokenIds: number[] = []

  constructor(frame: TextFrame, firstIndex: number, includeUsage: boolean) {
    this.#frame = frame
    this.#firstIndex = firstIndex
    this.#includeUsage = includeUsage
  }

  event(each: ChatEvent): string {
    if (each.event === "start") {
      this.#promptTokenIds = each.data.prompt_token_ids
      return ""
    }
    const { index, content, tokens } = each.data
    const before = this.#offsets.get(index)
    // Not by the text of the chunks: some may be withheld whose tokens are told of already.
    const offsets = before ?? new TextOffsets()
    this.#offsets.set(index, offsets)
    const { details } = this.#frame
    return this.#chunk(index, {
      text: content,
      logprobs: textLogprobs(tokens, details, offsets),
      finish_reason: null,
      ...(details.ids ? this.#ids(tokens, before === undefined) : {}),
    })
  }

  finish(
    index: number,
    { finish_reason, stop_reason }: { finish_reason: string; stop_reason: string | number | null },
  ): string {
    const reason = finish_reason === "length" ? "length" : "stop"
    const { ledgerKey: keyOf } = this.#frame
    const key = keyOf === null ? {} : { heddle_ledger_key: keyOf(this.#firstIndex + index) }
    return this.#chunk(index, {
      text: "",
      logprobs: null,
      finish_reason: reason,
      stop_reason,
      ...key,
    })
  }

  #ids(tokens: readonly TokenLogprob[], isFirst: boolean): object {
    const token_ids = tokens.map(({ id }) => id)
    return isFirst ? { token_ids, prompt_token_ids: this.#promptTokenIds } : { token_ids }
  }

  #chunk(index: number, fields: object): string {
    const { id, created, model } = this.#frame
    const choices = [{ index: this.#firstIndex + index, ...fields }]
    const usage = this.#includeUsage ? { usage: null } : {}
    return event(JSON.stringify({ id, object: "text_completion", created, model, choices, ...usage }))
  }
}
