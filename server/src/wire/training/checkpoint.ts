/** Checkpoints of a model: training-api 4.1 and 4.3. */
import { z } from "zod"
import { boundedList } from "../bounded-list.ts"
import { modelParams } from "./model.ts"
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

export const checkpointParams = modelParams.extend({
  step: z.string().regex(/^(latest|\d{1,10})$/, 'a step is a number, or "latest"'),
})

export const readCheckpoint = checkpoint.extend({
  /** The job that made it; null: the step that a model begins with. */
  job_id: z.uuid().nullable(),
})

export const deleteCheckpointsBody = z.looseObject({ steps: boundedList(z.int(), 100_000) })
export const deleteCheckpointsAnswer = z.object({
  deleted_count: z.int(),
  not_found_steps: boundedList(z.int(), 100_000),
})

export const checkpointFileParams = checkpointParams.extend({ filename: z.string() })

/** The files of a PEFT folder. */
export const checkpointFiles = z.object({
  object: z.literal("list"),
  /** Of these files: `latest` was worked out when they were listed. */
  step: z.int(),
  data: z.array(z.object({ filename: z.string(), size_bytes: z.int(), sha256: z.string() })),
})

export type Checkpoint = z.infer<typeof checkpoint>
