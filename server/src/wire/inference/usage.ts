/** `GET /v1/organization/usage/completions`: inference-api 1. */
import { z } from "zod"
import { repeated } from "../repeated-query.ts"

const groupField = z.enum(["project_id", "user_id", "api_key_id", "model"])
const unixSeconds = z.coerce.number("seconds since 1970, such as 1767225600").int().min(0).max(253_402_300_799)

/** The catalog's text cannot hold U+0000. */
const text = z.string().refine((value) => !value.includes("\0"), "no U+0000")

/** A list may be given with `[]` after its name, too. */
export const usageQuery = z.looseObject({
  start_time: unixSeconds,
  end_time: unixSeconds.optional(),
  bucket_width: z.enum(["1m", "1h", "1d"]).default("1d"),
  group_by: repeated(groupField),
  "group_by[]": repeated(groupField),
  project_ids: repeated(text),
  "project_ids[]": repeated(text),
  models: repeated(text),
  "models[]": repeated(text),
  user_ids: repeated(text),
  "user_ids[]": repeated(text),
  api_key_ids: repeated(text),
  "api_key_ids[]": repeated(text),
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
