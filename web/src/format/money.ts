/** Costs: small ones keep the figures that matter, and one that is not known is never 0. */
import { numberFormat } from "./formatters.ts"
import type { Locale } from "./numbers.ts"

/** "$94.10", "$0.0041" → below 1 four decimals, below 0.01 five; null: "no price". */
export function formatMoney(amount: number | null, currency = "USD", locale?: Locale): string {
  if (amount === null) return "no price"
  const size = Math.abs(amount)
  const decimals = amount === 0 ? 0 : size < 0.01 ? 5 : size < 1 ? 4 : 2
  return numberFormat(locale, {
    style: "currency",
    currency,
    currencyDisplay: "narrowSymbol",
    minimumFractionDigits: decimals,
    maximumFractionDigits: decimals,
  }).format(amount)
}
