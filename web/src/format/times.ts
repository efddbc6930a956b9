/** Formats points in time: briefly, by their distance from now, and in full. */
import { dateFormat, distanceFormat } from "./formatters.ts"
import type { Locale } from "./numbers.ts"

const day = 24 * 3600 * 1000

interface Place {
  now?: Date
  locale?: Locale
  timeZone?: string | undefined
}

/** Today "14:31:58", in the last six days "Wed 17:40", else "3 Nov", in another year "3 Nov 2025". */
export function formatTime(time: Date, { now = new Date(), locale, timeZone }: Place = {}): string {
  const show = (options: Intl.DateTimeFormatOptions) =>
    dateFormat(locale, { hourCycle: "h23", timeZone, ...options }).format(time)
  if (dayOf(time, timeZone) === dayOf(now, timeZone)) return show(clock)
  const age = now.getTime() - time.getTime()
  if (age > 0 && age < 6 * day) return `${show({ weekday: "short" })} ${show({ hour: "2-digit", minute: "2-digit" })}`
  const isThisYear = dayOf(time, timeZone).slice(0, 4) === dayOf(now, timeZone).slice(0, 4)
  return show({ day: "numeric", month: "short", ...(isThisYear ? {} : { year: "numeric" }) })
}

/**
 * The time of day, and before it the day unless it is today: "14:31:58", "Wed 17:40", "3 Nov 17:40"; for rows many of which
 * are of one day. From nearly a year away on, where the month does not tell the year, "3 Nov 2025". With `milliseconds` the
 * time of day is there always, to the millisecond.
 */
export function formatMoment(time: Date, place: Place = {}, milliseconds = false): string {
  const { now = new Date(), locale, timeZone } = place
  if (dayOf(time, timeZone) === dayOf(now, timeZone)) return formatClock(time, place, milliseconds)
  const show = (options: Intl.DateTimeFormatOptions) =>
    dateFormat(locale, { hourCycle: "h23", timeZone, ...options }).format(time)
  const age = now.getTime() - time.getTime()
  const isFar = Math.abs(age) > 350 * day
  const date = { day: "numeric", month: "short", ...(isFar ? ({ year: "numeric" } as const) : {}) } as const
  const shownDay = show(age > 0 && age < 6 * day ? { weekday: "short" } : date)
  if (milliseconds) return `${shownDay} ${formatClock(time, place, true)}`
  return isFar ? shownDay : `${shownDay} ${show({ hour: "2-digit", minute: "2-digit" })}`
}

/** The time of day; with its milliseconds, for rows that are close together, if `milliseconds` is true. */
export function formatClock(time: Date, { locale, timeZone }: Place = {}, milliseconds = false): string {
  const fraction = milliseconds ? ({ fractionalSecondDigits: 3 } as const) : {}
  return dateFormat(locale, { hourCycle: "h23", timeZone, ...clock, ...fraction }).format(time)
}

/** The weekday, date, time of day and zone. */
export function formatWholeTime(time: Date, { locale, timeZone }: Place = {}): string {
  const options: Intl.DateTimeFormatOptions = {
    weekday: "short",
    day: "numeric",
    month: "short",
    year: "numeric",
    timeZoneName: "short",
  }
  return dateFormat(locale, { hourCycle: "h23", timeZone, ...clock, ...options }).format(time)
}

/** The label of a mark on an axis: the time of day, or the day at midnight and where marks are a day (`stepMs`) or more apart. */
export function formatTick(time: Date, stepMs: number, { locale, timeZone }: Place = {}): string {
  const second = stepMs < 60_000 ? ({ second: "2-digit" } as const) : {}
  const clock: Intl.DateTimeFormatOptions = { hour: "2-digit", minute: "2-digit", ...second }
  const show = (parts: Intl.DateTimeFormatOptions, language = locale) =>
    dateFormat(language, { hourCycle: "h23", timeZone, ...parts }).format(time)
  const isDay = stepMs >= day || !/[1-9]/.test(show(clock, "en"))
  return show(isDay ? { day: "numeric", month: "short" } : clock)
}

const steps: readonly [Intl.RelativeTimeFormatUnit, number][] = [
  ["second", 60],
  ["minute", 60],
  ["hour", 24],
  ["day", 30],
  ["month", 12],
  ["year", Infinity],
]

/** "4 min ago", "in 2 days". */
export function formatAgo(time: Date, { now = new Date(), locale }: Place = {}): string {
  const format = distanceFormat(locale, { numeric: "auto", style: "short" })
  let value = (time.getTime() - now.getTime()) / 1000
  for (const [unit, size] of steps) {
    if (Math.abs(Math.round(value)) < size) return format.format(Math.round(value), unit)
    value /= size
  }
  return format.format(Math.round(value), "year")
}

const clock = { hour: "2-digit", minute: "2-digit", second: "2-digit" } as const

/** The day as `2026-11-22`, in the time zone. */
function dayOf(time: Date, timeZone: string | undefined): string {
  return dateFormat("sv-SE", { timeZone }).format(time)
}
