/** `scale_learning_rate_by_reward_std_dev`: training-api 7.6. */

/**
 * Fits a line to reward deviation over steps (least squares) and returns its value at the last
 * step over its intercept: as rewards come to agree, steps become smaller. 1 with fewer than two
 * points or an intercept that is not positive; never below 0.
 */
export function rewardDeviationMultiplier(history: readonly { step: number; value: number }[]): number {
  const last = history.at(-1)
  if (last === undefined || history.length < 2) return 1
  const meanStep = history.reduce((sum, point) => sum + point.step, 0) / history.length
  const meanValue = history.reduce((sum, point) => sum + point.value, 0) / history.length
  const covariance = history.reduce((sum, point) => sum + (point.step - meanStep) * (point.value - meanValue), 0)
  const variance = history.reduce((sum, point) => sum + (point.step - meanStep) ** 2, 0)
  const slope = covariance / variance
  const intercept = meanValue - slope * meanStep
  return intercept <= 0 ? 1 : Math.max(0, (intercept + slope * last.step) / intercept)
}
