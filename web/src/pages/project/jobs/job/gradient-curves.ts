/** Metrics of a job's gradient steps, one curve each. */
import type { Event } from "@heddle/server/wire/training/job.ts"

export interface GradientCurve {
  metric: string
  /** Numbers of gradient steps, from 1. */
  x: number[]
  y: number[]
}

/** `events` are in their order; a metric that a step lacks has no point there. */
export function gradientCurves(events: readonly Event[]): GradientCurve[] {
  const curves = new Map<string, GradientCurve>()
  const steps = events.filter(({ type }) => type === "gradient_step")
  for (const [index, { data }] of steps.entries()) {
    for (const [metric, value] of Object.entries(data)) {
      if (typeof value !== "number") continue
      const curve = curves.get(metric) ?? { metric, x: [], y: [] }
      curves.set(metric, curve)
      curve.x.push(index + 1)
      curve.y.push(value)
    }
  }
  return [...curves.values()]
}

/** Tokens of all gradient steps, or null if the job does not count them. */
export function trainedTokens(curves: readonly GradientCurve[]): number | null {
  const curve = curves.find(({ metric }) => metric === "num_trainable_tokens")
  return curve === undefined ? null : curve.y.reduce((sum, tokens) => sum + tokens, 0)
}
