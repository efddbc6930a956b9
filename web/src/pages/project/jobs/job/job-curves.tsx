/** The curves of a job over its gradient steps. */
import type { ListedJob } from "@heddle/server/wire/training/job.ts"
import { LineChart } from "../../../../components/charts/line-chart.tsx"
import { PaneHead } from "../../../../components/layout/pane.tsx"
import { metricPanels } from "../../training/metric-panels.ts"
import { formatMetric, formatMetricWithUnit, metricName } from "../../training/metric-words.ts"
import type { GradientCurve } from "./gradient-curves.ts"
import styles from "./job-curves.module.css"

const height = 130

export function JobCurves({ job, curves }: { job: ListedJob; curves: readonly GradientCurve[] }) {
  const panels = metricPanels(curves.map(({ metric }) => metric)).filter(({ metrics: [metric] }) =>
    curves.some((one) => one.metric === metric && one.y.some((value) => value !== one.y[0])),
  )
  return (
    <section aria-label="Curves">
      <PaneHead title="Curves" note="by gradient step" />
      {panels.length === 0 ? (
        <p className={styles.none}>
          {job.ended_at === null ? "They appear with the second gradient step." : "Fewer than two gradient steps."}
        </p>
      ) : (
        <div className={styles.grid}>
          {panels.map(({ id, title, metrics: [metric = ""] }) => {
            const curve = curves.find((one) => one.metric === metric)
            const newest = curve?.y.at(-1)
            if (curve === undefined || newest === undefined) return null
            return (
              <section key={id} className={styles.chart} aria-label={title}>
                <header className={styles.head}>
                  <h3 className={styles.title}>{title}</h3>
                  <b className={styles.newest}>{formatMetricWithUnit(metric, newest)}</b>
                </header>
                <LineChart
                  label={`${title} by gradient step`}
                  series={[{ name: metricName(metric), color: "series-1", x: curve.x, y: curve.y }]}
                  height={height}
                  sync="job"
                  formatX={(step) => (Number.isInteger(step) ? `${step}` : "")}
                  formatY={(value) => formatMetric(metric, value)}
                />
              </section>
            )
          })}
        </div>
      )}
    </section>
  )
}
