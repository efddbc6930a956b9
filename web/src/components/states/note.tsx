/** A sentence in its place that stays: a hint, a warning, an error with the way out. */
import { CircleAlert, CircleCheck, Info, type LucideIcon, TriangleAlert } from "lucide-react"
import type { ReactNode } from "react"
import { classNames } from "../class-names.ts"
import { Icon } from "../signs/icon.tsx"
import styles from "./note.module.css"

type NoteKind = "plain" | "accent" | "good" | "warn" | "bad"

const icons: Record<NoteKind, LucideIcon> = {
  plain: Info,
  accent: Info,
  good: CircleCheck,
  warn: TriangleAlert,
  bad: CircleAlert,
}

interface NoteProps {
  kind?: NoteKind
  icon?: LucideIcon
  title?: ReactNode
  children?: ReactNode
  actions?: ReactNode
}

export function Note({ kind = "plain", icon = icons[kind], title, children, actions }: NoteProps) {
  return (
    <div className={classNames(styles.note, styles[kind])} role={kind === "bad" ? "alert" : undefined}>
      <Icon of={icon} size={14} className={styles.icon} />
      <div className={styles.words}>
        {title !== undefined && <strong className={styles.title}>{title} </strong>}
        {children}
        {actions !== undefined && <div className={styles.actions}>{actions}</div>}
      </div>
    </div>
  )
}
