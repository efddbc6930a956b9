/**
 * Points, or the lines through them, over any x: several points may share one, as the steps of a ROC curve do, which
 * line-chart.tsx would draw as one.
 */
import { formatNumber } from "../../format/numbers.ts"
import type { ColorToken } from "./chart-colors.ts"
import { extentOf } from "./extent.ts"
import { niceTicks } from "./nice-ticks.ts"
import styles from "./xy-plot.module.css"

export interface XySeries {
  name: string
  color: ColorToken
  x: readonly number[]
  y: readonly number[]
}

interface XyPlotProps {
  /** One sentence: what the plot shows, for readers. */
  label: string
  series: readonly XySeries[]
  kind: "lines" | "points"
  /** In pixels, with the labels below. */
  height: number
}

/** The plot is drawn in a square of this side, which is then stretched. */
const side = 1000

export function XyPlot({ label, series, kind, height }: XyPlotProps) {
  const [across, up] = [scaleOf(series.flatMap(({ x }) => x)), scaleOf(series.flatMap(({ y }) => y))]
  const pointsOf = ({ x, y }: XySeries) =>
    x.map((at, place) => `${across.share(at) * side} ${(1 - up.share(y[place] ?? 0)) * side}`)
  return (
    <div className={styles.plot} style={{ height }} role="img" aria-label={label}>
      <div className={styles.area}>
        {up.ticks.map((tick) => (
          <span key={tick} className={styles.up} style={{ bottom: `${up.share(tick) * 100}%` }}>
            {formatNumber(tick)}
          </span>
        ))}
        {across.ticks.map((tick) => (
          <span key={tick} className={styles.across} style={{ left: `${across.share(tick) * 100}%` }}>
            {formatNumber(tick)}
          </span>
        ))}
        <svg className={styles.drawing} viewBox={`0 0 ${side} ${side}`} preserveAspectRatio="none" aria-hidden>
          {series.map((one) => (
            <path
              key={one.name}
              className={kind === "lines" ? styles.line : styles.points}
              stroke={`var(--${one.color})`}
              // A line without length is a dot, since its ends are round.
              d={
                kind === "lines"
                  ? `M${pointsOf(one).join("L")}`
                  : pointsOf(one)
                      .map((at) => `M${at}h0`)
                      .join("")
              }
            />
          ))}
        </svg>
      </div>
    </div>
  )
}

interface Scale {
  ticks: readonly number[]
  /** From 0 to 1. */
  share: (value: number) => number
}

function scaleOf(values: readonly number[]): Scale {
  const [low, high] = extentOf(values)
  const ticks = niceTicks(low, high)
  const [from, to] = [Math.min(low, ticks[0] ?? low), Math.max(high, ticks.at(-1) ?? high)]
  return { ticks, share: (value) => (to > from ? (value - from) / (to - from) : 0.5) }
}
