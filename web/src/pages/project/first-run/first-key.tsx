/** A key for the program that sends the first call: made on demand, shown until the page is left. */
import { Eye, EyeOff, KeyRound } from "lucide-react"
import type { CreatedApiKey } from "../../../api/organization/api-keys.ts"
import { Button } from "../../../components/controls/button.tsx"
import { CopyButton } from "../../../components/controls/copy-button.tsx"
import { Icon } from "../../../components/signs/icon.tsx"
import { ErrorNote } from "../../../components/states/error-note.tsx"
import styles from "./first-key.module.css"

interface FirstKeyProps {
  created: CreatedApiKey | undefined
  isShown: boolean
  onShow: (isShown: boolean) => void
  onMake: () => void
  isPending: boolean
  error: Error | null
}

export function FirstKey({ created, isShown, onShow, onMake, isPending, error }: FirstKeyProps) {
  return (
    <>
      <div className={styles.key}>
        <Icon of={KeyRound} />
        <div className={styles.words}>
          {created === undefined ? (
            <>
              <span className={styles.title}>The program needs a key of its own</span>
              <span className={styles.note}>
                It stands in the code above once it is made, and may do what you may do.
              </span>
            </>
          ) : (
            <>
              <code className={styles.value}>{isShown ? created.value : shownKey(created.value)}</code>
              <span className={styles.note}>
                key “{created.name}” of {created.username}. It is shown until you leave this page.
              </span>
            </>
          )}
        </div>
        {created === undefined ? (
          <Button kind="primary" onClick={onMake} disabled={isPending}>
            {isPending ? "Making…" : "Make a key"}
          </Button>
        ) : (
          <>
            <Button size="small" icon={isShown ? EyeOff : Eye} onClick={() => onShow(!isShown)}>
              {isShown ? "Hide" : "Show"}
            </Button>
            <CopyButton text={created.value} label="Copy the key" isWordy />
          </>
        )}
      </div>
      {error && <ErrorNote what="No key was made." error={error} onRetry={onMake} />}
    </>
  )
}

/** The two ends of a key. */
export function shownKey(key: string): string {
  return `${key.slice(0, 6)}…${key.slice(-4)}`
}
