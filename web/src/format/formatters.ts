/** The browser's formatters, each made once: to make one takes longer than to format a hundred values with it. */

type Locale = string | undefined

/** By locale and options, of which the code has few. */
const dates = new Map<string, Intl.DateTimeFormat>()
const numbers = new Map<string, Intl.NumberFormat>()
const distances = new Map<string, Intl.RelativeTimeFormat>()

export function dateFormat(locale: Locale, options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  return cached(dates, locale, options, () => new Intl.DateTimeFormat(locale, options))
}

export function numberFormat(locale: Locale, options: Intl.NumberFormatOptions): Intl.NumberFormat {
  return cached(numbers, locale, options, () => new Intl.NumberFormat(locale, options))
}

/** Formats how long ago something was, or how far ahead it is. */
export function distanceFormat(locale: Locale, options: Intl.RelativeTimeFormatOptions): Intl.RelativeTimeFormat {
  return cached(distances, locale, options, () => new Intl.RelativeTimeFormat(locale, options))
}

function cached<Format>(formats: Map<string, Format>, locale: Locale, options: object, make: () => Format): Format {
  const key = `${locale} ${JSON.stringify(options)}`
  const known = formats.get(key)
  if (known !== undefined) return known
  const format = make()
  formats.set(key, format)
  return format
}
