/** How long something took: "568 ms", "4.02 s", "2 m 51 s", "7 h 41 min". */
import { numberFormat } from "./formatters.ts"
import { type Locale, thinSpace } from "./numbers.ts"

const second = 1000
const minute = 60 * second
const hour = 60 * minute
const day = 24 * hour

export function formatDuration(milliseconds: number, locale?: Locale): string {
  if (milliseconds > 0 && milliseconds < 1) return `<${thinSpace}1${thinSpace}ms`
  const whole = Math.round(milliseconds)
  if (whole < second) return `${whole}${thinSpace}ms`
  // 59.96 s would be shown as 60.0 s.
  if (whole < minute - 50) return `${figures(whole / second, locale)}${thinSpace}s`
  const seconds = Math.round(milliseconds / second)
  if (seconds < hour / second) return pair(Math.floor(seconds / 60), "m", seconds % 60, "s")
  const minutes = Math.round(milliseconds / minute)
  if (minutes < day / minute) return pair(Math.floor(minutes / 60), "h", minutes % 60, "min")
  const hours = Math.round(milliseconds / hour)
  return pair(Math.floor(hours / 24), "d", hours % 24, "h")
}

/** Where durations are compared: below a millisecond two figures of it, "0.21 ms", whose difference can be read. */
export function formatFineDuration(milliseconds: number, locale?: Locale): string {
  const isFine = milliseconds > 0 && milliseconds < 1
  if (!isFine) return formatDuration(milliseconds, locale)
  return `${numberFormat(locale, { maximumSignificantDigits: 2 }).format(milliseconds)}${thinSpace}ms`
}

/** At an axis, where the shortest form that is right will do: "0", "400 ms", "4 s". */
export function formatDurationTick(milliseconds: number, locale?: Locale): string {
  if (milliseconds === 0) return "0"
  const plain = numberFormat(locale, { maximumSignificantDigits: 3 })
  if (milliseconds < second) return `${plain.format(milliseconds)}${thinSpace}ms`
  return milliseconds < minute
    ? `${plain.format(milliseconds / second)}${thinSpace}s`
    : formatDuration(milliseconds, locale)
}

/** Time left, rounded up: "about 1 m 01 s". */
export function formatEstimate(milliseconds: number, locale?: Locale): string {
  return `about ${formatDuration(Math.ceil(milliseconds / second) * second, locale)}`
}

/** Always three figures, so that a column does not jump. */
function figures(value: number, locale: Locale): string {
  return numberFormat(locale, { minimumSignificantDigits: 3, maximumSignificantDigits: 3 }).format(value)
}

function pair(large: number, largeUnit: string, small: number, smallUnit: string): string {
  return `${large}${thinSpace}${largeUnit} ${String(small).padStart(2, "0")}${thinSpace}${smallUnit}`
}
