/** The question before what cannot be taken back: what becomes of what, and a button that names the thing. */
import type { ReactNode } from "react"
import { Button } from "../controls/button.tsx"
import { ErrorNote } from "../states/error-note.tsx"
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
        <div className={styles.actions}>
          <Button onClick={onClose}>Leave it</Button>
          <Button kind="danger" onClick={onConfirm} disabled={change.isPending || !isReady}>
            {action}
          </Button>
        </div>
      </div>
    </Dialog>
  )
}
