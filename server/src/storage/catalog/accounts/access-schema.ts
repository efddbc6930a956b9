/** Row types of roles in projects and of invitations. */
import type { Generated } from "kysely"
import type { Timestamp } from "../column-types.ts"
import type { MemberRole } from "../../../wire/platform/access.ts"

/** Where a member of a team has another role than in the team. */
export interface ProjectRoleTable {
  project_id: string
  user_id: string
  role: MemberRole
}

/** A link that lets one person into a team, known by the SHA-256 of its token. Whoever takes or ends it removes the row. */
export interface InvitationTable {
  id: Generated<string>
  sha256: string
  entity_id: string
  role: MemberRole
  invited_by: string
  created_at: Timestamp
  expires_at: Date
}
