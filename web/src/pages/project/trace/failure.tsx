/** Why a call failed: the last line, which says what happened, and the way there on demand. */
import { Note } from "../../../components/states/note.tsx"
import { CopyButton } from "../../../components/controls/copy-button.tsx"
import { counted } from "../../../format/counted.ts"
import styles from "./failure.module.css"

export function Failure({ exception }: { exception: string }) {
  const lines = exception.trim().split("\n")
  const last = lines.at(-1) ?? exception
  return (
    <div className={styles.failure}>
      <Note kind="bad" title={last}>
        {lines.length > 1 && (
          <details>
            <summary className={styles.summary}>The way there, {counted(lines.length - 1, "line")}</summary>
            <pre className={styles.stack} tabIndex={0}>
              {exception}
            </pre>
            <CopyButton text={exception} label="Copy the exception" isWordy />
          </details>
        )}
      </Note>
    </div>
  )
}
