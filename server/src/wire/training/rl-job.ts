/** RL job creation: training-api 2.1 and 2.2. */
import { z } from "zod"
import { lossType } from "../engine/train.ts"
import { trajectoryGroup } from "./trajectory.ts"

const positive = z.number().gt(0)
const atLeastZero = z.number().min(0)
const count = z.int().min(1)
/** With a larger one the rate of a step with many trajectories would be no number. */
const mostPower = 10

/** Every key may be absent or null, which means its default. Unknown keys are kept and named in a warning. */
export const experimentalConfig = z.looseObject({
  learning_rate: atLeastZero.nullish(),
  ppo: z.boolean().nullish(),
  loss_fn: z.enum(["cispo", "ppo"]).nullish(),
  loss_type: lossType.nullish(),
  max_completion_length: count.nullish(),
  normalize_by_length: z.boolean().nullish(),
  epsilon: atLeastZero.nullish(),
  epsilon_high: atLeastZero.nullish(),
  importance_sampling_level: z.enum(["token", "sequence", "average", "geometric_average"]).nullish(),
  advantage_balance: z.number().min(-1).max(1).nullish(),
  scale_rewards: z.boolean().nullish(),
  normalize_advantages: z.boolean().nullish(),
  max_negative_advantage_importance_sampling_weight: positive.nullish(),
  mask_prob_ratio: z.boolean().nullish(),
  kimi_k2_tau: z.number().nullish(),
  precalculate_logprobs: z.boolean().nullish(),
  truncated_importance_sampling: positive.nullish(),
  kl_penalty_coef: atLeastZero.nullish(),
  kl_penalty_source: z.enum(["current_learner", "sample"]).nullish(),
  kl_penalty_reference_step: z.int().min(0).nullish(),
  kl_penalty_step_lag: z.int().min(1).nullish(),
  kl_ref_adapter_path: z.string().nullish(),
  allow_training_without_logprobs: z.boolean().nullish(),
  logprob_calculation_chunk_size: count.nullish(),
  packed_sequence_length: count.nullish(),
  grad_accumulation_sequences: count.nullish(),
  num_trajectories_learning_rate_multiplier_power: z.number().min(-mostPower).max(mostPower).nullish(),
  scale_learning_rate_by_reward_std_dev: z.boolean().nullish(),
  /** Debug plots of the local trainer; has no effect here. */
  plot_tensors: z.boolean().nullish(),
})

/** The body but for `trajectory_groups`, which is read as a stream. */
export const rlJobFields = z.looseObject({
  model_id: z.string(),
  experimental_config: experimentalConfig.nullish(),
})

/** For the reference page. */
export const createRlJobBody = rlJobFields.extend({ trajectory_groups: z.array(trajectoryGroup) })

export type ExperimentalConfig = z.output<typeof experimentalConfig>
