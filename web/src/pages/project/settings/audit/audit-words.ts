/** Entries of the record of changes as a person reads them. */
import type { AuditLog, AuditType } from "@heddle/server/wire/platform/audit-log.ts"

/** Types that the filter offers. */
export const auditTypes = [
  "annotation_queue.deleted",
  "api_key.created",
  "api_key.deleted",
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
] as const satisfies readonly AuditType[]

export function isAuditType(type: string | undefined): type is AuditType {
  return auditTypes.some((one) => one === type)
}

/** Who did it; null: the server by itself. */
export function actorOf({ actor }: AuditLog): { username: string; apiKeyId: string } | null {
  if (actor.type === "server") return null
  return { username: actor.api_key.user.username, apiKeyId: actor.api_key.id }
}

/** The change in words: "name laptop, username ada". */
export function detailsOf(entry: AuditLog): string {
  const details = entry[entry.type]
  if (typeof details !== "object" || details === null) return ""
  return Object.entries(details)
    .filter(([name]) => name !== "id")
    .map(([name, value]) => `${name.replaceAll("_", " ")} ${wordsOf(value)}`)
    .join(", ")
}

function wordsOf(value: unknown): string {
  if (typeof value === "string") return value === "" ? "(empty)" : value
  if (value === null) return "default"
  if (Array.isArray(value)) return value.length === 0 ? "none" : value.map(wordsOf).join(" ")
  if (typeof value === "boolean") return value ? "yes" : "no"
  return JSON.stringify(value)
}
