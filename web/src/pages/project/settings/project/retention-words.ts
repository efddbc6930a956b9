/** Days for which calls are kept, as a person writes and reads them. */
import { formatExact } from "../../../../format/numbers.ts"

const mostDays = 36_500

export function daysInWords(days: number): string {
  return days === 1 ? "one day" : `${formatExact(days)} days`
}

/** The number, or what is wrong with the text. */
export function readDays(text: string): number | string {
  const days = /^\d+$/.test(text.trim()) ? Number(text) : 0
  return days >= 1 && days <= mostDays ? days : `A whole number of days from 1 to ${formatExact(mostDays)}.`
}

/** Whether calls may go under the new limit that would stay under the old one; null is no limit. */
export function isShorter(next: number | null, days: number | null): boolean {
  return next !== null && (days === null || next < days)
}
