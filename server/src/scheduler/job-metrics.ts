/** From the gradient steps of a job to the rows of its model's run: training-api 3.5. */
import type { JobKind } from "../storage/catalog/schema.ts"
import type { JobRow } from "../storage/traces/runs/job-rows.ts"

export interface GradientStep {
  /** From 1. */
  number: number
  metrics: Readonly<Record<string, number>>
  at: Date
}

export interface MetricNaming {
  kind: JobKind
  /** The step that the job makes of the model. */
  trainingStep: number
  /** When the job began. */
  began: Date
}

/** As ART names them where it logs by itself (training-api 3.3). */
const publicNames: Readonly<Record<string, string>> = {
  policy_loss: "loss/train",
  loss: "loss/train",
  entropy: "loss/entropy",
  kl_div: "loss/kl_div",
  kl_policy_ref: "loss/kl_policy_ref",
  grad_norm: "loss/grad_norm",
  learning_rate: "loss/learning_rate",
  num_trainable_tokens: "data/step_trainable_assistant_tokens",
  num_trajectories: "data/step_num_trajectories",
  num_datums: "data/step_num_datums",
}

/** Depends on time rather than on data, so it is no metric of a step. */
const hiddenNames: ReadonlySet<string> = new Set(["tokens_per_second"])

/** A row for each gradient step, under names that no client logs by itself: nothing is there twice. */
export function rowOf({ number, metrics, at }: GradientStep, naming: MetricNaming): JobRow {
  const prefixed = Object.entries(publicMetrics(metrics)).map(([name, value]) => [`${naming.kind}/${name}`, value])
  const values = { ...ofTime(at, naming), [`${naming.kind}/gradient_step`]: number, ...Object.fromEntries(prefixed) }
  return { line: number, values: values as Record<string, number> }
}

/** The means of all steps under their own names, which follow the last of them; null: there were no steps. */
export function meanRow(steps: readonly GradientStep[], naming: MetricNaming): JobRow | null {
  const last = steps.at(-1)
  if (last === undefined) return null
  const sums = new Map<string, { sum: number; count: number }>()
  for (const { metrics } of steps) {
    for (const [name, value] of Object.entries(publicMetrics(metrics))) {
      const { sum, count } = sums.get(name) ?? { sum: 0, count: 0 }
      sums.set(name, { sum: sum + value, count: count + 1 })
    }
  }
  const means = Array.from(sums, ([name, { sum, count }]) => [name, sum / count] as const)
  const values = {
    ...ofTime(last.at, naming),
    "data/step_num_gradient_steps": steps.length,
    ...Object.fromEntries(means),
  }
  return { line: last.number + 1, values }
}

function publicMetrics(metrics: Readonly<Record<string, number>>): Record<string, number> {
  const named = Object.entries(metrics).filter(([name]) => !hiddenNames.has(name))
  return Object.fromEntries(
    named.map(([name, value]) => [Object.hasOwn(publicNames, name) ? (publicNames[name] ?? name) : name, value]),
  )
}

function ofTime(at: Date, { trainingStep, began }: MetricNaming): Record<string, number> {
  return {
    _timestamp: at.getTime() / 1000,
    _runtime: Math.max(0, at.getTime() - began.getTime()) / 1000,
    training_step: trainingStep,
  }
}
