/** The head of a section: its name, what it is about, its actions. */
import type { ReactNode } from "react"
import styles from "./section-head.module.css"

interface SectionHeadProps {
  title: string
  /** A part of a section. */
  isSmall?: boolean
  children?: ReactNode
  actions?: ReactNode
}

export function SectionHead({ title, isSmall = false, children, actions }: SectionHeadProps) {
  return (
    <header className={styles.head}>
      <div className={styles.words}>
        {isSmall ? <h3 className={styles.small}>{title}</h3> : <h2 className={styles.title}>{title}</h2>}
        {children !== undefined && <p className={styles.text}>{children}</p>}
      </div>
      {actions !== undefined && <div className={styles.actions}>{actions}</div>}
    </header>
  )
}
