/** Trainable models: training-api 1.2. */
import { z } from "zod"
import { pageOf, pageQuery } from "./page.ts"

/** A client that makes an address of such a name takes it for a step within the path, and sends to another address. */
export const isPathStep = (name: string) => name === "." || name === ".."

/** A model's name is also its artifact's name and its run's id, so it obeys both alphabets. */
export const modelName = z
  .string()
  .regex(/^[A-Za-z0-9_.-]{1,128}$/, "a model name has 1 to 128 characters out of A-Z a-z 0-9 _ . -")
  .refine((name) => !isPathStep(name), "a model cannot be called . or ..")

export const projectName = z
  .string()
  .min(1)
  .max(128)
  .regex(/^[^/\\#?%:\p{Cc}]+$/u, "a project name has no / \\ # ? % : and no control character")
  .refine((name) => !isPathStep(name), "a project cannot be called . or ..")
  .refine((name) => name.trim() === name, "a project name has no outer blanks")
  .refine((name) => name.isWellFormed(), "a project name has no half of a character")

export const createModelBody = z.looseObject({
  project: projectName,
  name: modelName,
  /** `heddle/tiny`, a model-hub path, or the absolute path of a local folder. */
  base_model: z.string().min(1).max(1024),
  /** null: the default entity of the key's owner. */
  entity: z.string().nullish(),
  /** true: answer the model of this name when there is one, whatever its base model. */
  return_existing: z.boolean().default(false),
})

export const model = z.object({
  id: z.uuid(),
  entity: z.string(),
  project: z.string(),
  name: z.string(),
  base_model: z.string(),
  run_id: z.string(),
})

/** Which models to list, by names: of entity and project, and of the model itself. */
export const modelsQuery = pageQuery.extend({
  entity: z.string().optional(),
  project: z.string().optional(),
  name: z.string().optional(),
  /** Part of the name, in any case. */
  query: z.string().optional(),
})

export const listedModel = model.extend({
  created_at: z.iso.datetime(),
  /** Step of the newest checkpoint, or null if all were deleted. */
  latest_step: z.int().nullable(),
  latest_step_at: z.iso.datetime().nullable(),
  /** Queued, running and paused. */
  open_jobs: z.int(),
})

export const modelPage = pageOf(listedModel)

export const modelParams = z.object({ model_id: z.string() })

export const deleteModelAnswer = z.object({
  model_id: z.uuid(),
  deleted_checkpoints: z.int(),
  deleted_run: z.boolean(),
})

export const baseModels = z.array(z.string())

export type CreateModelBody = z.output<typeof createModelBody>
export type Model = z.infer<typeof model>
export type ListedModel = z.infer<typeof listedModel>
