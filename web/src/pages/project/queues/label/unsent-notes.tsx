/** Answers that the server does not have yet, and those it refused: in sight until they are solved. */
import { CloudUpload } from "lucide-react"
import { ApiError } from "../../../../api/api-error.ts"
import { Button } from "../../../../components/controls/button.tsx"
import { ErrorNote } from "../../../../components/states/error-note.tsx"
import { Note } from "../../../../components/states/note.tsx"
import type { Work } from "./labelling.tsx"
import { counted, nounOf } from "../../../../format/counted.ts"
import styles from "./unsent-notes.module.css"

export function UnsentNotes({ state, session }: Pick<Work, "state" | "session">) {
  const waiting = state.waiting.filter(({ refusal }) => refusal === null)
  const refused = state.waiting.filter(({ refusal }) => refusal !== null)
  if (state.error === null && refused.length === 0) return null
  const count = waiting.length
  return (
    <div className={styles.notes}>
      {state.error !== null &&
        state.phase !== "refused" &&
        (count === 0 ? (
          <ErrorNote
            what="The server could not be asked for items."
            error={state.error}
            onRetry={() => session.retry()}
          />
        ) : (
          <ErrorNote
            what={`${counted(count, "item waits", "items wait")} to be sent; ${nounOf(count, "it is", "they are")} kept on this device.`}
            error={state.error}
            onRetry={() => session.retry()}
          />
        ))}
      {refused.map(({ item, text, refusal }) => (
        <div key={item.id} className={styles.refused}>
          <ErrorNote
            what={`“${text}” was not stored.`}
            error={new ApiError(refusal?.message ?? "", refusal ?? { status: 0, code: "unknown" })}
          />
          <div className={styles.actions}>
            <Button size="small" onClick={() => session.reopen(item.id)}>
              Open it again
            </Button>
            <Button size="small" kind="quiet" onClick={() => session.giveUp(item.id)}>
              Do not send it
            </Button>
          </div>
        </div>
      ))}
      {refused.length > 0 && (
        <Note icon={CloudUpload}>What you chose and wrote there is kept on this device until you decide.</Note>
      )}
    </div>
  )
}
