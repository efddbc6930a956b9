/** How long a new key may live. */

const day = 24 * 3600 * 1000

export const keyLives = ["7 days", "30 days", "90 days", "a year", "until a day", "no end"] as const
export type KeyLife = (typeof keyLives)[number]

const days: Partial<Record<KeyLife, number>> = { "7 days": 7, "30 days": 30, "90 days": 90, "a year": 365 }

/** `lastDay` is `2027-01-31`, where the reader is; the key lives to its end. null: no end by itself. */
export function endOfKey(life: KeyLife, lastDay: string, now: number): Date | null {
  const count = days[life]
  if (count !== undefined) return new Date(now + count * day)
  if (life !== "until a day" || lastDay === "") return null
  return new Date(`${lastDay}T23:59:59`)
}
