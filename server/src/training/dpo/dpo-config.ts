/** Settings of a job that learns from pairs of answers, with every default applied: training-api 7.7. */
import type { DpoConfig } from "../../wire/engine/train.ts"
import type { SftJobConfig } from "../../wire/training/sft-job.ts"
import type { DpoTarget } from "../../wire/training/train-from.ts"

const automaticBatchSize = 2

/** `learning_rate` is no list. */
export function resolveDpoConfig({ beta, reference }: DpoTarget, config: SftJobConfig): DpoConfig {
  const { batch_size: batchSize, learning_rate: rate } = config
  return {
    batch_size: typeof batchSize === "number" ? batchSize : automaticBatchSize,
    learning_rate: typeof rate === "number" ? rate : 5e-6,
    beta: beta ?? 0.1,
    reference: reference ?? "start",
  }
}

const known: ReadonlySet<string> = new Set(["batch_size", "learning_rate", "metric_logging"])

/** One sentence per setting that has a value and no effect. */
export function dpoWarningsOf(config: SftJobConfig, experimental: Readonly<Record<string, unknown>>): string[] {
  const names = Object.keys(config).filter((key) => !known.has(key) && config[key] != null)
  return [
    ...names.map((key) => `config.${key} has no effect on DPO jobs`),
    ...Object.keys(experimental).map((key) => `experimental_config.${key} has no effect on DPO jobs`),
  ]
}
