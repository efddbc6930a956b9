/** Numbers as a person reads them. They follow the browser's locale; what is exported never does. */

import { numberFormat } from "./formatters.ts"

/** Between a number and its unit: it neither breaks nor stretches. */
export const thinSpace = "\u202f"
/** A true minus is as wide as a plus. */
const minus = "\u2212"

export type Locale = string | undefined

const largestPlainCount = 9_999
const countUnits = ["", "k", "M", "G", "T"]

/** 8,630 · 58.2 k · 2.81 M */
export function formatCount(count: number, locale?: Locale): string {
  if (Math.abs(count) <= largestPlainCount) return formatExact(count, locale)
  return withUnit(count, 1000, countUnits, { minimumSignificantDigits: 3, maximumSignificantDigits: 3 }, locale)
}

/** On an axis, whose ticks are round: 25 k, not 25.0 k. */
export function formatCountTick(count: number, locale?: Locale): string {
  return withUnit(count, 1000, countUnits, { maximumSignificantDigits: 3 }, locale)
}

/** A count that may be too low: "≥ 212". */
export function formatAtLeast(count: number, isWhole: boolean, locale?: Locale): string {
  return isWhole ? formatCount(count, locale) : `≥${thinSpace}${formatCount(count, locale)}`
}

/** Every digit: for what is shown on hover. */
export function formatExact(value: number, locale?: Locale): string {
  return withMinus(numberFormat(locale, { maximumFractionDigits: 20 }).format(value))
}

/** A rate, score or reward; the number of decimals is constant in a column. */
export function formatScore(value: number, decimals = 2, locale?: Locale): string {
  return withMinus(fixed(decimals, locale).format(withoutNegativeZero(value, decimals)))
}

/** In the cells of a grid a score below 1 goes without its 0: ".84". */
export function formatCell(value: number, decimals = 2, locale?: Locale): string {
  return formatScore(value, decimals, locale).replace(/^(\u2212?)0(?=\D)/, "$1")
}

/** A change: "+0.06", "−0.11", "±0.00". */
export function formatChange(value: number, decimals = 2, locale?: Locale): string {
  const shown = withoutNegativeZero(value, decimals)
  const sign = shown > 0 ? "+" : shown < 0 ? minus : "±"
  return `${sign}${fixed(decimals, locale).format(Math.abs(shown))}`
}

/** "[−0.19, −0.03]" */
export function formatInterval(low: number, high: number, decimals = 2, locale?: Locale): string {
  return `[${formatChange(low, decimals, locale)}, ${formatChange(high, decimals, locale)}]`
}

/** A share of 1: "90.7 %". What is more than nothing or less than all is not rounded to that: "< 0.1 %", "> 99.9 %". */
export function formatShare(share: number, locale?: Locale): string {
  const bound = share > 0 && share < 0.0005 ? 0.001 : share < 1 && share >= 0.9995 ? 0.999 : null
  const sign = bound === null ? "" : `${bound > share ? "<" : ">"}${thinSpace}`
  return `${sign}${formatScore((bound ?? share) * 100, 1, locale)}${thinSpace}%`
}

/** A share that somebody chose: "50 %", "12.5 %". */
export function formatChosenShare(share: number, locale?: Locale): string {
  const tenths = Math.round(share * 1000)
  return `${formatScore(tenths / 10, tenths % 10 === 0 ? 0 : 1, locale)}${thinSpace}%`
}

/** A difference of shares, in points: "+9.3 pts". */
export function formatPoints(difference: number, locale?: Locale): string {
  return `${formatChange(difference * 100, 1, locale)}${thinSpace}pts`
}

/** "0.085", "< 0.001"; never stars. */
export function formatP(p: number, locale?: Locale): string {
  return p < 0.001 ? `<${thinSpace}${formatScore(0.001, 3, locale)}` : formatScore(p, 3, locale)
}

/** Any number, in 3 figures; far from 1 with an exponent: "8.9e−7". */
export function formatNumber(value: number, locale?: Locale): string {
  const size = Math.abs(value)
  if (value !== 0 && (size < 1e-4 || size >= 1e6)) {
    const [mantissa = "", exponent = ""] = value.toExponential(1).split("e")
    return withMinus(`${formatScore(Number(mantissa), 1, locale)}e${exponent.replace("+", "")}`)
  }
  return withMinus(numberFormat(locale, { maximumSignificantDigits: 3 }).format(value))
}

/** The largest unit that leaves at least 1 of it, after rounding: 999,950 is 1.00 M and not 1000 k. */
export function withUnit(
  value: number,
  base: number,
  units: readonly string[],
  digits: Intl.NumberFormatOptions,
  locale?: Locale,
): string {
  const power = Math.floor(Math.log(Math.abs(value) || 1) / Math.log(base) + 1e-9)
  const first = Math.min(Math.max(power, 0), units.length - 1)
  const rounded = Number((value / base ** first).toPrecision(3))
  const index = Math.abs(rounded) >= base && first < units.length - 1 ? first + 1 : first
  const text = withMinus(numberFormat(locale, digits).format(value / base ** index))
  return units[index] === "" ? text : `${text}${thinSpace}${units[index]}`
}

function fixed(decimals: number, locale: Locale): Intl.NumberFormat {
  return numberFormat(locale, { minimumFractionDigits: decimals, maximumFractionDigits: decimals })
}

/** -0.001 with two decimals is 0.00, not −0.00. */
function withoutNegativeZero(value: number, decimals: number): number {
  return Math.abs(value) < 0.5 * 10 ** -decimals ? 0 : value
}

function withMinus(text: string): string {
  return text.replaceAll("-", minus)
}
