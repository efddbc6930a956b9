/**
 * Lines or bars over a shared x axis. Dragging zooms, a double click goes back; charts with the same `sync` share the cursor.
 * However many points there are, each column of pixels shows its lowest and highest, so no peak is lost.
 */
import { Table as TableIcon } from "lucide-react"
import { useEffect, useEffectEvent, useRef, useState } from "react"
import type uPlot from "uplot"
import { formatNumber } from "../../format/numbers.ts"
import { formatMoment } from "../../format/times.ts"
import { useTheme } from "../../theme/theme.ts"
import { Button } from "../controls/button.tsx"
import { alignLines, type Points, wholeRange } from "./buckets.ts"
import { type ColorToken, colorOf } from "./chart-colors.ts"
import { ChartTable } from "./chart-table.tsx"
import styles from "./line-chart.module.css"
import type * as PlotOptions from "./plot-options.ts"
import "uplot/dist/uPlot.min.css"

const retryMs = 2_000

export interface Series extends Points {
  name: string
  color: ColorToken
  kind?: "line" | "step" | "bars"
  isDashed?: boolean
  /** Behind the others: the raw values of a smoothed line. */
  isFaint?: boolean
}

interface LineChartProps {
  /** One sentence: what the chart shows, for readers. */
  label: string
  series: readonly Series[]
  height: number
  /** x is in milliseconds since 1970. */
  isTime?: boolean
  /** x is in seconds since something began. */
  isDuration?: boolean
  formatX?: (x: number) => string
  formatY?: (y: number) => string
  /** At the axis, when it is shorter there. */
  formatTick?: (y: number) => string
  /** Fixed ends of the y axis; null: by the values. */
  yRange?: readonly [number | null, number | null]
  /** The part of x that is shown; undefined: the chart keeps it itself. */
  range?: readonly [number, number] | null
  onRange?: (range: [number, number] | null) => void
  sync?: string
}

const momentOf = (x: number) => formatMoment(new Date(x))

export function LineChart(props: LineChartProps) {
  const { label, series, height, isTime, formatX = isTime ? momentOf : formatNumber, formatY = formatNumber } = props
  const [isTable, setTable] = useState(false)
  return (
    <figure className={styles.figure} style={{ minHeight: height }}>
      {isTable ? (
        <ChartTable label={label} series={series} height={height} formatX={formatX} formatY={formatY} />
      ) : (
        <Canvas {...props} />
      )}
      <span className={styles.tools}>
        <Button
          size="small"
          kind="quiet"
          icon={TableIcon}
          isOn={isTable}
          aria-label={`Show as a table: ${label}`}
          onClick={() => setTable(!isTable)}
        />
      </span>
    </figure>
  )
}

/** A server that is away when the first chart is shown is asked again: the chart waits, and the page stays. null: it has ended. */
async function loadPlotOptions(ended: AbortSignal, onLate: () => void): Promise<typeof PlotOptions | null> {
  while (!ended.aborted) {
    try {
      return await import("./plot-options.ts")
    } catch {
      onLate()
      await new Promise((resolve) => setTimeout(resolve, retryMs))
    }
  }
  return null
}

function Canvas(props: LineChartProps) {
  const { label, series, height, isTime = false, isDuration = false, yRange, sync } = props
  const { formatX, formatY = formatNumber } = props
  const { formatTick = formatY } = props
  const box = useRef<HTMLDivElement>(null)
  const plot = useRef<uPlot | null>(null)
  const [ownRange, setOwnRange] = useState<[number, number] | null>(null)
  const [state, setState] = useState<"coming" | "late" | "drawn">("coming")
  const theme = useTheme()
  const range = props.range === undefined ? ownRange : props.range

  const onRange = useEffectEvent((next: [number, number] | null) => {
    if (props.range === undefined) setOwnRange(next)
    props.onRange?.(next)
  })
  const showX = useEffectEvent((x: number) => formatX?.(x) ?? formatNumber(x))
  const showY = useEffectEvent((y: number) => formatY(y))
  const showTick = useEffectEvent((y: number) => formatTick(y))
  const redraw = useEffectEvent(() => plot.current !== null && draw(plot.current, series, range))
  const start = useEffectEvent(async (made: string, ended: AbortSignal) => {
    const loaded = await loadPlotOptions(ended, () => setState("late"))
    const parent = box.current
    if (ended.aborted || loaded === null || parent === null) return
    const chart = loaded.makePlot(parent, JSON.parse(made), { onRange, showX, showY, showTick, colorOf })
    plot.current = chart
    redraw()
    setState("drawn")
    const resizing = new ResizeObserver(() => {
      chart.setSize({ width: parent.clientWidth, height })
      redraw()
    })
    resizing.observe(parent)
    ended.addEventListener("abort", () => resizing.disconnect())
  })

  const looks = series.map(({ name, color, kind = "line", isDashed = false, isFaint = false }) => ({
    name,
    color,
    kind,
    isDashed,
    isFaint,
  }))
  // Everything that makes a new chart, theme colours included; its data comes in the effect below.
  const shape = JSON.stringify({ theme, looks, height, isTime, isDuration, yRange, sync })

  // The canvas, which uPlot draws.
  useEffect(() => {
    const ending = new AbortController()
    void start(shape, ending.signal)
    return () => {
      ending.abort()
      plot.current?.destroy()
      plot.current = null
    }
  }, [shape])

  // The canvas again: new points, another part of them.
  useEffect(() => {
    if (plot.current !== null) draw(plot.current, series, range)
  }, [series, range])

  return (
    <>
      {state === "late" && (
        <p className={styles.late} role="status">
          The code that draws this chart did not come. It is asked for again; if the server was upgraded, reload the
          page.
        </p>
      )}
      <div
        ref={box}
        className={styles.canvas}
        style={{ height }}
        role="img"
        aria-label={label}
        data-drawn={state === "drawn"}
      />
    </>
  )
}

function draw(chart: uPlot, series: readonly Series[], range: readonly [number, number] | null): void {
  const [from, to] = range ?? wholeRange(series) ?? [0, 1]
  const columns = Math.max(50, Math.floor(chart.width))
  chart.setData(alignLines(series, from, to, columns), false)
  chart.setScale("x", { min: from, max: from === to ? to + 1 : to })
}

/** Names of the lines, always shown beside the title, so that nobody has to remember colours. */
export function ChartLegend({ series }: { series: readonly Pick<Series, "name" | "color" | "isDashed">[] }) {
  return (
    <span className={styles.legend}>
      {series.map(({ name, color, isDashed = false }) => (
        <span key={name} className={styles.entry}>
          <LineMark color={color} isDashed={isDashed} />
          {name}
        </span>
      ))}
    </span>
  )
}

/** A piece of a line as a chart draws it, beside the name of what it is of. */
export function LineMark({ color, isDashed }: { color: ColorToken; isDashed: boolean }) {
  const look = { borderTopColor: `var(--${color})`, borderTopStyle: isDashed ? "dashed" : "solid" } as const
  return <i className={styles.mark} style={look} />
}
