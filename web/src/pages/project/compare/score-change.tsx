/** A score of one row in both runs: "4.300 ↓ 3.000", of yes and no in several trials "3/3 ↓ 0/3". */
import { ArrowDown, ArrowUp, Equal } from "lucide-react"
import { Icon } from "../../../components/signs/icon.tsx"
import type { PairedRow } from "../../../evaluations/comparison.ts"
import { type Direction, formatValue, type Metric } from "../../../evaluations/metrics.ts"
import { gainOf } from "../../../evaluations/row-order.ts"
import { rowValue, type Trial } from "../../../evaluations/run-rows.ts"
import styles from "./score-change.module.css"

interface ScoreChangeProps {
  row: PairedRow
  metric: Metric
  direction: Direction
}

export function ScoreChange({ row, metric, direction }: ScoreChangeProps) {
  const [before, after] = [rowValue(row.baseline, metric.id), rowValue(row.candidate, metric.id)]
  const gain = gainOf(row, metric, direction)
  const isUp = before !== undefined && after !== undefined && after > before
  const look = gain > 0 ? styles.good : gain < 0 ? styles.bad : styles.dim
  return (
    <span className={styles.change}>
      <span className={styles.dim}>{trialsValue(row.baseline, metric)}</span>
      <span className={look}>
        <Icon of={gain === 0 ? Equal : isUp ? ArrowUp : ArrowDown} size={12} name={wordOf(gain)} />
      </span>
      {trialsValue(row.candidate, metric)}
    </span>
  )
}

function wordOf(gain: number): string {
  return gain > 0 ? "better" : gain < 0 ? "worse" : "same"
}

/** "–" where no trial has it. */
export function trialsValue(trials: readonly Trial[], metric: Metric): string {
  const values = trials.map((trial) => trial.values.get(metric.id)).filter((value) => value !== undefined)
  const mean = rowValue(trials, metric.id)
  if (mean === undefined) return "–"
  if (metric.kind !== "share") return formatValue(metric, mean)
  if (values.length === 1) return mean === 1 ? "yes" : "no"
  return `${values.filter((value) => value === 1).length}/${values.length}`
}
