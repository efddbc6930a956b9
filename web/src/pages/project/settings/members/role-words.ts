/** Rights of roles, in words. */
import type { MemberRole, Role } from "@heddle/server/wire/platform/access.ts"

export const memberRoles: readonly MemberRole[] = ["admin", "member", "annotator", "viewer"]

export const roleWords: Record<Role, string> = {
  admin: "everything, and decides who belongs to the team",
  member: "reads, labels, traces, trains, evaluates, changes and deletes",
  annotator: "reads and labels",
  viewer: "reads",
  service_account: "the account of a program: what a member may",
}

/** A right a line, and who has it. */
export const rights: readonly { right: string; roles: readonly MemberRole[] }[] = [
  { right: "See everything in the team’s projects, and export it", roles: ["viewer", "annotator", "member", "admin"] },
  { right: "Give feedback, label items of queues", roles: ["annotator", "member", "admin"] },
  { right: "Store calls and datasets, train, ask models in the playground", roles: ["member", "admin"] },
  { right: "Decide which label is final; change and delete things", roles: ["member", "admin"] },
  { right: "Decide about members, roles, invitations and programs", roles: ["admin"] },
]
