/** Asks before somebody is taken out of a team. */
import { useRemoveMember } from "../../../../api/organization/organization.ts"
import { Confirm } from "../../../../components/layers/confirm.tsx"

interface ConfirmTakeOutProps {
  team: string
  username: string
  onClose: () => void
}

export function ConfirmTakeOut({ team, username, onClose }: ConfirmTakeOutProps) {
  const remove = useRemoveMember()
  return (
    <Confirm
      title={`Take ${username} out of ${team}?`}
      action="Take out"
      failure="They are still in it."
      change={remove}
      onConfirm={() => remove.mutate({ team, username })}
      onClose={onClose}
    >
      <p>
        Their keys open no project of {team} any more, from the next request on. What they stored there stays the
        team’s.
      </p>
    </Confirm>
  )
}
