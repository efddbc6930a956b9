/** Sets one quota of a team, or goes back to what every team has. */
import type { TeamQuotas } from "@heddle/server/wire/platform/quota.ts"
import { useState } from "react"
import { useChangeQuota } from "../../../../api/organization/quotas.ts"
import { Button } from "../../../../components/controls/button.tsx"
import { TextField } from "../../../../components/controls/field.tsx"
import { FormDialog } from "../../../../components/layers/form-dialog.tsx"
import { ErrorNote } from "../../../../components/states/error-note.tsx"
import { formatQuota, quotaWords, readQuota } from "./quota-words.ts"

interface ChangeQuotaProps {
  team: string
  quota: TeamQuotas["quotas"][number]
  onClose: () => void
}

export function ChangeQuota({ team, quota: { name, limit, used, is_default: isDefault }, onClose }: ChangeQuotaProps) {
  const words = quotaWords[name]
  const [typed, setTyped] = useState(`${limit / words.ofUnit}`)
  const change = useChangeQuota(team)
  const read = readQuota(name, typed)
  const set = (value: number | null) => change.mutate({ [name]: value }, { onSuccess: onClose })
  const submit = () => {
    if (typeof read === "number") set(read)
  }
  return (
    <FormDialog
      title={`${words.name} of ${team}`}
      width={400}
      action="Set"
      isReady={typeof read !== "string"}
      isPending={change.isPending}
      onSubmit={submit}
      onClose={onClose}
      otherActions={
        !isDefault && (
          <Button kind="quiet" onClick={() => set(null)} disabled={change.isPending}>
            As for every team
          </Button>
        )
      }
    >
      <TextField
        label={`At most, in ${words.unit}`}
        autoFocus
        inputMode="decimal"
        value={typed}
        onChange={(event) => setTyped(event.target.value)}
        hint={hintOf(used === null || typeof read !== "number" ? null : used - read, name)}
        error={typeof read === "string" ? read : undefined}
      />
      {change.error && <ErrorNote what="The quota is as it was." error={change.error} />}
    </FormDialog>
  )
}

/** `over`: how much more is used than that; null: not known. */
function hintOf(over: number | null, name: Parameters<typeof formatQuota>[0]): string | undefined {
  if (over === null || over <= 0) return undefined
  return `${formatQuota(name, over)} less than what is used: nothing is deleted, and nothing more goes in.`
}
