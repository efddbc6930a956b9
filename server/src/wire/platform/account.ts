/** Users, teams and API keys. No public service has these calls in the open; the shape is ours. */
import { z } from "zod"
import { boundedList } from "../bounded-list.ts"
import { keyScope, memberRole, role } from "./access.ts"
import { reservedNames } from "./reserved-names.ts"

/** Names appear in `<entity>/<project>/<name>`. */
export const entityName = z
  .string()
  .regex(
    /^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/,
    "a name has 1 to 64 characters out of A-Z a-z 0-9 _ . - and begins with a letter or digit",
  )

/** Name of a new entity; an existing one may have any name. */
export const newEntityName = entityName.refine((name) => !reservedNames.includes(name), {
  error: ({ input }) => `"${String(input)}" is the address of a part of the server; choose another name`,
})

export const user = z.object({
  id: z.uuid(),
  object: z.literal("organization.user"),
  username: z.string(),
  is_admin: z.boolean(),
  default_entity: z.string(),
  /** Every entity the user may use, the default one included. */
  entities: z.array(z.string()),
  /** While true, the user's keys are refused. */
  disabled: z.boolean(),
})

export const userParams = z.object({ username: z.string() })
export const updateUserBody = z.object({ disabled: z.boolean() })

export const createUserBody = z.object({
  username: newEntityName,
  is_admin: z.boolean().default(false),
  /** Existing teams to join; the user's own entity comes by itself. */
  teams: boundedList(entityName, 100).default([]),
})

export const createTeamBody = z.object({ name: newEntityName })
export const team = z.object({
  id: z.uuid(),
  object: z.literal("organization.team"),
  name: z.string(),
  /** Role of the caller, or null for an administrator of the server who is not in the team. */
  role: role.nullable(),
})

/** Everything that a member learns of another: their other teams are not shown. */
export const teamMember = z.object({
  id: z.uuid(),
  object: z.literal("organization.team.member"),
  username: z.string(),
  role,
  /** While true, the user's keys are refused. */
  disabled: z.boolean(),
})
export const teamParams = z.object({ team: z.string() })
export const memberParams = z.object({ team: z.string(), username: z.string() })
export const addMemberBody = z.object({ username: z.string(), role: memberRole.default("member") })
export const updateMemberBody = z.object({ role: memberRole })

/** Name of the account, `ci` in `ci@research`: no user or team has an `@` in its name. */
export const createServiceAccountBody = z.object({ name: entityName })

export const apiKey = z.object({
  id: z.uuid(),
  object: z.literal("organization.api_key"),
  name: z.string(),
  username: z.string(),
  /** Upper bound on the use of the key. */
  scope: keyScope,
  /** `…` and the last four characters. */
  redacted_value: z.string(),
  created_at: z.iso.datetime(),
  /** null: never. */
  expires_at: z.iso.datetime().nullable(),
  /** To the minute. */
  last_used_at: z.iso.datetime().nullable(),
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
  /** An administrator may make a key for somebody else, and one of a team for its service accounts. */
  username: z.string().optional(),
  scope: keyScope.default("all"),
  /** When the key ends; without it, not before it is revoked. */
  expires_at: z.iso.datetime({ offset: true }).nullish(),
})

export const apiKeyParams = z.object({ api_key_id: z.string() })

export function listOf<T extends z.ZodType>(item: T) {
  return z.object({ object: z.literal("list"), data: z.array(item) })
}

export const deleted = z.object({ id: z.string(), deleted: z.boolean() })

export type User = z.infer<typeof user>
export type Team = z.infer<typeof team>
export type TeamMember = z.infer<typeof teamMember>
export type ApiKey = z.infer<typeof apiKey>
