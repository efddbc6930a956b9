/** A part of a page with a head of its own; what is in it scrolls alone. */
import type { ReactNode } from "react"
import { classNames } from "../class-names.ts"
import styles from "./pane.module.css"

interface PaneProps {
  title: string
  /** Beside the title: a count, a range. */
  note?: ReactNode
  tools?: ReactNode
  /** Grows with its content instead of scrolling. */
  isOpenEnded?: boolean
  children: ReactNode
}

export function Pane({ title, note, tools, isOpenEnded = false, children }: PaneProps) {
  return (
    <section className={styles.pane} aria-label={title}>
      <PaneHead title={title} note={note} tools={tools} />
      {isOpenEnded ? (
        <div className={styles.body}>{children}</div>
      ) : (
        // The keyboard must reach what scrolls, which may hold no link or button.
        <div className={classNames(styles.body, styles.scrolls)} tabIndex={0}>
          {children}
        </div>
      )}
    </section>
  )
}

export function PaneHead({ title, note, tools }: Pick<PaneProps, "title" | "note" | "tools">) {
  return (
    <div className={styles.head}>
      <h2 className={styles.title}>{title}</h2>
      {note !== undefined && <span className={styles.note}>{note}</span>}
      {tools !== undefined && <span className={styles.tools}>{tools}</span>}
    </div>
  )
}
