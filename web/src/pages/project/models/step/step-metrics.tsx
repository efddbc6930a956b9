/** The metrics of a step, with the values of the step before. */
import type { MetricCurve } from "@heddle/server/wire/training/model-metrics.ts"
import { PlainTable } from "../../../../components/layout/plain-table.tsx"
import {
  formatMetric,
  formatMetricChange,
  formatMetricWithUnit,
  inReadingOrder,
  metricName,
} from "../../training/metric-words.ts"
import { stepMetrics } from "./step-change.ts"
import styles from "./step-metrics.module.css"

export function StepMetrics({ curves, step }: { curves: readonly MetricCurve[]; step: number }) {
  const rows = stepMetrics(curves, step)
  if (rows.length === 0) {
    return (
      <p className={styles.none}>
        {step === 0 ? "A model begins with step 0: nothing is learned yet." : "This step has no metrics."}
      </p>
    )
  }
  // A job of one gradient step has one value of each.
  const isSpread = rows.some(({ spread }) => spread !== null)
  const heads = [
    { name: "Metric", className: styles.metric },
    { name: `Step ${step}`, className: styles.value },
    ...(isSpread ? [{ name: "In its gradient steps", className: styles.spread }] : []),
    { name: `Step ${step - 1}`, className: styles.value },
    { name: "Change", className: styles.change },
  ]
  return (
    <PlainTable label={`Metrics of step ${step}`} heads={heads}>
      {inReadingOrder(rows.map(({ metric }) => metric)).map((metric) => {
        const row = rows.find((one) => one.metric === metric)
        if (row === undefined) return null
        const { value, spread, before } = row
        return (
          <tr key={metric}>
            <td className={styles.metric} title={metric}>
              {metricName(metric)}
            </td>
            <td className={styles.value}>
              <b>{formatMetricWithUnit(metric, value)}</b>
            </td>
            {isSpread && (
              <td className={styles.spread}>
                {spread !== null && `${formatMetric(metric, spread[0])} to ${formatMetric(metric, spread[1])}`}
              </td>
            )}
            <td className={styles.value}>{before === null ? "–" : formatMetric(metric, before)}</td>
            <td className={styles.change}>
              {before !== null && before !== value && formatMetricChange(metric, value - before)}
            </td>
          </tr>
        )
      })}
    </PlainTable>
  )
}
