/** A window with a form: its fields, a way out, and the button that sends it. */
import type { FormEvent, ReactNode } from "react"
import { Button } from "../controls/button.tsx"
import { Dialog } from "./dialog.tsx"
import styles from "./dialog-parts.module.css"

interface FormDialogProps {
  title: string
  width: number
  /** On the button: verb and thing. */
  action: string
  /** Whether the fields can be sent as they are. */
  isReady: boolean
  isPending: boolean
  /** What it makes is shown once: the window stays until that is there. */
  isShownOnce?: boolean
  onSubmit: () => void
  onClose: () => void
  /** Buttons ahead of the way out. */
  otherActions?: ReactNode
  /** The fields. */
  children: ReactNode
}

export function FormDialog(props: FormDialogProps) {
  const { title, width, action, isReady, isPending, onSubmit, onClose, otherActions, children } = props
  const isHeld = isPending && (props.isShownOnce ?? false)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (!isPending) onSubmit()
  }
  return (
    <Dialog title={title} isOpen onClose={onClose} width={width} isForm isRequired={isHeld}>
      <form className={styles.body} onSubmit={submit}>
        {children}
        <div className={styles.actions}>
          {otherActions}
          <Button onClick={onClose} disabled={isHeld}>
            Leave it
          </Button>
          <Button kind="primary" type="submit" disabled={!isReady} isBusy={isPending}>
            {action}
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
