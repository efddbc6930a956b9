/** The record of changes, in the shape of OpenAI's organization audit logs as far as it fits. */
import { z } from "zod"
import { repeated } from "../repeated-query.ts"

export const auditTypes = [
  "annotation_queue.deleted",
  "api_key.created",
  "api_key.deleted",
  "backup.created",
  "backup.deleted",
  "call.deleted",
  "checkpoint.deleted",
  "cost.deleted",
  "feedback.deleted",
  "file.deleted",
  "invitation.accepted",
  "invitation.created",
  "invitation.deleted",
  "login.succeeded",
  "logout.succeeded",
  "model.deleted",
  "object.deleted",
  "project.deleted",
  "project.retention_updated",
  "project.role_deleted",
  "project.role_updated",
  "quotas.updated",
  "rollout.deleted",
  "team.created",
  "team.member_added",
  "team.member_removed",
  "team.member_updated",
  "training_job.cancelled",
  "training_job.paused",
  "training_job.resumed",
  "user.added",
  "user.deleted",
  "user.updated",
] as const
export type AuditType = (typeof auditTypes)[number]

const seconds = z.coerce.number().int().min(0).max(99_999_999_999)

/** Names as OpenAI's clients write them into the query. */
export const auditLogQuery = z.object({
  "effective_at[gte]": seconds.optional(),
  "effective_at[gt]": seconds.optional(),
  "effective_at[lte]": seconds.optional(),
  "effective_at[lt]": seconds.optional(),
  "event_types[]": repeated(z.enum(auditTypes)),
  /** Ids of users. */
  "actor_ids[]": repeated(z.string()),
  "resource_ids[]": repeated(z.string()),
  /** Names of teams. */
  "teams[]": repeated(z.string()),
  after: z.string().optional(),
  limit: z.coerce.number().int().min(1).max(100).default(20),
})

/** An action and its subject under the name of its type, such as `"model.deleted": {"id": …}`. */
export const auditLog = z.looseObject({
  id: z.string(),
  object: z.literal("organization.audit_log"),
  type: z.enum(auditTypes),
  /** Unix seconds. */
  effective_at: z.int(),
  /** A change outside the catalog has one entry before it (`begun`) and one after it. */
  outcome: z.enum(["begun", "succeeded", "failed"]),
  actor: z.union([
    z.object({
      type: z.literal("api_key"),
      api_key: z.object({
        id: z.string(),
        type: z.literal("user"),
        user: z.object({ id: z.string(), username: z.string() }),
      }),
    }),
    z.object({ type: z.literal("server") }),
  ]),
  request_id: z.string().nullable(),
  team: z.string().nullable(),
})

export const auditLogPage = z.object({
  object: z.literal("list"),
  data: z.array(auditLog),
  first_id: z.string().nullable(),
  last_id: z.string().nullable(),
  has_more: z.boolean(),
})

export type AuditLog = z.infer<typeof auditLog>
