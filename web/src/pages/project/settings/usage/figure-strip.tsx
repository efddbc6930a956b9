/** Figures side by side: a total each, with its name. */
import type { ReactNode } from "react"
import styles from "./figure-strip.module.css"

export function FigureStrip({ label, children }: { label: string; children: ReactNode }) {
  return (
    <div className={styles.strip} role="group" aria-label={label}>
      {children}
    </div>
  )
}

interface FigureProps {
  name: string
  note?: string | undefined
  children: ReactNode
}

export function Figure({ name, note, children }: FigureProps) {
  return (
    <div className={styles.figure}>
      <span className={styles.label}>{name}</span>
      <span className={styles.value}>{children}</span>
      {note !== undefined && <span className={styles.label}>{note}</span>}
    </div>
  )
}
