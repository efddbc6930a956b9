/** Charts of the metrics whose names begin alike. What is folded is not read. */
import { getRouteApi } from "@tanstack/react-router"
import { ChevronRight } from "lucide-react"
import { useState } from "react"
import { type OfRun, type RunMetrics, useRunMetrics } from "../../../../api/runs/runs.ts"
import { LineChart } from "../../../../components/charts/line-chart.tsx"
import { classNames } from "../../../../components/class-names.ts"
import { Button } from "../../../../components/controls/button.tsx"
import { Icon } from "../../../../components/signs/icon.tsx"
import { ErrorNote } from "../../../../components/states/error-note.tsx"
import { formatExact, formatNumber } from "../../../../format/numbers.ts"
import { formatWholeTime } from "../../../../format/times.ts"
import { curveSeries } from "../../training/curve-series.ts"
import type { MetricGroup } from "../run-values.ts"
import styles from "./curve-group.module.css"

const route = getRouteApi("/signed-in/$entity/$project/runs/$name")

/** Charts that are read and drawn together: full rows of two, three and four. */
const chartsOfPart = 12
const points = 500
const chartHeight = 140

type Source = "history" | "system"
type Curve = RunMetrics["data"][number]

interface CurveGroupProps {
  group: MetricGroup
  of: OfRun
  heardAt: string
  source: Source
  isOpenAtFirst: boolean
  onToggle?: (isOpen: boolean) => void
}

export function CurveGroup({
  group: { title, metrics },
  of,
  heardAt,
  source,
  isOpenAtFirst,
  onToggle,
}: CurveGroupProps) {
  const [isOpen, setOpen] = useState(isOpenAtFirst)
  const [parts, setParts] = useState(1)
  const shown = metrics.slice(0, parts * chartsOfPart)
  const more = Math.min(metrics.length - shown.length, chartsOfPart)
  const toggle = () => {
    setOpen(!isOpen)
    onToggle?.(!isOpen)
  }
  return (
    <section aria-label={title}>
      <h2 className={styles.head}>
        <button type="button" className={styles.fold} aria-expanded={isOpen} onClick={toggle}>
          <Icon of={ChevronRight} size={14} className={classNames(styles.arrow, isOpen && styles.open)} />
          {title} <span className={styles.count}>{metrics.length}</span>
        </button>
      </h2>
      {isOpen && (
        <>
          {Array.from({ length: Math.ceil(shown.length / chartsOfPart) }, (_, part) => (
            <Charts
              key={part}
              metrics={shown.slice(part * chartsOfPart, (part + 1) * chartsOfPart)}
              title={title}
              of={of}
              heardAt={heardAt}
              source={source}
            />
          ))}
          {more > 0 && (
            <div className={styles.more}>
              <Button onClick={() => setParts(parts + 1)}>
                Show {more} more of {title}
              </Button>
            </div>
          )}
        </>
      )}
    </section>
  )
}

interface ChartsProps {
  title: string
  metrics: readonly string[]
  of: OfRun
  heardAt: string
  source: Source
}

function Charts({ title, metrics, of, heardAt, source }: ChartsProps) {
  const query = useRunMetrics(of, { source, metric: metrics, points }, heardAt)
  return (
    <>
      {query.error && (
        <div className={styles.error}>
          <ErrorNote
            what={`The curves of ${title} could not be read.`}
            error={query.error}
            onRetry={() => void query.refetch()}
          />
        </div>
      )}
      <div className={styles.grid}>
        {metrics.map((metric) => (
          <Chart
            key={metric}
            metric={metric}
            source={source}
            curve={query.data?.data.find((one) => one.metric === metric)}
          />
        ))}
      </div>
    </>
  )
}

/** Until its curve is there the chart has its place already. */
function Chart({ metric, source, curve }: { metric: string; source: Source; curve: Curve | undefined }) {
  const { x = "step", smooth = 0, x0, x1 } = route.useSearch()
  const navigate = route.useNavigate()
  // Steps of the machine's metrics are no steps of the program.
  const axis = source === "system" ? "time" : x
  const name = source === "system" ? metric.replace(/^system\./, "") : metric
  const newest = curve?.last.at(-1)
  const zoom =
    source === "system"
      ? {}
      : {
          range: x0 === undefined || x1 === undefined ? null : ([x0, x1] as const),
          onRange: (next: readonly [number, number] | null) =>
            void navigate({ search: (before) => ({ ...before, x0: next?.[0], x1: next?.[1] }), replace: true }),
        }
  return (
    <section className={styles.chart} aria-label={name}>
      <header className={styles.title}>
        <h3 className={styles.name} title={metric}>
          {name}
        </h3>
        {newest !== undefined && (
          <b className={styles.newest} title={formatExact(newest)}>
            {formatNumber(newest)}
          </b>
        )}
      </header>
      {curve === undefined ? (
        <div style={{ height: chartHeight }} />
      ) : (
        <LineChart
          label={`${name} by ${axis}`}
          series={curveSeries(
            [{ name, color: source === "system" ? "series-0" : "series-1", isDashed: false, curve }],
            {
              x: axis,
              smooth: Math.min(0.99, Math.max(0, smooth)),
            },
          )}
          height={chartHeight}
          isTime={axis === "time"}
          sync={`run ${axis}`}
          formatX={axis === "time" ? (at) => formatWholeTime(new Date(at)) : formatStep}
          {...zoom}
        />
      )}
    </section>
  )
}

/** Between two steps there is none. */
function formatStep(step: number): string {
  return Number.isInteger(step) ? `${step}` : ""
}
