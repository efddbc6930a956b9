import type { ReactNode } from "react"
import { classNames } from "../../components/class-names.ts"
import styles from "./sample.module.css"

/** One cell of the gallery. */
export function Sample({ title, isWide = false, children }: { title: string; isWide?: boolean; children: ReactNode }) {
  return (
    <section className={classNames(styles.sample, isWide && styles.wide)}>
      <h2 className={styles.title}>{title}</h2>
      <div className={styles.body}>{children}</div>
    </section>
  )
}

/** Things beside each other. */
export function Line({ children }: { children: ReactNode }) {
  return <div className={styles.line}>{children}</div>
}
