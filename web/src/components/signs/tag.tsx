/** A small word beside a thing; `alias` is one that can be moved. */
import { Flag, type LucideIcon } from "lucide-react"
import type { ReactNode } from "react"
import { classNames } from "../class-names.ts"
import { Icon } from "./icon.tsx"
import styles from "./tag.module.css"

interface TagProps {
  kind?: "plain" | "good" | "warn" | "bad" | "accent" | "alias"
  isMono?: boolean
  icon?: LucideIcon
  title?: string
  children: ReactNode
}

export function Tag({ kind = "plain", isMono = false, icon, title, children }: TagProps) {
  const shown = icon ?? (kind === "alias" ? Flag : undefined)
  return (
    <span className={classNames(styles.tag, styles[kind], isMono && styles.mono)} title={title}>
      {shown && <Icon of={shown} size={12} />}
      {children}
    </span>
  )
}
