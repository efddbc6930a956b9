/** Words for screen readers alone. */
import type { ReactNode } from "react"
import styles from "./for-readers.module.css"

export function ForReaders({ children }: { children: ReactNode }) {
  return <span className={styles.hidden}>{children}</span>
}
