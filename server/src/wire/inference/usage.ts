/** `GET /v1/organization/usage/completions`: inference-api 1. */
import { z } from "zod"

const groupField = z.enum(["project_id", "user_id", "api_key_id", "model"])
const unixSeconds = z.coerce.number("seconds since 1970, such as 1767225600").int().min(0).max(253_402_300_799)

/** The catalog's text cannot hold U+0000. */
const text = z.string().refine((value) => !value.includes("\0"), "no U+0000")

/** A query key that may be given once, several times, or with `[]` after its name. */
function listOf<T extends z.ZodType>(item: T) {
  return z.preprocess(
    (value) => (value === undefined || Array.isArray(value) ? value : [value]),
    z.array(item).optional(),
  )
}

export const usageQuery = z.looseObject({
  start_time: unixSeconds,
  end_time: unixSeconds.optional(),
  bucket_width: z.enum(["1m", "1h", "1d"]).default("1d"),
  group_by: listOf(groupField),
  "group_by[]": listOf(groupField),
  project_ids: listOf(text),
  "project_ids[]": listOf(text),
  models: listOf(text),
  "models[]": listOf(text),
  user_ids: listOf(text),
  "user_ids[]": listOf(text),
  api_key_ids: listOf(text),
  "api_key_ids[]": listOf(text),
  limit: z.coerce.number().int().min(1).optional(),
  page: z.string().optional(),
})

const usageResult = z.object({
  object: z.literal("organization.usage.completions.result"),
  input_tokens: z.int(),
  input_cached_tokens: z.int(),
  output_tokens: z.int(),
  num_model_requests: z.int(),
  /** `<team>/<project>`; these four are null unless grouped by. */
  project_id: z.string().nullable(),
  user_id: z.string().nullable(),
  api_key_id: z.string().nullable(),
  model: z.string().nullable(),
})

export const usagePage = z.object({
  object: z.literal("page"),
  data: z.array(
    z.object({
      object: z.literal("bucket"),
      start_time: z.int(),
      end_time: z.int(),
      results: z.array(usageResult),
    }),
  ),
  has_more: z.boolean(),
  next_page: z.string().nullable(),
})

export type UsageQuery = z.output<typeof usageQuery>
export type UsagePage = z.infer<typeof usagePage>
