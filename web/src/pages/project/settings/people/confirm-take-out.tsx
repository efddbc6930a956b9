/** Asks before somebody is taken out of a team, or the account of a program ends. */
import { useRemoveMember } from "../../../../api/organization/organization.ts"
import { Confirm } from "../../../../components/layers/confirm.tsx"

interface ConfirmTakeOutProps {
  team: string
  username: string
  /** Its account is of this team alone, and ends with it. */
  isProgram: boolean
  onClose: () => void
}

export function ConfirmTakeOut({ team, username, isProgram, onClose }: ConfirmTakeOutProps) {
  const remove = useRemoveMember()
  const asked = {
    change: remove,
    // Who took themselves out may ask nothing of the team any more: the question would stay, and fail when answered again.
    onConfirm: () => remove.mutate({ team, username }, { onSuccess: onClose }),
    onClose,
  }
  if (isProgram) {
    return (
      <Confirm
        title={`Remove the program ${username}?`}
        action="Remove program"
        failure="The program is still there."
        {...asked}
      >
        <p>
          That is for good: its keys open nothing any more, from the next request on, and no other program of {team}{" "}
          gets its name. What it stored stays the team’s.
        </p>
      </Confirm>
    )
  }
  return (
    <Confirm title={`Take ${username} out of ${team}?`} action="Take out" failure="They are still in it." {...asked}>
      <p>
        Their keys open no project of {team} any more, from the next request on. What they stored there stays the
        team’s.
      </p>
    </Confirm>
  )
}
