/** Why a call failed: the line that says what happened, and the way there on demand. */
import { exceptionLine } from "../../../calls/call-names.ts"
import { linesOnTheWay, tracebackText } from "../../../calls/exception-traceback.ts"
import { CopyButton } from "../../../components/controls/copy-button.tsx"
import { Note } from "../../../components/states/note.tsx"
import { counted } from "../../../format/counted.ts"
import styles from "./failure.module.css"

export function Failure({ exception }: { exception: string }) {
  const way = tracebackText(exception).trim()
  const before = linesOnTheWay(exception)
  return (
    <div className={styles.failure}>
      <Note kind="bad" title={exceptionLine(exception)}>
        {before > 0 && (
          <details>
            <summary className={styles.summary}>The way there, {counted(before, "line")}</summary>
            <pre className={styles.stack} tabIndex={0}>
              {way}
            </pre>
            <CopyButton text={way} label="Copy the exception" isWordy />
          </details>
        )}
      </Note>
    </div>
  )
}
