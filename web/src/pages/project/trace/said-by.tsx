/** One who said or did something in a chat, beside what it was. */
import type { LucideIcon } from "lucide-react"
import type { ReactNode } from "react"
import { Icon } from "../../../components/signs/icon.tsx"
import styles from "./said-by.module.css"

interface SaidByProps {
  icon: LucideIcon
  name: string
  /** The whole name, where `name` may be cut. */
  title?: string | undefined
  children: ReactNode
}

export function SaidBy({ icon, name, title, children }: SaidByProps) {
  return (
    <li className={styles.message}>
      <span className={styles.who}>
        <Icon of={icon} size={14} />
        <span className={styles.name} title={title}>
          {name}
        </span>
      </span>
      {children}
    </li>
  )
}
