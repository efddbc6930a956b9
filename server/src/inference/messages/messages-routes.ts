/** `POST /v1/messages` and `/v1/messages/count_tokens`, for base models and every step of trained ones (art-0.5.23 7). */
import type { Gateway } from "../../gateway/gateway.ts"
import { anthropicErrorBody } from "../../http/answers/error-dialects.ts"
import { type Route, route } from "../../http/route.ts"
import {
  countTokensAnswer,
  countTokensRequest,
  messageAnswer,
  type MessagesRequest,
  messagesRequest,
} from "../../wire/inference/messages.ts"
import { admit, answerId } from "../completion-request.ts"
import type { InferenceDependencies } from "../dependencies.ts"
import { event, sendEvents, type StreamForm, typedEvent } from "../../http/answers/event-stream.ts"
import { withExactFields } from "../exact-fields.ts"
import { type AdmittedChat, sampleChat, sampleStream } from "../chat/sampled-chat.ts"
import { type MessageFrame, MessageEvents, toMessage } from "./message-answer.ts"
import { countPromptTokens } from "../prompt-tokens.ts"
import { exactMessagesFields, toMessagesCall, toPromptCall } from "./messages-request.ts"

const anthropicForm: StreamForm = {
  end: "",
  failure: (error) => `event: error\n${event(JSON.stringify(anthropicErrorBody(error)))}`,
}

export function messagesRoutes({ gateway, limits }: InferenceDependencies): Route[] {
  return [
    route({
      method: "POST",
      path: "/v1/messages",
      access: { right: "write", of: "model body.model", train: true },
      dialect: "anthropic",
      summary: "Ask a base model or a checkpoint, in Anthropic's form",
      tag: "Chat",
      schemas: { body: messagesRequest },
      maximumBodyBytes: limits.prompt_body_bytes,
      response: messageAnswer,
      answerTypes: ["application/json", "text/event-stream"],
      handle: async (context) => {
        const { body, reply, signal } = context
        const call = toMessagesCall(withExactFields(body, context.exactBody, [...exactMessagesFields, "seed"]))
        const size = { prompts: 1, choices: 1, maxTokens: call.sampling.max_tokens }
        const admitted = await admit(gateway, context, size)
        const chat: AdmittedChat = { id: answerId("msg"), protocol: "messages", admitted, call }
        const frame = frameOf(chat.id, body)
        try {
          if (body.stream !== true) return toMessage(frame, await sampleChat(gateway, chat, signal))
          await sendEvents(reply, events(gateway, chat, frame, signal), { form: anthropicForm })
        } catch (error) {
          await admitted.release()
          throw error
        }
      },
    }),
    countTokens(gateway, limits.prompt_body_bytes),
  ]
}

function countTokens(gateway: Gateway, maximumBodyBytes: number): Route {
  return route({
    method: "POST",
    path: "/v1/messages/count_tokens",
    access: { right: "read", of: "model body.model" },
    dialect: "anthropic",
    summary: "How many tokens a prompt in Anthropic's form has",
    tag: "Chat",
    schemas: { body: countTokensRequest },
    maximumBodyBytes,
    response: countTokensAnswer,
    handle: async (context) => {
      const { body, exactBody } = context
      const call = toPromptCall(withExactFields(body, exactBody, exactMessagesFields))
      return { input_tokens: await countPromptTokens(gateway, context, body.model, call) }
    },
  })
}

function frameOf(id: string, { model, tool_choice }: MessagesRequest): MessageFrame {
  return { id, model, parallel: tool_choice?.disable_parallel_tool_use !== true }
}

async function* events(
  gateway: Gateway,
  chat: AdmittedChat,
  frame: MessageFrame,
  signal: AbortSignal,
): AsyncGenerator<string> {
  const message = new MessageEvents(frame)
  await using batches = sampleStream(gateway, chat, signal)
  let next = await batches.next()
  while (next.done !== true) {
    const text = next.value.flatMap((each) => message.of(each)).map(typedEvent)
    if (text.length > 0) yield text.join("")
    next = await batches.next()
  }
  yield message.end(next.value).map(typedEvent).join("")
}
