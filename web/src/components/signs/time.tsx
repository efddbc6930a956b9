/** A point in time: short by how long ago it is; the whole of it, with the zone and how long ago, on hover. */
import { useNow } from "../../clock/use-now.ts"
import { formatAgo, formatClock, formatMoment, formatTime, formatWholeTime } from "../../format/times.ts"

const shapes = {
  short: formatTime,
  clock: (time: Date) => formatClock(time, {}, true),
  moment: formatMoment,
}

interface TimeProps {
  at: string | Date
  /**
   * `clock`: always hours to milliseconds, for rows that are close together; `moment`: the time of day and, unless it is
   * today, the day, for rows of any age; `ago`: how long ago, which goes on while it is shown.
   */
  show?: keyof typeof shapes | "ago"
}

export function Time({ at, show = "short" }: TimeProps) {
  const time = new Date(at)
  const whole = formatWholeTime(time)
  if (show === "ago") {
    return (
      <time dateTime={time.toISOString()} title={whole}>
        <Ago time={time} />
      </time>
    )
  }
  return (
    <time dateTime={time.toISOString()} title={`${whole}, ${formatAgo(time)}`}>
      {shapes[show](time)}
    </time>
  )
}

const stepSeconds = 10

function Ago({ time }: { time: Date }) {
  const now = useNow(stepSeconds)
  // The clock is up to a step behind: what is later by less than that was just now.
  const ahead = time.getTime() - now
  return formatAgo(time, { now: ahead > 0 && ahead < stepSeconds * 1000 ? time : new Date(now) })
}
