/** What lists of things that runs of the wandb client logged have in common: the list, its names, and what is shown without any. */
import type { ReactNode } from "react"
import styles from "./logged-list.module.css"

export function LoggedList({ children }: { children: ReactNode }) {
  return <div className={styles.list}>{children}</div>
}

/** Ends with the code that logs a first one. */
export function NothingLogged({ children }: { children: ReactNode }) {
  return <div className={styles.none}>{children}</div>
}

/** Class of the link with the name of each. */
export const loggedName = styles.title
