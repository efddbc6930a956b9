/** Some round numbers, ascending, that lie within `low` and `high` or end at them: steps of 1, 2 or 5 times a power of ten. */
export function niceTicks(low: number, high: number, most = 5): number[] {
  if (!Number.isFinite(low) || !Number.isFinite(high)) return []
  if (low === high) return [low]
  const rough = (high - low) / most
  const power = 10 ** Math.floor(Math.log10(rough))
  const step = ([1, 2, 5, 10].find((times) => times * power >= rough) ?? 10) * power
  const first = Math.ceil(low / step - 1e-9)
  const last = Math.floor(high / step + 1e-9)
  // Of a product of whole numbers alone is 0.3 not 0.30000000000000004.
  return Array.from({ length: last - first + 1 }, (_, place) => Number(((first + place) * step).toPrecision(12)))
}
