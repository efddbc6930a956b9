/** The lowest and the highest value; of none `Infinity` and `-Infinity`. */
export function extentOf(values: readonly number[]): [low: number, high: number] {
  return values.reduce<[number, number]>(
    ([low, high], value) => [Math.min(low, value), Math.max(high, value)],
    [Infinity, -Infinity],
  )
}
