/** The question before what cannot be taken back: what becomes of what, and a button that names the thing. */
import type { ReactNode } from "react"
import { Button } from "../controls/button.tsx"
import { ErrorNote } from "../states/error-note.tsx"
import { useDelayed } from "../states/use-delayed.ts"
import styles from "./dialog-parts.module.css"
import { Dialog } from "./dialog.tsx"

interface ConfirmProps {
  /** A question: "Cancel this job?" */
  title: string
  /** On the button: verb and thing. */
  action: string
  /** The sentence to show if it fails: what was not done. */
  failure: string
  /** The change that is asked for, as a mutation holds it. */
  change: { isPending: boolean; error: Error | null }
  /** Whether what the question wants besides was given. */
  isReady?: boolean
  onConfirm: () => void
  onClose: () => void
  /** Says what is lost and what is kept. */
  children: ReactNode
}

export function Confirm({
  title,
  action,
  failure,
  change,
  isReady = true,
  onConfirm,
  onClose,
  children,
}: ConfirmProps) {
  return (
    <Dialog title={title} isOpen onClose={onClose} width={440}>
      <div className={styles.body}>
        {children}
        {change.error && <ErrorNote what={failure} error={change.error} />}
        {change.isPending && <UnderWay />}
        <div className={styles.actions}>
          <Button onClick={onClose}>{change.isPending ? "Close" : "Leave it"}</Button>
          <Button kind="danger" onClick={onConfirm} disabled={!isReady} isBusy={change.isPending}>
            {action}
          </Button>
        </div>
      </div>
    </Dialog>
  )
}

/** Closing the window calls nothing off. Most changes end before anybody could read it. */
function UnderWay() {
  const isLong = useDelayed(1000)
  return isLong ? <p role="status">Under way. It goes on when this window is closed.</p> : null
}
