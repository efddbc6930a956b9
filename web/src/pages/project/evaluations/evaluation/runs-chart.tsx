/** One metric over the runs, by when they started, between the ends of its interval. */
import { getRouteApi } from "@tanstack/react-router"
import { type Series, LineChart } from "../../../../components/charts/line-chart.tsx"
import { SelectField } from "../../../../components/controls/field.tsx"
import { betterDirection, directionWords, formatValue } from "../../../../evaluations/metrics.ts"
import { runFigure } from "../../../../evaluations/run-figures.ts"
import { counted } from "../../../../format/counted.ts"
import { formatWholeTime } from "../../../../format/times.ts"
import { metricsOf, type RunRow } from "./runs-table.tsx"
import styles from "./runs-chart.module.css"

const route = getRouteApi("/signed-in/$entity/$project/evaluations/$name")
const chartHeight = 180

interface RunsChartProps {
  runs: readonly RunRow[]
  /** Rows of some of them are still to come. */
  isReading: boolean
}

export function RunsChart({ runs, isReading }: RunsChartProps) {
  const { metric: chosen } = route.useSearch()
  const navigate = route.useNavigate()
  const metrics = metricsOf(runs)
  const metric = metrics.find(({ id }) => id === chosen) ?? metrics[0]
  const missing = isReading && runs.length > 1 ? <div className={styles.place} aria-hidden /> : null
  if (metric === undefined) return missing
  const points = runs
    .flatMap(({ run, rows }) => {
      const figure = rows === undefined ? undefined : runFigure(rows, metric)
      return figure === undefined ? [] : [{ at: Date.parse(run.startedAt), figure }]
    })
    .toReversed()
  // One run is no line.
  if (points.length < 2) return missing
  const datasets = new Set(
    runs.flatMap(({ dataset, rows }) => (rows === undefined || dataset === null ? [] : [dataset])),
  )
  const x = points.map(({ at }) => at)
  const line = (name: string, y: readonly number[], look: Partial<Series>): Series => ({
    name,
    x,
    y: [...y],
    color: "series-1",
    ...look,
  })
  const ends = (side: 0 | 1) => points.map(({ figure }) => figure.interval?.[side] ?? figure.mean)
  return (
    <section className={styles.chart} aria-label="Over the runs">
      <header className={styles.head}>
        <SelectField
          label="Metric over the runs"
          isLabelHidden
          value={metric.id}
          onChange={({ target }) =>
            void navigate({ search: (before) => ({ ...before, metric: target.value }), replace: true })
          }
        >
          {metrics.map(({ id, name }) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
        </SelectField>
        <span className={styles.note}>
          over {counted(points.length, "run")}, dashed: 95 % interval; {directionWords(betterDirection(metric, []))}
          {datasets.size > 1 && `; on ${datasets.size} versions of datasets`}
        </span>
      </header>
      <LineChart
        label={`${metric.name} over the runs`}
        height={chartHeight}
        isTime
        series={[
          line(
            metric.name,
            points.map(({ figure }) => figure.mean),
            {},
          ),
          line("low end of the interval", ends(0), { color: "series-0", isDashed: true }),
          line("high end of the interval", ends(1), { color: "series-0", isDashed: true }),
        ]}
        formatX={(at) => formatWholeTime(new Date(at))}
        formatY={(value) => formatValue(metric, value)}
      />
    </section>
  )
}
