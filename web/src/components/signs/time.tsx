/** A point in time: short by how long ago it is; the whole of it, with the zone and how long ago, on hover. */
import { formatAgo, formatClock, formatTime, formatWholeTime } from "../../format/times.ts"

interface TimeProps {
  at: string | Date
  /** `clock`: always hours to milliseconds, for rows that are close together. */
  show?: "short" | "ago" | "clock"
}

export function Time({ at, show = "short" }: TimeProps) {
  const time = new Date(at)
  const text = show === "ago" ? formatAgo(time) : show === "clock" ? formatClock(time, {}, true) : formatTime(time)
  return (
    <time dateTime={time.toISOString()} title={`${formatWholeTime(time)}, ${formatAgo(time)}`}>
      {text}
    </time>
  )
}
