/** `POST /v1/embeddings`: inference-api 9. */
import { z } from "zod"
import { promptTexts } from "./prompt-texts.ts"

/** Unknown fields are accepted: clients of several vendors send their own. */
export const embeddingsRequest = z.looseObject({
  model: z.string().min(1).max(1024),
  input: promptTexts,
  encoding_format: z.enum(["float", "base64"]).nullish(),
  dimensions: z.int().nullish(),
  user: z.string().nullish(),
})

export const embeddings = z.object({
  object: z.literal("list"),
  data: z.array(
    z.object({
      object: z.literal("embedding"),
      index: z.int(),
      /** Numbers, or float32 values in little-endian order as base64. */
      embedding: z.union([z.array(z.number()), z.string()]),
    }),
  ),
  model: z.string(),
  usage: z.object({ prompt_tokens: z.int(), total_tokens: z.int() }),
})

export type EmbeddingsRequest = z.infer<typeof embeddingsRequest>
