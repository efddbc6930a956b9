/** A key that was just made: the only time that it can be read. It stays until somebody says that it is kept. */
import { KeyRound } from "lucide-react"
import type { CreatedApiKey } from "../../../../api/organization/api-keys.ts"
import { Button } from "../../../../components/controls/button.tsx"
import { CopyButton } from "../../../../components/controls/copy-button.tsx"
import { Icon } from "../../../../components/signs/icon.tsx"
import { LiveDot } from "../../../../components/signs/live-dot.tsx"
import { Status } from "../../../../components/signs/status.tsx"
import { Time } from "../../../../components/signs/time.tsx"
import { scopeWords } from "./key-scopes.ts"
import styles from "./made-key.module.css"

interface MadeKeyProps {
  made: CreatedApiKey
  lastUse: string | null
  onDone: () => void
}

export function MadeKey({ made, lastUse, onDone }: MadeKeyProps) {
  return (
    <section className={styles.box} aria-label={`The new key ${made.name}`}>
      <div className={styles.head}>
        <Icon of={KeyRound} size={14} />
        <b>{made.name}</b>
        <span className={styles.note}>
          of {made.username}, for {scopeWords[made.scope].name}
          {made.expires_at !== null && (
            <>
              , until <Time at={made.expires_at} />
            </>
          )}
        </span>
        <span className={styles.once}>Copy it now; it cannot be shown again.</span>
      </div>
      <div className={styles.row}>
        <code className={styles.value}>{made.value}</code>
        <CopyButton text={made.value} label="Copy the key" isWordy />
        <Button size="small" kind="quiet" onClick={onDone}>
          Done
        </Button>
      </div>
      <p className={styles.note} role="status">
        {lastUse === null ? (
          <span className={styles.waiting}>
            <LiveDot kind="accent" /> waiting for its first use, which shows within a minute
          </span>
        ) : (
          <Status of="ok">it is in use</Status>
        )}
      </p>
    </section>
  )
}
