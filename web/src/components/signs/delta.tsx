/**
 * A change: arrow, value and sign; in brackets the interval, when there is one. It has a colour only when it is sure,
 * which is when its interval leaves out 0, and when a direction is better.
 */
import { ArrowDown, ArrowUp, Equal } from "lucide-react"
import { formatChange, formatInterval } from "../../format/numbers.ts"
import { classNames } from "../class-names.ts"
import { Icon } from "./icon.tsx"
import styles from "./delta.module.css"

interface DeltaProps {
  value: number
  /** 95 % interval; without one nothing is known of how sure the change is. */
  interval?: readonly [number, number]
  /** Which way is better; undefined: neither. */
  better?: "up" | "down"
  decimals?: number
}

export function Delta({ value, interval, better, decimals = 2 }: DeltaProps) {
  const isSure = interval !== undefined && (interval[0] > 0 || interval[1] < 0)
  const isUp = value > 0
  const isBetter = isUp === (better === "up")
  const color = isSure && better !== undefined ? (isBetter ? styles.good : styles.bad) : styles.unsure
  const icon = value === 0 ? Equal : isUp ? ArrowUp : ArrowDown
  return (
    <span className={classNames(styles.delta, color)}>
      <Icon of={icon} size={12} />
      {formatChange(value, decimals)}
      {interval && <span className={styles.interval}>{formatInterval(interval[0], interval[1], decimals)}</span>}
    </span>
  )
}
