/** A point in time: short by how long ago it is; the whole of it, with the zone and how long ago, on hover. */
import { formatAgo, formatClock, formatMoment, formatTime, formatWholeTime } from "../../format/times.ts"

interface TimeProps {
  at: string | Date
  /**
   * `clock`: always hours to milliseconds, for rows that are close together; `moment`: the time of day and, unless it is
   * today, the day, for rows of any age.
   */
  show?: "short" | "ago" | "clock" | "moment"
}

const shapes = {
  short: formatTime,
  ago: formatAgo,
  clock: (time: Date) => formatClock(time, {}, true),
  moment: formatMoment,
}

export function Time({ at, show = "short" }: TimeProps) {
  const time = new Date(at)
  return (
    <time dateTime={time.toISOString()} title={`${formatWholeTime(time)}, ${formatAgo(time)}`}>
      {shapes[show](time)}
    </time>
  )
}
