/** Long work: what it is, how far, how long still, and a way to stop it that says what stopping costs. */
import type { LucideIcon } from "lucide-react"
import type { ReactNode } from "react"
import { formatEstimate } from "../../format/durations.ts"
import { Icon } from "../signs/icon.tsx"
import { Meter } from "../signs/meter.tsx"
import styles from "./progress-row.module.css"

interface ProgressRowProps {
  icon: LucideIcon
  title: ReactNode
  /** From 0 to 1; null: not known yet. */
  share: number | null
  /** null: not known yet. */
  leftMs?: number | null
  /** In the units of the work: "38 of 61 gradient steps". */
  detail: ReactNode
  actions?: ReactNode
}

export function ProgressRow({ icon, title, share, leftMs, detail, actions }: ProgressRowProps) {
  return (
    <div className={styles.progress}>
      <div className={styles.head}>
        <Icon of={icon} size={14} className={styles.icon} />
        <span className={styles.title}>{title}</span>
        {leftMs != null && <span className={styles.left}>{formatEstimate(leftMs)} left</span>}
      </div>
      <Meter share={share} label={typeof title === "string" ? title : "Progress"} />
      <div className={styles.foot}>
        <span>{detail}</span>
        {actions}
      </div>
    </div>
  )
}
