/** One chart of the models that are shown: a colour a model, or a colour a metric where it is one model alone. */
import type { MetricCurve } from "@heddle/server/wire/training/model-metrics.ts"
import type { ListedModel } from "@heddle/server/wire/training/model.ts"
import { getRouteApi, Link } from "@tanstack/react-router"
import type { MouseEvent } from "react"
import { classNames } from "../../../../components/class-names.ts"
import type { ColorToken } from "../../../../components/charts/chart-colors.ts"
import { ChartLegend, LineChart } from "../../../../components/charts/line-chart.tsx"
import { formatWholeTime } from "../../../../format/times.ts"
import { curveSeries, type DrawnCurve } from "../../training/curve-series.ts"
import type { MetricPanel } from "../../training/metric-panels.ts"
import { formatMetric, formatMetricWithUnit, metricBetter, metricName } from "../../training/metric-words.ts"
import styles from "./curve-chart.module.css"
import { stepAt } from "./pick-step.ts"

const route = getRouteApi("/signed-in/$entity/$project/models/$name")
const colors: readonly ColorToken[] = ["series-1", "series-2", "series-3", "series-4", "series-5", "series-6"]

interface CurveChartProps {
  panel: MetricPanel
  curves: readonly { model: string; metric: string; curve: MetricCurve }[]
  models: readonly ListedModel[]
  height: number
  /** Its title makes it the large one. */
  isSmall?: boolean
}

export function CurveChart({ panel, curves, models, height, isSmall = false }: CurveChartProps) {
  const { x = "step", smooth = 0, x0, x1 } = route.useSearch()
  const params = route.useParams()
  const navigate = route.useNavigate()
  const drawn: DrawnCurve[] = curves.map(({ model, metric, curve }) => {
    const place = models.findIndex(({ name }) => name === model)
    const line = panel.metrics.indexOf(metric)
    return {
      name: [models.length > 1 ? model : "", panel.metrics.length > 1 || models.length === 1 ? metricName(metric) : ""]
        .filter((part) => part !== "")
        .join(", "),
      color: colors[models.length > 1 ? place : line] ?? "series-0",
      isDashed: line > 0,
      curve,
    }
  })
  const [metric = ""] = panel.metrics
  const newest = curves.find((one) => one.metric === metric)?.curve.last.at(-1)
  const better = metricBetter(metric)
  const range: readonly [number, number] | null = x0 === undefined || x1 === undefined ? null : [x0, x1]
  const series = curveSeries(drawn, { x, smooth: Math.min(0.99, Math.max(0, smooth)) })
  // What the curve did there is told by the step. In an enlarged part a double click leads back, and one click nowhere.
  const openStep = ({ target, clientX }: MouseEvent) => {
    const plot = target instanceof Element ? target.closest(".u-over")?.getBoundingClientRect() : undefined
    if (plot === undefined || x === "time" || range !== null) return
    const own = curves.filter(({ model }) => model === params.name).flatMap(({ curve }) => curve.step)
    const step = stepAt(own, series, { left: clientX - plot.left, width: plot.width })
    if (step === null) return
    void navigate({ to: "/$entity/$project/models/$name/steps/$step", params: { ...params, step: `${step}` } })
  }
  return (
    <section className={classNames(styles.chart, isSmall && styles.small)} aria-label={panel.title}>
      <header className={styles.head}>
        <h2 className={styles.title}>
          {isSmall ? (
            <Link
              from="/$entity/$project/models/$name"
              to="."
              search={(before) => ({ ...before, metric: panel.id })}
              className={styles.choose}
              title={`${panel.title}: show it large`}
            >
              {panel.title}
            </Link>
          ) : (
            panel.title
          )}
        </h2>
        {isSmall ? (
          newest !== undefined && <b className={styles.newest}>{formatMetricWithUnit(metric, newest)}</b>
        ) : (
          <>
            <ChartLegend series={drawn} />
            {better !== undefined && (
              <span className={styles.better}>{better === "up" ? "higher is better" : "lower is better"}</span>
            )}
          </>
        )}
      </header>
      {/* oxlint-disable-next-line jsx-a11y/click-events-have-key-events, jsx-a11y/no-static-element-interactions -- the list of steps has the same links */}
      <div onClick={openStep}>
        <LineChart
          label={`${panel.title} of ${models.map(({ name }) => name).join(", ")} by ${x}`}
          series={series}
          height={height}
          isTime={x === "time"}
          sync="model"
          formatX={x === "time" ? (at) => formatWholeTime(new Date(at)) : formatStep}
          formatY={(value) => formatMetric(metric, value)}
          range={range}
          onRange={(next) =>
            void navigate({
              search: (before) => ({ ...before, x0: next?.[0], x1: next?.[1] }),
              replace: true,
            })
          }
        />
      </div>
    </section>
  )
}

/** Between two steps there is none. */
function formatStep(step: number): string {
  return Number.isInteger(step) ? `${step}` : ""
}
