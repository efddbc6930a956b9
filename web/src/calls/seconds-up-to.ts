/**
 * For queries of what began up to a time: the time in seconds since 1970, as the query language has it, with the microseconds,
 * which `Date` drops, and one more, so that rounding leaves nothing out that began then.
 */
export function secondsUpTo(time: string): number {
  const fraction = /\.(\d+)/.exec(time)?.[1] ?? "0"
  return Math.floor(Date.parse(time) / 1000) + Number(`0.${fraction}`) + 0.000_001
}
