/** `GET /v1/models` and `/v1/models/{id}`: inference-api 8. */
import { z } from "zod"

export const modelCard = z.object({
  id: z.string(),
  object: z.literal("model"),
  created: z.int(),
  owned_by: z.string(),
  /** The base model's id, never a path. */
  root: z.string(),
  parent: z.string().nullable(),
})
export const modelList = z.object({ object: z.literal("list"), data: z.array(modelCard) })

export type ModelCard = z.infer<typeof modelCard>
