/** Charts of the metrics whose names begin alike. What is folded is not read. */
import { ChevronRight } from "lucide-react"
import { useState } from "react"
import { type AskedMetrics, type ReadMetrics, useRunMetrics } from "../../../../api/runs/runs.ts"
import { classNames } from "../../../../components/class-names.ts"
import { Button } from "../../../../components/controls/button.tsx"
import { Icon } from "../../../../components/signs/icon.tsx"
import { ErrorNote } from "../../../../components/states/error-note.tsx"
import type { MetricGroup } from "../run-values.ts"
import { type CurveAxis, curveAxis, type Source } from "./curve-axis.ts"
import styles from "./curve-group.module.css"
import { RunChart } from "./run-chart.tsx"
import type { Drawing } from "./run-curves.tsx"

/** Charts that are read and drawn together: full rows of two, three and four. */
const chartsOfPart = 12
const points = 500

interface CurveGroupProps {
  group: MetricGroup
  source: Source
  isOpenAtFirst: boolean
  onToggle?: (isOpen: boolean) => void
  drawing: Drawing
}

export function CurveGroup({ group: { title, metrics }, source, isOpenAtFirst, onToggle, drawing }: CurveGroupProps) {
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
              source={source}
              drawing={drawing}
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
  source: Source
  drawing: Drawing
}

interface ChartPlace {
  metric: string
  axis: CurveAxis
}

function Charts({ title, metrics, source, drawing }: ChartsProps) {
  const { runs, search, definitions } = drawing
  const isCompared = runs.length > 1
  const charts = metrics.map((metric): ChartPlace => {
    const stepMetric = definitions.axisOf(metric)
    return { metric, axis: curveAxis({ source, x: search.x, isCompared, stepMetric }) }
  })
  const query = useRunMetrics(requestsOf(charts, source, drawing))
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
      <div className={classNames(styles.grid, isCompared && styles.compared)}>
        {charts.map(({ metric, axis }) => (
          <RunChart
            key={metric}
            metric={metric}
            axis={axis}
            source={source}
            drawing={drawing}
            curveOf={(run) => curveOf(query.data, run, axis.column, metric)}
            isRead={query.data?.some(({ x }) => x === axis.column) === true}
          />
        ))}
      </div>
    </>
  )
}

/** One for each run and column that charts stand over. */
function requestsOf(charts: readonly ChartPlace[], source: Source, { runs }: Drawing): AskedMetrics[] {
  const byColumn = Map.groupBy(charts, ({ axis }) => axis.column)
  return Array.from(byColumn, ([x, of]) => {
    const metric = of.map((chart) => chart.metric)
    const parameters = { source, metric, points, ...(x === undefined ? {} : { x }) }
    return runs.map((run) => ({ of: run.of, heardAt: run.heardAt, parameters }))
  }).flat()
}

function curveOf(read: readonly ReadMetrics[] | undefined, run: string, x: string | undefined, metric: string) {
  const ofRun = read?.filter((one) => one.run === run && one.x === x)
  return ofRun?.flatMap((one) => one.read.data).find((curve) => curve.metric === metric)
}
