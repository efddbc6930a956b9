/** Roles of a team's members in one of its projects. The shape is ours. */
import { z } from "zod"
import { memberRole, role } from "./access.ts"

export const projectRole = z.object({
  id: z.uuid(),
  object: z.literal("project.role"),
  username: z.string(),
  /** The role that counts in the project. */
  role,
  /** The member's role in the team, which counts unless the project sets another. */
  team_role: role,
  /** Whether the project sets the role: then it stays when the team's changes. */
  is_own: z.boolean(),
})

export const projectRoleParams = z.object({ entity: z.string(), project: z.string(), username: z.string() })
export const projectRoleBody = z.object({ role: memberRole })

export type ProjectRole = z.infer<typeof projectRole>
