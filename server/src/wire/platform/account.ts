/** Users, teams and API keys. No public service has these calls in the open; the shape is ours. */
import { z } from "zod"

/** Names appear in `<entity>/<project>/<name>`. */
export const entityName = z
  .string()
  .regex(
    /^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/,
    "a name has 1 to 64 characters out of A-Z a-z 0-9 _ . - and begins with a letter or digit",
  )

export const user = z.object({
  id: z.uuid(),
  object: z.literal("organization.user"),
  username: z.string(),
  is_admin: z.boolean(),
  default_entity: z.string(),
  /** Every entity the user may use, the default one included. */
  entities: z.array(z.string()),
})

export const createUserBody = z.object({
  username: entityName,
  is_admin: z.boolean().default(false),
  /** Existing teams to join; the user's own entity comes by itself. */
  teams: z.array(entityName).default([]),
})

export const createTeamBody = z.object({ name: entityName })
export const team = z.object({ id: z.uuid(), object: z.literal("organization.team"), name: z.string() })
export const teamParams = z.object({ team: z.string() })
export const memberParams = z.object({ team: z.string(), username: z.string() })
export const addMemberBody = z.object({ username: z.string() })

export const apiKey = z.object({
  id: z.uuid(),
  object: z.literal("organization.api_key"),
  name: z.string(),
  username: z.string(),
  /** `…` and the last four characters. */
  redacted_value: z.string(),
  created_at: z.iso.datetime(),
})

export const createdApiKey = apiKey.extend({
  /** The key itself, shown only in this answer. */
  value: z.string(),
})

export const createApiKeyBody = z.object({
  name: z
    .string()
    .min(1)
    .max(128)
    .regex(/^\P{Cc}*$/u, "no control characters"),
  /** An administrator may make a key for somebody else. */
  username: z.string().optional(),
})

export const apiKeyParams = z.object({ api_key_id: z.string() })

export function listOf<T extends z.ZodType>(item: T) {
  return z.object({ object: z.literal("list"), data: z.array(item) })
}

export const deleted = z.object({ id: z.string(), deleted: z.boolean() })

export type User = z.infer<typeof user>
export type ApiKey = z.infer<typeof apiKey>
