/** Token prices: evaluation-store-calls 4.3, evaluation-store-objects 8. */
import { z } from "zod"

export const costInput = z.looseObject({
  /** Price of one token. */
  prompt_token_cost: z.number(),
  completion_token_cost: z.number(),
  cache_read_input_token_cost: z.number().nullish(),
  cache_creation_input_token_cost: z.number().nullish(),
  prompt_token_cost_unit: z.string().nullish(),
  completion_token_cost_unit: z.string().nullish(),
  /** ISO 8601, UTC where it says no zone: from when on the price holds. Absent: from now on. */
  effective_date: z.string().nullish(),
  provider_id: z.string().nullish(),
})

export const costCreateBody = z.looseObject({
  project_id: z.string(),
  /** By model, as the usage of calls names it. */
  costs: z.record(z.string(), costInput),
})

/** For each price its id and the model. */
export const costsCreated = z.object({ ids: z.array(z.array(z.string()).length(2)) })

/** In the order in which all fields are shown. */
export const costRow = z.object({
  id: z.string(),
  llm_id: z.string(),
  prompt_token_cost: z.number(),
  completion_token_cost: z.number(),
  cache_read_input_token_cost: z.number(),
  cache_creation_input_token_cost: z.number(),
  prompt_token_cost_unit: z.string(),
  completion_token_cost_unit: z.string(),
  effective_date: z.iso.datetime(),
  provider_id: z.string(),
})

export const costPage = z.object({ results: z.array(costRow.partial()) })

export type CostInput = z.infer<typeof costInput>
export type CostCreateBody = z.infer<typeof costCreateBody>
