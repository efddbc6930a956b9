/** Checkpoints of a model: training-api 4.1 and 4.3. */
import { z } from "zod"
import { boundedList } from "../bounded-list.ts"
import { exportDtype, exportFormat } from "../engine/export.ts"
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
  /** The job that made it; null: the step that a model begins with, or one that came from elsewhere. */
  job_id: z.uuid().nullable(),
})

export const deleteCheckpointsBody = z.looseObject({ steps: boundedList(z.int(), 100_000) })
export const deleteCheckpointsAnswer = z.object({
  deleted_count: z.int(),
  not_found_steps: boundedList(z.int(), 100_000),
})

export const checkpointFileParams = checkpointParams.extend({ filename: z.string() })

export const checkpointDownloadQuery = z.object({
  format: z
    .enum(["peft", ...exportFormat.options])
    .default("peft")
    .describe(
      "`peft`: the adapter. `merged`: the base model with the adapter merged in, as a transformers folder. " +
        "`gguf`: the same as one file for llama.cpp and its like. The last two are written when they are first asked for.",
    ),
  dtype: exportDtype
    .optional()
    .describe("Of the weights in `merged` and `gguf`; by default that of the base model. Sums are made in 32 bits."),
})

export const importCheckpointQuery = z.object({
  step: z
    .string()
    .regex(/^\d{1,9}$/, "a step is a number")
    .transform(Number)
    .optional()
    .describe("The number that it becomes, higher than the newest step; by default the next."),
  any_base: z
    .enum(["true", "false"])
    .default("false")
    .transform((value) => value === "true")
    .describe("Take an adapter whose config names another base model, since it is this one's under another name."),
})

/** The files of a PEFT folder. */
export const checkpointFiles = z.object({
  object: z.literal("list"),
  /** Step of these files: `latest` was resolved when they were listed. */
  step: z.int(),
  data: z.array(z.object({ filename: z.string(), size_bytes: z.int(), sha256: z.string() })),
})

export type Checkpoint = z.infer<typeof checkpoint>
