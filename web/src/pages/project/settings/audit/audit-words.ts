/** Entries of the record of changes as a person reads them. */
import type { AuditLog, AuditType } from "@heddle/server/wire/platform/audit-log.ts"

/** Types that the filter offers. */
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
] as const satisfies readonly AuditType[]

export function isAuditType(type: string | undefined): type is AuditType {
  return auditTypes.some((one) => one === type)
}

/** Who did it; null: the server by itself. */
export function actorOf({ actor }: AuditLog): { username: string; apiKeyId: string } | null {
  if (actor.type === "server") return null
  return { username: actor.api_key.user.username, apiKeyId: actor.api_key.id }
}

/** Of entries whose id is a name: of what. */
const namedBy: Partial<Record<AuditType, string>> = {
  "backup.created": "backup",
  "backup.deleted": "backup",
  "call.deleted": "project",
  "cost.deleted": "project",
  "feedback.deleted": "project",
  "project.retention_updated": "project",
}

/** What null says, where it is not the default. */
const nullWords: Partial<Record<AuditType, string>> = { "project.retention_updated": "without limit" }

/** The change in words: "name laptop, username ada". */
export function detailsOf(entry: AuditLog): string {
  const { type, [type]: details } = entry
  if (typeof details !== "object" || details === null) return ""
  const idName = namedBy[type]
  return Object.entries(details)
    .filter(([name]) => name !== "id" || idName !== undefined)
    .map(([name, value]) => {
      const words = value === null ? (nullWords[type] ?? "default") : wordsOf(value)
      return `${name === "id" ? idName : name.replaceAll("_", " ")} ${words}`
    })
    .join(", ")
}

function wordsOf(value: unknown): string {
  if (typeof value === "string") return value === "" ? "(empty)" : value
  if (Array.isArray(value)) return value.length === 0 ? "none" : value.map(wordsOf).join(" ")
  if (typeof value === "boolean") return value ? "yes" : "no"
  return JSON.stringify(value)
}
