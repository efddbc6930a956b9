/** A lucide icon in the sizes of the design. Beside a word it is hidden from readers; alone it needs a name. */
import type { LucideIcon } from "lucide-react"
import { classNames } from "../class-names.ts"
import styles from "./icon.module.css"

export interface IconProps {
  of: LucideIcon
  size?: 16 | 14 | 12
  /** Only for an icon that stands alone. */
  name?: string
  className?: string | undefined
}

export function Icon({ of: Shape, size = 16, name, className }: IconProps) {
  const label = name === undefined ? { "aria-hidden": true as const } : { role: "img", "aria-label": name }
  return <Shape size={size} strokeWidth={1.75} className={classNames(styles.icon, className)} {...label} />
}
