/** `PUT /v2/{entity}/{project}/runtimes/{runtime_name}`: evaluation-store-calls 9, and the client generated into weave 0.54. */
import { z } from "zod"
import { orDefault } from "../or-default.ts"

export const longestObjectId = 128

const name = z
  .string()
  .min(1)
  .max(longestObjectId)
  .refine((text) => !text.includes("::"), 'may not contain "::", which separates the parts of a model\'s name')

export const runtimeParams = z.object({ entity: z.string(), project: z.string(), runtime_name: name })

const runtimeId = z.object({
  /** The endpoint's own name of its model. */
  id: name,
  max_tokens: orDefault(
    z
      .int()
      .min(1)
      .max(2 ** 31 - 1),
    4096,
  ),
})

export const runtimeBody = z.object({
  base_url: z.string(),
  /** Name of a secret that the operator keeps; null: the endpoint takes no key. */
  api_key_secret: z.string().nullish(),
  headers: z.record(z.string(), z.string()).nullish(),
  runtime_ids: z
    .array(runtimeId)
    .max(1000)
    .refine((ids) => new Set(ids.map(({ id }) => id)).size === ids.length, "an id is there twice"),
})
export type RuntimeBody = z.output<typeof runtimeBody>

export const runtime = z.object({
  name: z.string(),
  base_url: z.string(),
  api_key_secret: z.string().nullable(),
  headers: z.record(z.string(), z.string()),
  runtime_ids: z.array(z.object({ id: z.string(), max_tokens: z.int(), playground_id: z.string() })),
})
export type Runtime = z.output<typeof runtime>

export const providerKeyParams = runtimeParams.omit({ runtime_name: true })

/** Names of keys of services outside, never a key. The shape is ours. */
export const providerKeys = z.object({
  keys: z.array(
    z.object({
      name: z.string(),
      /** The only origins that the key may be sent to. */
      origins: z.array(z.string()),
    }),
  ),
})
export type ProviderKeys = z.output<typeof providerKeys>
