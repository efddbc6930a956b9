/** Ends a key, after saying who notices. */
import type { ApiKey } from "@heddle/server/wire/platform/account.ts"
import { useState } from "react"
import { useRevokeApiKey } from "../../../../api/organization/api-keys.ts"
import { Button } from "../../../../components/controls/button.tsx"
import { Confirm } from "../../../../components/layers/confirm.tsx"
import { formatAgo } from "../../../../format/times.ts"

export function RevokeKey({ apiKey: { id, name, username, last_used_at: used } }: { apiKey: ApiKey }) {
  const [isConfirming, setConfirming] = useState(false)
  const revoke = useRevokeApiKey()
  return (
    <>
      <Button size="small" kind="quiet" aria-label={`End the key ${name}`} onClick={() => setConfirming(true)}>
        End…
      </Button>
      {isConfirming && (
        <Confirm
          title={`End the key “${name}” of ${username}?`}
          action="End key"
          failure="The key lives on."
          change={revoke}
          onConfirm={() => revoke.mutate(id)}
          onClose={() => setConfirming(false)}
        >
          <p>
            The next request with it is refused, and browsers that were signed in with it are signed out. It cannot be
            undone. {used === null ? "It was never used." : `It was last used ${formatAgo(new Date(used))}.`}
          </p>
        </Confirm>
      )}
    </>
  )
}
