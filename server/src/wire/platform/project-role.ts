/** What the members of a team are in one of its projects. The shape is ours. */
import { z } from "zod"
import { memberRole, role } from "./access.ts"

export const projectRole = z.object({
  id: z.uuid(),
  object: z.literal("project.role"),
  username: z.string(),
  /** What counts in the project. */
  role,
  /** What the member is in the team, and in the project unless it has a role of its own. */
  team_role: role,
})

export const projectRoleParams = z.object({ entity: z.string(), project: z.string(), username: z.string() })
export const projectRoleBody = z.object({ role: memberRole })

export type ProjectRole = z.infer<typeof projectRole>
