/** From what the client asked for to what the engine does: training-api 2.5, with every default applied. */
import type { SftConfig } from "../../wire/engine/train.ts"
import { type CreateSftJobBody, sftJobConfig, type SftJobConfig } from "../../wire/training/sft-job.ts"

const automaticBatchSize = 2

export function resolveSftConfig(config: SftJobConfig): SftConfig {
  const { batch_size: batchSize } = config
  return {
    batch_size: typeof batchSize === "number" ? batchSize : automaticBatchSize,
    learning_rate: config.learning_rate ?? 5e-5,
    assistant_turns: config.assistant_turns ?? "all",
  }
}

/** One sentence per unknown setting that has a value. */
export function sftWarningsOf({
  config,
  experimental_config: experimental,
}: Pick<CreateSftJobBody, "config" | "experimental_config">): string[] {
  const unknown = Object.keys(config ?? {}).filter(
    (key) => !Object.hasOwn(sftJobConfig.shape, key) && config?.[key] !== null,
  )
  return [
    ...unknown.map((key) => `config.${key} is not known here and has no effect`),
    ...Object.keys(experimental ?? {}).map((key) => `experimental_config.${key} has no effect on SFT jobs`),
  ]
}
