/** Names with their values, one a line. */
import type { ReactNode } from "react"
import styles from "./key-values.module.css"

export function KeyValues({ children }: { children: ReactNode }) {
  return <dl className={styles.list}>{children}</dl>
}

export function KeyValue({ name, children }: { name: string; children: ReactNode }) {
  return (
    <>
      <dt className={styles.name}>{name}</dt>
      <dd className={styles.value}>{children}</dd>
    </>
  )
}
