/** `POST /v1/embeddings`: inference-api 9. */
import { z } from "zod"

const ids = z.array(z.int().min(0)).min(1)

/** Unknown fields are accepted: clients of several vendors send their own. */
export const embeddingsRequest = z.looseObject({
  model: z.string().min(1).max(1024),
  input: z.union(
    [z.string(), z.array(z.string()).min(1), ids, z.array(ids).min(1)],
    "a text, a list of texts, a list of token ids or a list of such lists; no list may be empty",
  ),
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
