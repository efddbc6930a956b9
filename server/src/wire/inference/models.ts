/** `GET /v1/models` and `/v1/models/{id}`: inference-api 8. */
import { z } from "zod"

/** What clients of OpenAI read, then what those of Anthropic read. */
export const modelCard = z.object({
  id: z.string(),
  object: z.literal("model"),
  created: z.int(),
  owned_by: z.string(),
  /** The base model's id, never a path. */
  root: z.string(),
  parent: z.string().nullable(),
  type: z.literal("model"),
  display_name: z.string(),
  created_at: z.string(),
  lifecycle: z.literal("active"),
})
export const modelList = z.object({
  object: z.literal("list"),
  data: z.array(modelCard),
  first_id: z.string().nullable(),
  last_id: z.string().nullable(),
  has_more: z.literal(false),
})

export type ModelCard = z.infer<typeof modelCard>
