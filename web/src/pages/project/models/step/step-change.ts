/** A step beside the one before it. */
import type { MetricCurve } from "@heddle/server/wire/training/model-metrics.ts"

export interface StepMetric {
  metric: string
  value: number
  /** The lowest and highest of its gradient steps; null: there is one value alone. */
  spread: readonly [number, number] | null
  /** At the step before; null: it had none. */
  before: number | null
}

/** `curves` hold the step and the one before it. */
export function stepMetrics(curves: readonly MetricCurve[], step: number): StepMetric[] {
  return curves.flatMap(({ metric, step: steps, min, max, last }) => {
    const here = steps.indexOf(step)
    const value = last[here]
    if (value === undefined) return []
    const [low, high] = [min[here] ?? value, max[here] ?? value]
    return {
      metric,
      value,
      spread: low === high ? null : ([low, high] as const),
      before: last[steps.indexOf(step - 1)] ?? null,
    }
  })
}
