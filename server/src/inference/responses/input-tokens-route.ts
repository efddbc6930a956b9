/** `POST /v1/responses/input_tokens`: how long the prompt of a response would be (art-0.5.23 6). */
import { type Route, route } from "../../http/route.ts"
import { inputTokensAnswer, responsesRequest } from "../../wire/inference/responses.ts"
import type { InferenceDependencies } from "../dependencies.ts"
import { withExactFields } from "../exact-fields.ts"
import { countPromptTokens } from "../prompt-tokens.ts"
import { toItems } from "./response-items.ts"
import { exactResponsesFields, toResponsesCall } from "./responses-request.ts"
import type { StoredResponses } from "./stored-responses.ts"

export function inputTokensRoute({ gateway, limits }: InferenceDependencies, stored: StoredResponses): Route {
  return route({
    method: "POST",
    path: "/v1/responses/input_tokens",
    access: { right: "read", of: "model body.model" },
    dialect: "openai",
    summary: "How many tokens a prompt in the form of OpenAI's Responses has",
    tag: "Chat",
    schemas: { body: responsesRequest },
    maximumBodyBytes: limits.prompt_body_bytes,
    response: inputTokensAnswer,
    handle: async (context) => {
      const body = withExactFields(context.body, context.exactBody, exactResponsesFields)
      const earlier = await stored.dialogue(context.principal, body.previous_response_id)
      const own = toItems(await stored.withNamedItems(context.principal, body.input))
      const call = toResponsesCall(body, own, earlier)
      const input_tokens = await countPromptTokens(gateway, context, body.model, call)
      return { object: "response.input_tokens", input_tokens }
    },
  })
}
