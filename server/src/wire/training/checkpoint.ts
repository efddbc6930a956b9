/** Checkpoints of a model: training-api 4.1 and 4.3. */
import { z } from "zod"
import { pageOf, pageQuery } from "./page.ts"

export const checkpoint = z.object({
  id: z.uuid(),
  step: z.int(),
  metrics: z.record(z.string(), z.number()),
  created_at: z.iso.datetime(),
  size_bytes: z.int(),
  base_model: z.string(),
  /** The name under which chat serves exactly this checkpoint. */
  artifact: z.string(),
})

export const checkpointQuery = pageQuery.extend({ order: z.enum(["asc", "desc"]).default("asc") })
export const checkpointPage = pageOf(checkpoint)

export const deleteCheckpointsBody = z.looseObject({ steps: z.array(z.int()) })
export const deleteCheckpointsAnswer = z.object({
  deleted_count: z.int(),
  not_found_steps: z.array(z.int()),
})

export type Checkpoint = z.infer<typeof checkpoint>
