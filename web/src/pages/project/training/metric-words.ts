/** Metrics of training as a person reads them: what they are called, in which unit, which way is better. */
import { formatNumber, formatPoints, formatScore, formatShare, thinSpace } from "../../../format/numbers.ts"

interface Words {
  name: string
  unit?: string
  better?: "up" | "down"
  format?: (value: number) => string
}

const reward = (value: number) => formatScore(value, 3)
const count = { format: formatNumber }

const known: Readonly<Record<string, Words>> = {
  "train/reward": { name: "Reward of rollouts", better: "up", format: reward },
  "val/reward": { name: "Held-out reward", better: "up", format: reward },
  "eval/reward": { name: "Held-out reward (eval)", better: "up", format: reward },
  "train/reward_std_dev": { name: "Spread of rewards in a group", format: reward },
  "val/reward_std_dev": { name: "Spread of held-out rewards", format: reward },
  "train/exception_rate": { name: "Rollouts that failed", better: "down", format: formatShare },
  "val/exception_rate": { name: "Held-out rollouts that failed", better: "down", format: formatShare },
  policy_loss: { name: "Policy loss" },
  loss: { name: "Loss", better: "down" },
  reward_margin: { name: "Reward margin", better: "up", format: reward },
  accuracy: { name: "Pairs in the right order", better: "up", format: formatShare },
  chosen_reward: { name: "Reward of chosen answers", format: reward },
  rejected_reward: { name: "Reward of rejected answers", format: reward },
  entropy: { name: "Entropy", unit: "nats" },
  grad_norm: { name: "Gradient norm" },
  learning_rate: { name: "Learning rate" },
  clip_fraction: { name: "Tokens outside the clip range", format: formatShare },
  "loss/clipped_token_fraction": { name: "Tokens on which the clip acts", format: formatShare },
  "loss/importance_ratio_mean": { name: "Importance ratio, mean" },
  "loss/importance_ratio_p95": { name: "Importance ratio, 95th percentile" },
  "loss/importance_ratio_p99": { name: "Importance ratio, 99th percentile" },
  effective_sample_fraction: { name: "Effective sample, of all tokens", better: "up", format: formatShare },
  "loss/probs_corr": { name: "Correlation with the sampler's probabilities", better: "up" },
  kl_policy_ref: { name: "KL to the reference", unit: "nats" },
  mismatch_rms: { name: "Mismatch, rms", unit: "nats" },
  mismatch_max: { name: "Mismatch, largest", unit: "nats" },
  mismatch_kl: { name: "Mismatch, KL", unit: "nats" },
  tokens_per_second: { name: "Throughput", unit: "tokens/s" },
  num_trainable_tokens: { name: "Trained tokens per gradient step", ...count },
  num_tokens: { name: "Tokens per gradient step", ...count },
  num_trajectories: { name: "Trajectories per gradient step", ...count },
  num_pairs: { name: "Pairs per gradient step", ...count },
  num_datums: { name: "Sequences per gradient step", ...count },
  num_dropped_trajectories: { name: "Dropped trajectories per gradient step", ...count },
  "data/groups": { name: "Groups", ...count },
  "data/groups_trainable": { name: "Groups that teach", ...count },
  "data/groups_of_one": { name: "Groups of one, which teach nothing", ...count },
  "data/trajectories": { name: "Trajectories", ...count },
  "data/trajectories_zero_advantage": { name: "Left out: no better or worse than the group", ...count },
  "data/trajectories_untrainable": { name: "Left out: nothing sampled in them", ...count },
  "data/sequences": { name: "Sequences", ...count },
  "data/sequences_packed": { name: "Sequences trained on", ...count },
  "data/sequences_dropped_overlong": { name: "Sequences dropped as too long", ...count },
  "data/rows": { name: "Rows of the file", ...count },
  "data/rows_dropped_overlong": { name: "Rows dropped as too long", ...count },
  "data/pairs": { name: "Pairs of the file", ...count },
  "data/pairs_dropped_overlong": { name: "Pairs dropped as too long", ...count },
  "data/batches_without_labels": { name: "Batches with nothing to learn", ...count },
  "data/turns_choice_ids": { name: "Turns with the ids of their tokens", ...count },
  "data/turns_ledger": { name: "Turns found in this server's ledger", ...count },
  "data/turns_token_id_strings": { name: "Turns with ids in their logprobs", ...count },
  "data/turns_retokenized": { name: "Turns whose text was tokenized again", ...count },
  "data/turns_truncated": { name: "Turns cut at their token limit", ...count },
  "data/turns_without_logprobs": { name: "Turns without logprobs", ...count },
  "data/turns_drifted": { name: "Turns that differ from what was sampled", ...count },
  "data/tokens_drifted": { name: "Tokens that differ from what was sampled", ...count },
  "data/prompts_rendered": { name: "Prompts rendered from their messages", ...count },
  "data/mismatch_rms": { name: "Mismatch before the first update, rms", unit: "nats" },
  "data/mismatch_max": { name: "Mismatch before the first update, largest", unit: "nats" },
  "data/mismatch_kl": { name: "Mismatch before the first update, KL", unit: "nats" },
}

const order = new Map(Object.keys(known).map((metric, place) => [metric, place]))

/** Orders metrics by topic; those that a client made up come last, by name. */
export function inReadingOrder(metrics: readonly string[]): string[] {
  const place = (metric: string) => order.get(metric) ?? order.size
  return metrics.toSorted((a, b) => place(a) - place(b) || a.localeCompare(b))
}

/** A metric that a client made up keeps its name. */
export function metricName(metric: string): string {
  return known[metric]?.name ?? metric
}

export function metricBetter(metric: string): "up" | "down" | undefined {
  return known[metric]?.better
}

/** Without its unit: at an axis, in a column. */
export function formatMetric(metric: string, value: number): string {
  return (known[metric]?.format ?? formatNumber)(value)
}

export function formatMetricWithUnit(metric: string, value: number): string {
  const unit = known[metric]?.unit
  const text = formatMetric(metric, value)
  return unit === undefined ? text : `${text}${thinSpace}${unit}`
}

/** With its sign: "+0.06"; of a share in points. */
export function formatMetricChange(metric: string, change: number): string {
  if (known[metric]?.format === formatShare) return formatPoints(change)
  return `${change > 0 ? "+" : ""}${formatMetric(metric, change)}`
}

/** Whether it counts what could not be trained on, or not as it was sampled. */
export function isLoss(metric: string): boolean {
  return /dropped|untrainable|drifted|without_l|truncated|groups_of_one|retokenized|exception_rate/.test(metric)
}
