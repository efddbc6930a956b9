/** A part of a page under a head that folds it. What is folded is not drawn, so it reads nothing. */
import { ChevronRight } from "lucide-react"
import { type ReactNode, useState } from "react"
import { classNames } from "../class-names.ts"
import { Icon } from "../signs/icon.tsx"
import styles from "./fold.module.css"

interface FoldProps {
  title: string
  count: number
  /** At the end of the head. */
  note?: string | undefined
  isOpenAtFirst: boolean
  onToggle?: ((isOpen: boolean) => void) | undefined
  children: ReactNode
}

export function Fold({ title, count, note, isOpenAtFirst, onToggle, children }: FoldProps) {
  const [isOpen, setOpen] = useState(isOpenAtFirst)
  const toggle = () => {
    setOpen(!isOpen)
    onToggle?.(!isOpen)
  }
  return (
    <section aria-label={title}>
      <h2 className={styles.head}>
        <button type="button" className={styles.fold} aria-expanded={isOpen} onClick={toggle}>
          <Icon of={ChevronRight} size={14} className={classNames(styles.arrow, isOpen && styles.open)} />
          {title} <span className={styles.count}>{count}</span>
          {note !== undefined && <span className={styles.note}>{note}</span>}
        </button>
      </h2>
      {isOpen && children}
    </section>
  )
}
