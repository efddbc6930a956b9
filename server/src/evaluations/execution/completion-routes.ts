/** Completions and images made by the server: evaluation-store-calls 9. */
import { type Route, route } from "../../http/route.ts"
import {
  completionAnswer,
  completionBody,
  completionLine,
  imageAnswer,
  imageBody,
} from "../../wire/evaluations/completion.ts"
import { lineTypes, linesType, sendStream } from "../../http/answers/json-stream.ts"
import { createCompletion, streamCompletion } from "./completion.ts"
import type { CompletionDependencies } from "./dependencies.ts"
import { createImage } from "./image.ts"

const shared = { method: "POST", dialect: "reason", tag: "Completions" } as const

export function completionRoutes(dependencies: CompletionDependencies): Route[] {
  return [
    route({
      ...shared,
      path: "/completions/create",
      access: { right: "write", of: "project body.project_id" },
      summary: "A chat completion, recorded as a call",
      schemas: { body: completionBody },
      response: completionAnswer,
      handle: async (context) => {
        const answer = await createCompletion(dependencies, context, context.body, context.exactBody())
        context.reply.type("application/json").send(answer)
      },
    }),
    route({
      ...shared,
      path: "/completions/create_stream",
      access: { right: "write", of: "project body.project_id" },
      summary: "The chunks of a chat completion as JSON Lines, recorded as a call",
      schemas: { body: completionBody },
      response: completionLine,
      answerTypes: lineTypes,
      isUncompressed: true,
      handle: async (context) => {
        const lines = await streamCompletion(dependencies, context, context.body, context.exactBody())
        await sendStream(context.reply, linesType(context.request.headers.accept), lines)
      },
    }),
    route({
      ...shared,
      path: "/image/create",
      access: { right: "write", of: "project body.project_id" },
      summary: "Images from a custom provider, recorded as a call",
      schemas: { body: imageBody },
      response: imageAnswer,
      handle: async (context) => {
        const { inputs } = context.exactBody() as { inputs: Record<string, unknown> }
        context.reply.type("application/json").send(await createImage(dependencies, context, context.body, inputs))
      },
    }),
  ]
}
