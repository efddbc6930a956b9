/** Nothing here yet: what appears here, and the next step. */
import type { ReactNode } from "react"
import { LiveDot } from "../signs/live-dot.tsx"
import { Cloth } from "./cloth.tsx"
import styles from "./empty.module.css"

interface EmptyProps {
  title: string
  children: ReactNode
  actions?: ReactNode
  /** The event that the page waits for, if it changes by itself. */
  waitingFor?: string
}

export function Empty({ title, children, actions, waitingFor }: EmptyProps) {
  return (
    <div className={styles.empty}>
      <Cloth />
      <div className={styles.words}>
        <h3 className={styles.title}>{title}</h3>
        <div className={styles.text}>{children}</div>
        {actions !== undefined && <div className={styles.actions}>{actions}</div>}
        {waitingFor !== undefined && (
          <p className={styles.waiting}>
            <LiveDot kind="accent" /> waiting for {waitingFor}…
          </p>
        )}
      </div>
    </div>
  )
}
