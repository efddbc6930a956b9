/** Makes a link that lets one person into a team. It is shown once. */
import type { MemberRole } from "@heddle/server/wire/platform/access.ts"
import { type FormEvent, useState } from "react"
import { useInvite } from "../../../../api/organization/organization.ts"
import { serverUrl } from "../../../../base-path.ts"
import { useNow } from "../../../../clock/use-now.ts"
import { Button } from "../../../../components/controls/button.tsx"
import { CopyButton } from "../../../../components/controls/copy-button.tsx"
import { SelectField } from "../../../../components/controls/field.tsx"
import { Dialog } from "../../../../components/layers/dialog.tsx"
import { Time } from "../../../../components/signs/time.tsx"
import { ErrorNote } from "../../../../components/states/error-note.tsx"
import styles from "./invite.module.css"
import { memberRoles, roleWords } from "./role-words.ts"

const dayMs = 24 * 60 * 60 * 1000
const lives = { "a day": 1, "a week": 7, "30 days": 30 } as const
type Life = keyof typeof lives

export function Invite({ team, onClose }: { team: string; onClose: () => void }) {
  const [role, setRole] = useState<MemberRole>("member")
  const [life, setLife] = useState<Life>("a week")
  const invite = useInvite()
  const now = useNow(60)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    invite.mutate({ team, role, expires_at: new Date(now + lives[life] * dayMs).toISOString() })
  }
  const made = invite.data
  // The link is shown once: the window stays while it is made, too.
  const isRequired = invite.isPending || made !== undefined
  return (
    <Dialog title={`Invite into ${team}`} isOpen onClose={onClose} width={520} isRequired={isRequired}>
      {made !== undefined ? (
        <div className={styles.form}>
          <p>
            Send this link to one person, who will be <b>{made.role}</b>. It works once, until{" "}
            <Time at={made.expires_at} />, and cannot be shown again.
          </p>
          <div className={styles.link}>
            <code>{linkOf(made.token)}</code>
            <CopyButton text={linkOf(made.token)} label="Copy the invitation" isWordy />
          </div>
          <div className={styles.actions}>
            <Button kind="primary" onClick={onClose}>
              Done
            </Button>
          </div>
        </div>
      ) : (
        <form className={styles.form} onSubmit={submit}>
          <SelectField
            label="Role"
            value={role}
            hint={`May: ${roleWords[role]}.`}
            onChange={(event) => setRole(event.target.value as MemberRole)}
          >
            {memberRoles.map((one) => (
              <option key={one}>{one}</option>
            ))}
          </SelectField>
          <SelectField label="Works for" value={life} onChange={(event) => setLife(event.target.value as Life)}>
            {Object.keys(lives).map((one) => (
              <option key={one}>{one}</option>
            ))}
          </SelectField>
          {invite.error !== null && <ErrorNote what="Nobody was invited." error={invite.error} />}
          <div className={styles.actions}>
            <Button onClick={onClose} disabled={invite.isPending}>
              Leave it
            </Button>
            <Button kind="primary" type="submit" disabled={invite.isPending}>
              Make the link
            </Button>
          </div>
        </form>
      )}
    </Dialog>
  )
}

/** Behind the #, which is not sent to servers. */
function linkOf(token: string): string {
  return `${serverUrl}/login#invitation=${token}`
}
