/** Sets one quota of a team, or goes back to what every team has. */
import type { TeamQuotas } from "@heddle/server/wire/platform/quota.ts"
import { type FormEvent, useState } from "react"
import { useChangeQuota } from "../../../../api/quotas.ts"
import { Button } from "../../../../components/controls/button.tsx"
import { TextField } from "../../../../components/controls/field.tsx"
import { Dialog } from "../../../../components/layers/dialog.tsx"
import { ErrorNote } from "../../../../components/states/error-note.tsx"
import styles from "./change-quota.module.css"
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
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (typeof read === "number") set(read)
  }
  return (
    <Dialog title={`${words.name} of ${team}`} isOpen onClose={onClose} width={400}>
      <form className={styles.form} onSubmit={submit}>
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
        <div className={styles.actions}>
          {!isDefault && (
            <Button kind="quiet" onClick={() => set(null)} disabled={change.isPending}>
              As for every team
            </Button>
          )}
          <Button onClick={onClose}>Leave it</Button>
          <Button kind="primary" type="submit" disabled={typeof read === "string" || change.isPending}>
            Set
          </Button>
        </div>
      </form>
    </Dialog>
  )
}

/** `over`: how much more is used than that; null: not known. */
function hintOf(over: number | null, name: Parameters<typeof formatQuota>[0]): string | undefined {
  if (over === null || over <= 0) return undefined
  return `${formatQuota(name, over)} less than what is used: nothing is deleted, and nothing more goes in.`
}
