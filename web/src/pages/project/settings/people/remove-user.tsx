/** Removes a user who left, after saying what that takes from them and what stays. */
import type { User } from "@heddle/server/wire/platform/account.ts"
import { useState } from "react"
import { useRemoveUser } from "../../../../api/organization/organization.ts"
import { Button } from "../../../../components/controls/button.tsx"
import { Confirm } from "../../../../components/layers/confirm.tsx"

export function RemoveUser({ user: { username, default_entity: own, entities } }: { user: User }) {
  const [isConfirming, setConfirming] = useState(false)
  const remove = useRemoveUser()
  const teams = entities.filter((entity) => entity !== own)
  return (
    <>
      <Button size="small" kind="quiet" aria-label={`Remove ${username}`} onClick={() => setConfirming(true)}>
        Remove…
      </Button>
      {isConfirming && (
        <Confirm
          title={`Remove ${username}?`}
          action={`Remove ${username}`}
          failure="The user is as before."
          change={remove}
          onConfirm={() => remove.mutate(username, { onSuccess: () => setConfirming(false) })}
          onClose={() => setConfirming(false)}
        >
          <p>
            {teams.length === 0 ? "They are in no team. " : `They leave ${teams.join(", ")}. `}
            Every key of theirs ends at once, and they are disabled. Enabling them later gives back no team and no key.
          </p>
          <p>Kept: what they stored, and their name on it; nobody else can have that name.</p>
        </Confirm>
      )}
    </>
  )
}
