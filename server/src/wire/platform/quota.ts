/** Limits of a team. No public service publishes such calls; the shape is ours. */
import { z } from "zod"

export const quotaNames = [
  "stored_bytes",
  "models",
  "projects",
  "open_jobs",
  "api_keys",
  "requests_per_minute",
] as const
export type QuotaName = (typeof quotaNames)[number]

export const quota = z.object({
  name: z.enum(quotaNames),
  limit: z.int(),
  /** For `requests_per_minute`, a limit per key: the use of the calling key. null: it belongs to another team. */
  used: z.int().nullable(),
  left: z.int().nullable(),
  /** Whether the limit is the one for every team that has none of its own. */
  is_default: z.boolean(),
})

export const teamQuotas = z.object({
  object: z.literal("organization.team.quotas"),
  team: z.string(),
  quotas: z.array(quota),
})

const newLimit = z.int().min(0).max(Number.MAX_SAFE_INTEGER).nullish()

/** Absent members stay as they are; null restores the default. */
export const updateQuotasBody = z
  .object({
    stored_bytes: newLimit,
    models: newLimit,
    projects: newLimit,
    open_jobs: newLimit,
    api_keys: newLimit,
    // One is left to change it back with.
    requests_per_minute: z.int().min(1).max(Number.MAX_SAFE_INTEGER).nullish(),
  })
  .strict()

export type TeamQuotas = z.infer<typeof teamQuotas>
