/** Which metric of a model tells best whether it learns. */
import type { MetricCurve } from "@heddle/server/wire/training/model-metrics.ts"

/** The ones that are worth most first: what was held out, then what was trained on. */
const telling: readonly (readonly [metric: string, name: string])[] = [
  ["val/reward", "held-out reward"],
  ["eval/reward", "held-out reward"],
  ["train/reward", "reward"],
  ["loss", "loss"],
  ["policy_loss", "loss"],
]

/** Metrics to request from the server. */
export const tellingMetrics: readonly string[] = telling.map(([metric]) => metric)

export interface TellingCurve {
  name: string
  curve: MetricCurve
}

/** null: the model has none of the metrics that are known. */
export function tellingCurve(curves: readonly MetricCurve[]): TellingCurve | null {
  for (const [metric, name] of telling) {
    const curve = curves.find((one) => one.metric === metric)
    if (curve !== undefined) return { name, curve }
  }
  return null
}
