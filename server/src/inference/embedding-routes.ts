/** `POST /v1/embeddings`: inference-api 9. */
import type { EmbedCall } from "../gateway/gateway.ts"
import { type Route, route } from "../http/route.ts"
import { embeddings, embeddingsRequest, type EmbeddingsRequest } from "../wire/inference/embeddings.ts"
import { askAll, toPrompts } from "./prompts.ts"
import { admit } from "./completion-request.ts"
import type { InferenceDependencies } from "./dependencies.ts"
import { refused } from "./unsupported.ts"

/** As many as OpenAI takes. */
const maximumInputs = 2048

/** Inputs of one request sent at once; more would not keep the engine busier. */
const inputsAtOnce = 32

export function embeddingRoutes({ gateway, limits }: InferenceDependencies): Route[] {
  return [
    route({
      method: "POST",
      path: "/v1/embeddings",
      access: { right: "write", of: "model body.model", train: true },
      dialect: "openai",
      summary: "Vectors of texts",
      tag: "Chat",
      schemas: { body: embeddingsRequest },
      maximumBodyBytes: limits.prompt_body_bytes,
      maximumBodyValues: limits.prompt_token_ids,
      response: embeddings,
      handle: async (context) => {
        const { body, signal } = context
        const inputs = toInputs(body)
        const atOnce = Math.min(inputs.length, inputsAtOnce)
        const admitted = await admit(gateway, context, { prompts: atOnce, choices: atOnce, maxTokens: 0 })
        try {
          const found = await askAll(inputs, atOnce, signal, (input, either) => gateway.embed(admitted, input, either))
          const tokens = found.reduce((sum, { prompt_token_ids: ids }) => sum + ids.length, 0)
          const data = found.map(({ embedding }, index) => ({
            object: "embedding" as const,
            index,
            embedding: body.encoding_format === "base64" ? toBase64(embedding) : embedding,
          }))
          // It is counted before the answer ends.
          await admitted.usage.store()
          const usage = { prompt_tokens: tokens, total_tokens: tokens }
          return { object: "list" as const, data, model: body.model, usage }
        } finally {
          await admitted.release()
        }
      },
    }),
  ]
}

function toInputs(body: EmbeddingsRequest): EmbedCall[] {
  if (body.dimensions != null) {
    throw refused("dimensions", "vectors have as many as the model's hidden states and are not cut; leave it out")
  }
  const inputs = toPrompts(body.input)
  if (inputs.length > maximumInputs) throw refused("input", `at most ${maximumInputs} inputs in one request`)
  return inputs
}

/** float32, little-endian. */
function toBase64(vector: readonly number[]): string {
  const bytes = Buffer.alloc(4 * vector.length)
  for (const [place, value] of vector.entries()) bytes.writeFloatLE(value, 4 * place)
  return bytes.toString("base64")
}
