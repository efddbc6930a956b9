/**
 * An error where it happened, until it is solved: what could not be done, why, the way out, and the request's id for
 * whoever looks into the server's log.
 */
import { WifiOff } from "lucide-react"
import { ApiError } from "../../api/api-error.ts"
import { Button } from "../controls/button.tsx"
import { CopyButton } from "../controls/copy-button.tsx"
import { Note } from "./note.tsx"
import styles from "./error-note.module.css"

interface ErrorNoteProps {
  /** What could not be done, as a sentence: "The calls could not be read." */
  what: string
  error: Error
  /** Tries again. */
  onRetry?: (() => void) | undefined
}

export function ErrorNote({ what, error, onRetry }: ErrorNoteProps) {
  const isOffline = error instanceof ApiError && error.status === 0
  const requestId = error instanceof ApiError ? error.requestId : null
  const actions = (
    <>
      {onRetry && (
        <Button size="small" onClick={onRetry}>
          Try again
        </Button>
      )}
      {requestId !== null && (
        <span className={styles.request}>
          request <code>{requestId}</code> <CopyButton text={requestId} label="Copy the request's id" />
        </span>
      )}
    </>
  )
  return (
    <Note
      kind={isOffline ? "warn" : "bad"}
      {...(isOffline ? { icon: WifiOff } : {})}
      title={what}
      actions={onRetry !== undefined || requestId !== null ? actions : undefined}
    >
      {error.message}
    </Note>
  )
}
