/** Counts with their noun, in the singular where there is one. */
import { formatCount, type Locale } from "./numbers.ts"

/** 1 pair · 0 pairs · 58.2 k rows; `many` where it is not the noun with an s. */
export function counted(count: number, noun: string, many = `${noun}s`, locale?: Locale): string {
  return `${formatCount(count, locale)} ${nounOf(count, noun, many)}`
}

/** The noun or verb that goes with a count which stands elsewhere. */
export function nounOf(count: number, one: string, many = `${one}s`): string {
  return count === 1 ? one : many
}
