/** The state of a thing: icon and word, never a colour alone. */
import {
  CircleCheck,
  CircleDashed,
  CirclePause,
  CircleSlash,
  CircleX,
  Loader,
  type LucideIcon,
  TriangleAlert,
} from "lucide-react"
import type { ReactNode } from "react"
import { classNames } from "../class-names.ts"
import { Icon } from "./icon.tsx"
import styles from "./status.module.css"

export type StatusKind =
  | "ok"
  | "error"
  | "running"
  | "queued"
  | "paused"
  | "succeeded"
  | "failed"
  | "cancelled"
  | "warning"

const looks: Record<StatusKind, [LucideIcon, string | undefined]> = {
  ok: [CircleCheck, styles.good],
  succeeded: [CircleCheck, styles.good],
  error: [CircleX, styles.bad],
  failed: [CircleX, styles.bad],
  running: [Loader, styles.live],
  queued: [CircleDashed, styles.dim],
  paused: [CirclePause, styles.dim],
  cancelled: [CircleSlash, styles.dim],
  warning: [TriangleAlert, styles.warn],
}

export function Status({ of, children }: { of: StatusKind; children?: ReactNode }) {
  const [icon, color] = looks[of]
  return (
    <span className={classNames(styles.status, color)}>
      <Icon of={icon} size={14} className={of === "running" ? styles.turning : undefined} />
      <span>{children ?? of}</span>
    </span>
  )
}

/** The icon alone, where the word stands beside it already. */
export function StatusIcon({ of, name }: { of: StatusKind; name?: string }) {
  const [icon, color] = looks[of]
  return (
    <Icon
      of={icon}
      className={classNames(color, of === "running" && styles.turning)}
      {...(name === undefined ? {} : { name })}
    />
  )
}
