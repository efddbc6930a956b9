/** `POST /v1/chat/completions`, for base models and every step of trained ones. */
import { type Route, route } from "../../http/route.ts"
import { chatCompletion, chatRequest } from "../../wire/inference/chat.ts"
import { type ChatChunk, type ChunkFrame, chunkText } from "./chat-answer.ts"
import { completeChat, frameOf, opaqueFields, streamChat } from "./chat-completion.ts"
import { toChatCall } from "./chat-request.ts"
import { admit } from "../completion-request.ts"
import type { InferenceDependencies } from "../dependencies.ts"
import { event, sendEvents } from "../../http/answers/event-stream.ts"
import { withExactFields } from "../exact-fields.ts"

export function chatRoutes({ gateway, limits }: InferenceDependencies): Route[] {
  return [
    route({
      method: "POST",
      path: "/v1/chat/completions",
      access: { right: "write", of: "model body.model", train: true },
      dialect: "openai",
      summary: "Chat with a base model or a checkpoint",
      tag: "Chat",
      schemas: { body: chatRequest },
      maximumBodyBytes: limits.prompt_body_bytes,
      response: chatCompletion,
      answerTypes: ["application/json", "text/event-stream"],
      handle: async (context) => {
        const { body, reply, signal } = context
        const call = toChatCall(withExactFields(body, context.exactBody, opaqueFields))
        const admitted = await admit(gateway, context, {
          prompts: 1,
          choices: body.n ?? 1,
          maxTokens: call.sampling.max_tokens,
        })
        const chat = { admitted, call, frame: frameOf(body, admitted) }
        try {
          if (body.stream === true) await sendEvents(reply, events(chat.frame, streamChat(gateway, chat, signal)))
          else reply.type("application/json; charset=utf-8").send(await completeChat(gateway, chat, signal))
        } catch (error) {
          await admitted.release()
          throw error
        }
      },
    }),
  ]
}

async function* events(frame: ChunkFrame, chunks: AsyncGenerator<ChatChunk[]>): AsyncGenerator<string> {
  for await (const batch of chunks) yield batch.map((each) => event(chunkText(frame, each))).join("")
}
