/** How long the item in hand is kept from others. It is prolonged while somebody works; near its end that is said. */
import { useNow } from "../../../../clock/use-now.ts"
import { classNames } from "../../../../components/class-names.ts"
import styles from "./lease-ring.module.css"

interface LeaseRingProps {
  /** In this browser's milliseconds; null: not known yet. */
  end: number | null
  /** The whole lease. */
  seconds: number
  isShort: boolean
}

const lowSeconds = 60
const circle = 2 * Math.PI * 6

export function LeaseRing({ end, seconds, isShort }: LeaseRingProps) {
  const now = useNow(1)
  if (end === null) return null
  const left = Math.min(seconds, Math.max(0, Math.round((end - now) / 1000)))
  const isLow = left < Math.min(lowSeconds, seconds / 2)
  const time = clock(left)
  const words =
    left === 0
      ? "Your time is over; any key asks for it again"
      : isLow
        ? `Yours for ${time}; any key prolongs it`
        : isShort
          ? time
          : `yours for ${time}`
  return (
    <span
      className={classNames(styles.lease, isLow && styles.low)}
      title="Nobody else is handed the item until then; it is prolonged while you work"
      role={isLow ? "status" : undefined}
    >
      <svg width="16" height="16" viewBox="0 0 16 16" aria-hidden>
        <circle className={styles.track} cx="8" cy="8" r="6" />
        <circle
          className={styles.left}
          cx="8"
          cy="8"
          r="6"
          strokeDasharray={circle}
          strokeDashoffset={circle * (1 - left / seconds)}
          transform="rotate(-90 8 8)"
        />
      </svg>
      {words}
    </span>
  )
}

function clock(seconds: number): string {
  const hours = Math.floor(seconds / 3600)
  const rest = `${String(Math.floor((seconds % 3600) / 60)).padStart(hours > 0 ? 2 : 1, "0")}:${String(seconds % 60).padStart(2, "0")}`
  return hours > 0 ? `${hours}:${rest}` : rest
}
