/**
 * A window over the page. It closes with Esc and, unless it is typed into, by a click beside it; whoever opened it says what
 * becomes of that.
 */
import type { ReactNode } from "react"
import { Dialog as AriaDialog, Heading, Modal, ModalOverlay } from "react-aria-components"
import { classNames } from "../class-names.ts"
import styles from "./dialog.module.css"

interface DialogProps {
  title: string
  /** For readers only, where the content says what it is. */
  isTitleHidden?: boolean
  isOpen: boolean
  onClose: () => void
  /** Only what the dialog asks for closes it: there is no way back without it. */
  isRequired?: boolean
  /** It is typed into: a click beside it closes nothing, since what was typed would be gone. */
  isForm?: boolean
  width?: number
  /** Near the top of the window, for what is typed into. */
  isHigh?: boolean
  children: ReactNode
}

export function Dialog(props: DialogProps) {
  const { title, isTitleHidden = false, isOpen, onClose, width = 560 } = props
  const { isRequired = false, isForm = false, isHigh = false } = props
  return (
    <ModalOverlay
      className={classNames(styles.veil, isHigh && styles.high)}
      isOpen={isOpen}
      onOpenChange={(open) => !open && onClose()}
      isDismissable={!isRequired && !isForm}
      isKeyboardDismissDisabled={isRequired}
    >
      <Modal className={styles.window ?? ""} style={{ width }}>
        <AriaDialog className={styles.dialog ?? ""} {...(isTitleHidden ? { "aria-label": title } : {})}>
          {!isTitleHidden && (
            <Heading slot="title" className={styles.title ?? ""}>
              {title}
            </Heading>
          )}
          {props.children}
        </AriaDialog>
      </Modal>
    </ModalOverlay>
  )
}
