/** `POST /v1/chat/completions`, for base models and every step of trained ones. */
import type { FastifyReply } from "fastify"
import { ledgerKey } from "../gateway/completion-record.ts"
import type { AdmittedRequest, ChatEvent, Gateway, SamplingCall } from "../gateway/gateway.ts"
import { type Route, route } from "../http/route.ts"
import type { TokenLogprob } from "../wire/engine/chat.ts"
import { chatCompletion, chatRequest, type ChatRequest } from "../wire/inference/chat.ts"
import { type AnswerFrame, chatAnswerJson, toTokenCounts, toUsage } from "./chat-answer.ts"
import { type ChunkFrame, deltaChunk, finishChunk, roleChunk, usageChunk } from "./chat-chunks.ts"
import { toChatCall } from "./chat-request.ts"
import { admit, completionId, unixSeconds } from "./completion-request.ts"
import { collectTokens, toSampled } from "./sampled-choice.ts"
import type { InferenceDependencies } from "./dependencies.ts"
import { withExactFields } from "./exact-fields.ts"
import { sendEvents } from "./event-stream.ts"

const opaqueFields = ["messages", "tools", "functions", "chat_template_kwargs", "seed"] as const

export function chatRoutes({ gateway }: InferenceDependencies): Route[] {
  return [
    route({
      method: "POST",
      path: "/v1/chat/completions",
      access: "key",
      dialect: "openai",
      summary: "Chat with a base model or a checkpoint",
      tag: "Chat",
      schemas: { body: chatRequest },
      response: chatCompletion,
      handle: async (context) => {
        const { body, reply, signal } = context
        const call = toChatCall(withExactFields(body, context.exactBody, opaqueFields))
        const admitted = await admit(gateway, context)
        try {
          const answer = body.stream === true ? streamAnswer : plainAnswer
          await answer(gateway, admitted, call, frameOf(body, admitted), reply, signal)
        } catch (error) {
          admitted.release()
          throw error
        }
      },
    }),
  ]
}

function frameOf(body: ChatRequest, { served }: AdmittedRequest): ChunkFrame {
  const id = completionId("chatcmpl")
  return {
    id,
    created: unixSeconds(),
    model: body.model,
    tokensById: body.return_tokens_as_token_ids ?? false,
    parallelToolCalls: body.parallel_tool_calls ?? true,
    ledgerKey: served.trained === null ? null : (index) => ledgerKey(id, index),
    n: body.n ?? 1,
    includeUsage: body.stream_options?.include_usage ?? false,
  }
}

async function plainAnswer(
  gateway: Gateway,
  admitted: AdmittedRequest,
  call: SamplingCall,
  frame: AnswerFrame,
  reply: FastifyReply,
  signal: AbortSignal,
): Promise<void> {
  const result = await gateway.complete(admitted, call, signal)
  const choices = result.choices.map((choice) => toSampled(choice, choice.tokens, result.prompt_token_ids))
  await gateway.record(admitted, toTokenCounts(result), {
    id: frame.id,
    sampling: call.sampling,
    choices,
  })
  admitted.release()
  reply.type("application/json; charset=utf-8").send(chatAnswerJson(frame, result))
}

function streamAnswer(
  gateway: Gateway,
  admitted: AdmittedRequest,
  call: SamplingCall,
  frame: ChunkFrame,
  reply: FastifyReply,
  signal: AbortSignal,
): Promise<void> {
  return sendEvents(reply, chunks(gateway, admitted, call, frame, signal))
}

async function* chunks(
  gateway: Gateway,
  admitted: AdmittedRequest,
  call: SamplingCall,
  frame: ChunkFrame,
  signal: AbortSignal,
): AsyncGenerator<string> {
  try {
    const sampled = new Map<number, TokenLogprob[]>()
    const batches = gateway.stream(admitted, call, signal)
    let next = await batches.next()
    while (next.done !== true) {
      for (const each of next.value) collectTokens(sampled, each)
      yield next.value.map((each) => eventChunk(frame, each)).join("")
      next = await batches.next()
    }
    const result = next.value
    const choices = result.choices.map((choice) =>
      toSampled(choice, sampled.get(choice.index) ?? [], result.prompt_token_ids),
    )
    await gateway.record(admitted, toTokenCounts(result), {
      id: frame.id,
      sampling: call.sampling,
      choices,
    })
    const finish = result.choices.map((choice) => finishChunk(frame, choice)).join("")
    yield frame.includeUsage ? finish + usageChunk(frame, toUsage(result)) : finish
  } finally {
    admitted.release()
  }
}

function eventChunk(frame: ChunkFrame, each: ChatEvent): string {
  return each.event === "start" ? roleChunk(frame, each.data.prompt_token_ids) : deltaChunk(frame, each.data)
}
