/** Charts of the metrics whose names begin alike. */
import { type AskedMetrics, type ReadMetrics, type RunMetrics, useRunMetrics } from "../../../../api/runs/runs.ts"
import { classNames } from "../../../../components/class-names.ts"
import { Fold } from "../../../../components/layout/fold.tsx"
import { InParts } from "../../../../components/layout/in-parts.tsx"
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
  const places = metrics.map((metric) => placeOf(metric, source, drawing))
  const shared = sharedAxis(places)
  return (
    <Fold
      title={title}
      count={metrics.length}
      note={shared === undefined ? undefined : `over ${shared}`}
      isOpenAtFirst={isOpenAtFirst}
      onToggle={onToggle}
    >
      <InParts items={places} size={chartsOfPart} title={title}>
        {(charts, part) => (
          <Charts
            key={part}
            charts={charts}
            title={title}
            isAxisTold={shared !== undefined}
            source={source}
            drawing={drawing}
          />
        )}
      </InParts>
    </Fold>
  )
}

function placeOf(metric: string, source: Source, { runs, search, definitions }: Drawing): ChartPlace {
  const stepMetric = definitions.axisOf(metric)
  return { metric, axis: curveAxis({ source, x: search.x, isCompared: runs.length > 1, stepMetric }) }
}

/** The metric that all others of the group stand over; undefined: there are several, or none. */
function sharedAxis(places: readonly ChartPlace[]): string | undefined {
  const [first, ...others] = new Set(
    places.filter(({ metric }) => !isAxisOf(places, metric)).map(({ axis }) => (axis.isOwn ? axis.name : undefined)),
  )
  return others.length === 0 ? first : undefined
}

const isAxisOf = (places: readonly ChartPlace[], metric: string) => places.some(({ axis }) => axis.column === metric)

interface ChartPlace {
  metric: string
  axis: CurveAxis
}

interface ChartsProps {
  charts: readonly ChartPlace[]
  title: string
  /** Whether the head of the group says what they stand over. */
  isAxisTold: boolean
  source: Source
  drawing: Drawing
}

function Charts({ charts, title, isAxisTold, source, drawing }: ChartsProps) {
  const { runs } = drawing
  const isCompared = runs.length > 1
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
            name={nameInGroup(metric, title, source)}
            axis={axis}
            isAxisTold={isAxisTold}
            source={source}
            drawing={drawing}
            curveOf={(run) =>
              readOf(query.data, run, axis.column)
                .flatMap(({ data }) => data)
                .find(isOf(metric))
            }
            notFiniteOf={(run) =>
              readOf(query.data, run, axis.column)
                .flatMap((one) => one.not_finite)
                .find(isOf(metric))
            }
            isRead={query.data?.some(({ x }) => x === axis.column) === true}
          />
        ))}
      </div>
    </>
  )
}

/** Without what the head of the group says already. */
function nameInGroup(metric: string, title: string, source: Source): string {
  const before = source === "system" ? "system." : `${title}/`
  return metric.startsWith(before) ? metric.slice(before.length) : metric
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

/** What was read of a run for charts over one column. */
function readOf(read: readonly ReadMetrics[] = [], run: string, x: string | undefined): RunMetrics[] {
  return read.filter((one) => one.run === run && one.x === x).map((one) => one.read)
}

const isOf = (metric: string) => (one: { metric: string }) => one.metric === metric
