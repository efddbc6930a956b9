/** Curves that are easier to follow; the values they come from stay visible behind them. */

/**
 * An exponential moving average: `weight` of 0 leaves the values as they are, 0.9 follows slowly. The first values weigh no
 * more than the others, as they would if the average began with the first.
 */
export function smoothed(values: readonly number[], weight: number): number[] {
  let average = 0
  let share = 0
  return values.map((value) => {
    average = weight * average + (1 - weight) * value
    share = weight * share + (1 - weight)
    return average / share
  })
}
