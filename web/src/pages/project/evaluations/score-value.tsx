/** The mean of a metric with its interval; how the interval was found is in the hint. */
import { formatSize, formatValue, formatValueInterval } from "../../../evaluations/metrics.ts"
import type { RunFigure } from "../../../evaluations/run-figures.ts"
import { formatCount } from "../../../format/numbers.ts"
import styles from "./score-value.module.css"

interface ScoreValueProps {
  /** undefined: the run has no such value. */
  figure: RunFigure | undefined
  /** Where its column does not name it. */
  isNamed?: boolean
}

export function ScoreValue({ figure, isNamed = false }: ScoreValueProps) {
  if (figure === undefined) return <span className={styles.none}>–</span>
  const { metric, mean, interval, method, count, scored, trials } = figure
  const value = formatValue(metric, mean)
  const range = interval === null ? "" : ` ${formatValueInterval(metric, interval)}`
  const how = interval === null ? "" : `, 95 % ${method}`
  const part = scored === trials ? "" : ` · ${formatCount(scored)} of ${formatCount(trials)}`
  const partly = part === "" ? "" : `; ${formatCount(scored)} of ${formatCount(trials)} trials have the value`
  return (
    <span
      className={styles.score}
      title={`${metric.name} ${value}${range}: mean of rows, ${formatSize(count)}${how}${partly}`}
    >
      {isNamed && <span className={styles.name}>{metric.name} </span>}
      <b>{value}</b>
      <span className={styles.interval}>
        {range}
        {part}
      </span>
    </span>
  )
}
