/** Who gave feedback: those of the rows that were read, oneself, and whom the address names. */
import type { FeedbackRow } from "../../../../api/calls/feedback.ts"
import { useMembers, useTeams } from "../../../../api/organization/organization.ts"
import { useSession } from "../../../../api/session.ts"
import { shortId } from "../../../../format/ids.ts"
import type { CurrentProject } from "../../../../shell/current-project.ts"

export function usePeople({ entity }: CurrentProject, rows: readonly FeedbackRow[], chosen: string | undefined) {
  const { user } = useSession()
  // The entity that a user has by their own name is no team, and has no members.
  const isTeam = useTeams().data?.data.some(({ name }) => name === entity) === true
  const members = useMembers(entity, { enabled: isTeam }).data?.data ?? []
  const found = rows.flatMap(({ wb_user_id: id }) => (id === null || id === "" ? [] : [id]))
  return {
    ids: [...new Set([user.id, ...found, ...(chosen === undefined ? [] : [chosen])])],
    nameOf: (id: string): string => {
      if (id === user.id) return "you"
      return members.find((one) => one.id === id)?.username ?? shortId(id)
    },
  }
}
