/** From what the client asked for to what the engine does: training-api 2.2, with every default applied. */
import { HeddleError, type ValidationIssue } from "../../errors.ts"
import type { RlConfig } from "../../wire/engine/train.ts"
import { experimentalConfig, type ExperimentalConfig } from "../../wire/training/rl-job.ts"

/** `learningRateMultiplier`: training-api 7.6; 1 unless asked for. */
export function resolveRlConfig(config: ExperimentalConfig, learningRateMultiplier: number): RlConfig {
  const issues = [...conflicts(config)]
  const [first] = issues
  if (first !== undefined) throw new HeddleError("validation_error", first.msg, { issues })
  const lossFn = config.loss_fn ?? (config.ppo === true ? "ppo" : "cispo")
  const epsilon = config.epsilon ?? (lossFn === "ppo" ? 0.2 : 1)
  return {
    learning_rate: config.learning_rate ?? 5e-6,
    loss_fn: lossFn,
    epsilon,
    epsilon_high: config.epsilon_high ?? (lossFn === "ppo" ? epsilon : 4),
    importance_sampling_level: config.importance_sampling_level ?? "token",
    advantage_balance: config.advantage_balance ?? 0,
    scale_rewards: (config.scale_rewards ?? true) && (config.normalize_advantages ?? true),
    max_negative_advantage_importance_sampling_weight: config.max_negative_advantage_importance_sampling_weight ?? null,
    mask_prob_ratio: config.mask_prob_ratio ?? false,
    kimi_k2_tau: config.kimi_k2_tau ?? null,
    precalculate_logprobs: config.precalculate_logprobs ?? false,
    truncated_importance_sampling: config.truncated_importance_sampling ?? null,
    kl_penalty_coef: config.kl_penalty_coef ?? 0,
    kl_penalty_source: config.kl_penalty_source ?? "current_learner",
    allow_training_without_logprobs: config.allow_training_without_logprobs ?? false,
    logprob_calculation_chunk_size: config.logprob_calculation_chunk_size ?? 1024,
    packed_sequence_length: config.packed_sequence_length ?? null,
    num_trajectories_learning_rate_multiplier_power: config.num_trajectories_learning_rate_multiplier_power ?? 0,
    learning_rate_multiplier: learningRateMultiplier,
    loss_type: config.loss_type ?? "bnpo",
    max_completion_length: config.max_completion_length ?? null,
    normalize_by_length: config.normalize_by_length ?? true,
    grad_accumulation_sequences: config.grad_accumulation_sequences ?? 1,
  }
}

/** One sentence per unknown setting that has a value. */
export function warningsOf(config: ExperimentalConfig): string[] {
  return Object.entries(config)
    .filter(([key, value]) => !Object.hasOwn(experimentalConfig.shape, key) && value !== null && value !== undefined)
    .map(([key]) => `experimental_config.${key} is not known here and has no effect`)
}

function* conflicts(config: ExperimentalConfig): Generator<ValidationIssue> {
  if (config.ppo === true && config.loss_fn === "cispo") {
    yield issue("loss_fn", 'loss_fn "cispo" contradicts ppo: true; send only one of them')
  }
  if (config.ppo === false && config.loss_fn === "ppo") {
    yield issue("loss_fn", 'loss_fn "ppo" contradicts ppo: false; send only one of them')
  }
  const { loss_type: lossType, max_completion_length: length } = config
  if (lossType === "dr_grpo" && typeof length !== "number") {
    const msg = 'loss_type "dr_grpo" divides by max_completion_length; send the most tokens that a completion may have'
    yield issue("max_completion_length", msg)
  }
  if (lossType !== "dr_grpo" && typeof length === "number") {
    const other = `max_completion_length, ${length}, has no effect with loss_type "${lossType ?? "bnpo"}"`
    yield issue("max_completion_length", `${other}; send loss_type "dr_grpo", or leave it out`)
  }
  const references = [config.kl_penalty_reference_step, config.kl_penalty_step_lag, config.kl_ref_adapter_path].filter(
    (reference) => reference !== null && reference !== undefined,
  )
  if (references.length > 1) {
    yield issue(
      "kl_penalty_reference_step",
      "kl_penalty_reference_step, kl_penalty_step_lag and kl_ref_adapter_path exclude each other",
    )
  }
  const { packed_sequence_length: packed, logprob_calculation_chunk_size: chunk } = config
  if (typeof packed === "number" && packed % (chunk ?? 1024) !== 0) {
    yield issue(
      "packed_sequence_length",
      `${packed} is not a multiple of logprob_calculation_chunk_size, ${chunk ?? 1024}`,
    )
  }
}

function issue(key: string, msg: string): ValidationIssue {
  return { loc: ["body", "experimental_config", key], msg, type: "value_error" }
}
