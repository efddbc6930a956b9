/** The changes of one metric, each with its interval, around 0; better is to the right. */
import type { MetricComparison } from "../../../evaluations/comparison.ts"
import {
  type Direction,
  formatDifference,
  formatDifferenceInterval,
  type Metric,
} from "../../../evaluations/metrics.ts"
import { RunShape, runColor } from "./run-mark.tsx"

const width = 148
const height = 30
const edge = 8

interface ChangeForestProps {
  /** One comparison per candidate, in order; undefined: it lacks the metric. */
  comparisons: readonly (MetricComparison | undefined)[]
  direction: Direction
}

export function ChangeForest({ comparisons, direction }: ChangeForestProps) {
  const shown = comparisons.flatMap((one, index) => (one === undefined ? [] : [{ ...one, index: index + 1 }]))
  const far = Math.max(...shown.flatMap(({ change, interval }) => [change, ...(interval ?? [])].map(Math.abs)))
  const sign = direction === "up" ? 1 : -1
  const x = (value: number) => width / 2 + (far === 0 ? 0 : ((value * sign) / far) * (width / 2 - edge))
  const y = (place: number) => (height * (place + 1)) / (shown.length + 1)
  return (
    <svg width={width} height={height} role="img" aria-label={shown.map(words).join("; ")}>
      <path d={`M${width / 2} 0V${height}`} stroke="var(--line-strong)" />
      {shown.map(({ index, change, interval }, place) => (
        <g key={index}>
          {interval && (
            <path d={`M${x(interval[0])} ${y(place)}H${x(interval[1])}`} stroke={runColor(index)} strokeWidth={2} />
          )}
          <RunShape index={index} x={x(change)} y={y(place)} size={shown.length > 2 ? 3 : 4} />
        </g>
      ))}
    </svg>
  )
}

function words({ metric, change, interval }: { metric: Metric } & Pick<MetricComparison, "change" | "interval">) {
  const value = formatDifference(metric, change)
  return interval === null ? value : `${value} ${formatDifferenceInterval(metric, interval)}`
}
