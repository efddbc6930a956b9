/** Metrics as charts: which belong on one chart, and which charts are worth a place before anybody asks. */
import { metricName } from "./metric-words.ts"

export interface MetricPanel {
  /** In the address. */
  id: string
  title: string
  /** The metrics of the panel; the newest value of the first is printed. */
  metrics: readonly string[]
}

const grouped: readonly MetricPanel[] = [
  { id: "reward", title: "Reward", metrics: ["val/reward", "eval/reward", "train/reward"] },
  { id: "loss", title: "Loss", metrics: ["policy_loss", "loss"] },
  { id: "margin", title: "Reward margin", metrics: ["reward_margin"] },
  { id: "accuracy", title: "Pairs in the right order", metrics: ["accuracy"] },
  { id: "pair_rewards", title: "Rewards of pairs", metrics: ["chosen_reward", "rejected_reward"] },
  { id: "entropy", title: "Entropy", metrics: ["entropy"] },
  { id: "kl", title: "KL to the reference", metrics: ["kl_policy_ref"] },
  { id: "grad_norm", title: "Gradient norm", metrics: ["grad_norm"] },
  {
    id: "ratio",
    title: "Importance ratio",
    metrics: ["loss/importance_ratio_p99", "loss/importance_ratio_p95", "loss/importance_ratio_mean"],
  },
  { id: "mismatch", title: "Mismatch, rms", metrics: ["mismatch_rms"] },
  { id: "throughput", title: "Throughput", metrics: ["tokens_per_second"] },
  { id: "exceptions", title: "Rollouts that failed", metrics: ["train/exception_rate", "val/exception_rate"] },
]

/** Every chart that there is something for: the telling ones first, then the rest by name. */
export function metricPanels(metrics: readonly string[]): MetricPanel[] {
  const there = new Set(metrics)
  const first = grouped
    .map((panel) => ({ ...panel, metrics: panel.metrics.filter((metric) => there.has(metric)) }))
    .filter((panel) => panel.metrics.length > 0)
  const taken = new Set(first.flatMap((panel) => panel.metrics))
  const others = metrics.filter((metric) => !taken.has(metric))
  return [
    ...first,
    ...others
      .map((metric) => ({ id: metric, title: metricName(metric), metrics: [metric] }))
      .toSorted((a, b) => a.title.localeCompare(b.title)),
  ]
}

/** Those beside the chosen one that are shown small. */
export function smallPanels(panels: readonly MetricPanel[], chosen: MetricPanel): MetricPanel[] {
  const ids = new Set(grouped.map(({ id }) => id))
  return panels.filter(({ id }) => ids.has(id) && id !== chosen.id)
}
