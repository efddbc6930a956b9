/** The chart of one metric: a line for each run that has it. */
import { LineChart } from "../../../../components/charts/line-chart.tsx"
import { formatExact, formatNumber } from "../../../../format/numbers.ts"
import { curveSeries } from "../../training/curve-series.ts"
import { type CurveAxis, onAxis, type RunCurve, type Source } from "./curve-axis.ts"
import styles from "./curve-group.module.css"
import { type NotFinite, notDrawnTitle, notDrawnWords } from "./not-drawn.ts"
import type { Drawing } from "./run-curves.tsx"

interface RunChartProps {
  metric: string
  /** In the title. */
  name: string
  axis: CurveAxis
  isAxisTold: boolean
  source: Source
  drawing: Drawing
  /** undefined: not read yet, or the run has none. */
  curveOf: (run: string) => RunCurve | undefined
  /** What the run logged of it that is no finite number. */
  notFiniteOf: (run: string) => NotFinite | undefined
  isRead: boolean
}

const heights = { one: 140, compared: 200 }

/** Until its curves are there the chart has its place already. */
export function RunChart(props: RunChartProps) {
  const { metric, name: title, axis, isAxisTold, source, drawing, curveOf, notFiniteOf, isRead } = props
  const { runs, search, onChange } = drawing
  const { smooth = 0, x0, x1 } = search
  const isCompared = runs.length > 1
  const name = source === "system" ? metric.replace(/^system\./, "") : metric
  const drawn = runs.flatMap((run) => {
    const curve = curveOf(run.of.run)
    if (curve === undefined) return []
    const looks = isCompared ? run : { name, color: source === "system" ? ("series-0" as const) : run.color }
    return { isDashed: run.isDashed, ...looks, curve: onAxis(curve, axis) }
  })
  const gaps = runs.flatMap((run) => {
    const found = notFiniteOf(run.of.run)
    return found === undefined ? [] : [{ run, found }]
  })
  const newest = isCompared ? undefined : newestOf(drawn[0]?.curve, gaps[0]?.found)
  const height = isCompared ? heights.compared : heights.one
  // The part that the address names is one of the axis that most charts share.
  const isShared = source === "history" && !axis.isOwn
  const zoom = isShared
    ? {
        range: x0 === undefined || x1 === undefined ? null : ([x0, x1] as const),
        onRange: (next: readonly [number, number] | null) => onChange({ x0: next?.[0], x1: next?.[1] }),
      }
    : {}
  return (
    <section className={styles.chart} aria-label={name}>
      <header className={styles.title}>
        <h3 className={styles.name} title={metric}>
          {title}
        </h3>
        {axis.isOwn && !isAxisTold && <span className={styles.axis}>over {axis.name}</span>}
        {newest !== undefined && (
          <b className={styles.newest} title={typeof newest === "number" ? formatExact(newest) : undefined}>
            {typeof newest === "number" ? formatNumber(newest) : newest}
          </b>
        )}
      </header>
      {drawn.length === 0 ? (
        <div className={styles.noCurve} style={{ height }}>
          {isRead &&
            (gaps.length > 0
              ? "Not one finite number was logged."
              : axis.column !== undefined && `No row of it has a number ${axis.column} as well.`)}
        </div>
      ) : (
        <LineChart
          label={`${name} by ${axis.name}`}
          series={curveSeries(drawn, {
            x: axis.isTime ? "time" : "step",
            smooth: Math.min(0.99, Math.max(0, smooth)),
          })}
          height={height}
          isTime={axis.isTime}
          isDuration={axis.isDuration}
          sync={`run ${axis.column ?? axis.name}`}
          formatX={axis.format}
          {...zoom}
        />
      )}
      {gaps.map(({ run, found }) => (
        <p key={run.of.run} className={styles.gap} title={notDrawnTitle(found)}>
          {isCompared && `${run.name}: `}
          {notDrawnWords(found)}
        </p>
      ))}
    </section>
  )
}

/** What the run logged last, which may be in no curve. */
function newestOf(curve: RunCurve | undefined, gap: NotFinite | undefined): number | string | undefined {
  const isLater = gap !== undefined && gap.last.step > (curve?.step.reduce((a, b) => Math.max(a, b), -1) ?? -1)
  return isLater ? gap.last.value : curve?.last.at(-1)
}
