/** When the calls that match began, as bars over the table. A bar is the range of time that it stands for; dragging takes several. */
import { type PointerEvent, useState } from "react"
import { classNames } from "../../../components/class-names.ts"
import { nounOf } from "../../../format/counted.ts"
import { formatCount, formatExact } from "../../../format/numbers.ts"
import { formatMoment, formatTick, formatTime } from "../../../format/times.ts"
import { timeBars } from "./time-bars.ts"
import styles from "./time-strip.module.css"
import type { TimeCounts } from "./use-time-counts.ts"

interface TimeStripProps {
  times: TimeCounts
  onRange: (from: string, to: string) => void
}

const minuteMs = 60_000

export function TimeStrip({ times, onRange }: TimeStripProps) {
  const bars = timeBars(times)
  const [marked, setMarked] = useState<[number, number] | null>(null)
  const [first, last] = [bars[0], bars.at(-1)]
  if (first === undefined || last === undefined) return null
  const most = Math.max(...bars.map(({ count }) => count))
  const [from, to] = marked === null ? [-1, -1] : marked[0] < marked[1] ? marked : [marked[1], marked[0]]
  const barAt = (event: PointerEvent<HTMLDivElement>) => {
    const { left, width } = event.currentTarget.getBoundingClientRect()
    const place = Math.floor(((event.clientX - left) / width) * bars.length)
    return Math.min(bars.length - 1, Math.max(0, place))
  }
  const take = () => {
    const [start, end] = [bars[from], bars[to]]
    setMarked(null)
    if (start !== undefined && end !== undefined) onRange(isoOf(start.from), isoOf(end.to))
  }
  const total = bars.reduce((sum, { count }) => sum + count, 0)
  const barMs = first.to - first.from
  const name = (time: number) =>
    isToday(time) ? formatTick(new Date(time), Math.min(barMs, minuteMs)) : formatTime(new Date(time))
  const moment = (time: number) => formatMoment(new Date(time), {}, barMs < minuteMs)
  return (
    <figure className={styles.strip}>
      <div
        className={styles.bars}
        role="img"
        aria-label={`${formatExact(total)} ${nounOf(total, "call")} from ${name(first.from)} to ${name(last.to)}, at most ${formatExact(most)} in one bar. The range of time in the bar above narrows it.`}
        onPointerDown={(event) => {
          event.currentTarget.setPointerCapture(event.pointerId)
          setMarked([barAt(event), barAt(event)])
        }}
        onPointerMove={(event) => marked !== null && setMarked([marked[0], barAt(event)])}
        onPointerUp={take}
        onPointerCancel={() => setMarked(null)}
      >
        {bars.map((bar, index) => (
          <span
            key={bar.from}
            className={classNames(styles.bar, index >= from && index <= to && styles.marked)}
            title={`${moment(bar.from)} – ${moment(bar.to)}: ${formatCount(bar.count)}`}
          >
            {bar.count > 0 && <i style={{ height: `${Math.max(4, (bar.count / most) * 100)}%` }} />}
          </span>
        ))}
      </div>
      <figcaption className={styles.ends} aria-hidden>
        <span>{name(first.from)}</span>
        <span>{name((first.from + last.to) / 2)}</span>
        <span>{name(last.to)}</span>
      </figcaption>
    </figure>
  )
}

/** The place of the strip while times are counted: what is below it stays where it is. */
export function TimeStripPlace() {
  return (
    <div className={styles.strip} aria-hidden>
      <div className={styles.bars} />
      <div className={styles.ends}>{"\u00a0"}</div>
    </div>
  )
}

const isToday = (time: number) => new Date(time).toDateString() === new Date().toDateString()

/** To the second: what an address needs. */
const isoOf = (time: number) => new Date(time).toISOString().replace(".000Z", "Z")
