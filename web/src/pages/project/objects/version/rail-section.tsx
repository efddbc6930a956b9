/** A part of the rail below the versions. */
import type { ReactNode } from "react"
import styles from "./rail-section.module.css"

export function RailSection({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section className={styles.section} aria-label={title}>
      <h2 className={styles.title}>{title}</h2>
      {children}
    </section>
  )
}

export function RailList({ children }: { children: ReactNode }) {
  return <ul className={styles.list}>{children}</ul>
}

export function RailNote({ children }: { children: ReactNode }) {
  return <p className={styles.note}>{children}</p>
}
