/** A line of a few dozen values, as tall as a line of text, with its last value marked. */
import { formatNumber } from "../../format/numbers.ts"
import type { ColorToken } from "./chart-colors.ts"
import styles from "./sparkline.module.css"

interface SparklineProps {
  values: readonly number[]
  /** Name of the values for screen readers: "reward". */
  what: string
  color?: ColorToken
  width?: number
  height?: number
}

const edge = 2.5

export function Sparkline({ values, what, color = "series-1", width = 84, height = 22 }: SparklineProps) {
  const [first, last] = [values[0], values.at(-1)]
  if (first === undefined || last === undefined) return null
  const low = Math.min(...values)
  const span = Math.max(...values) - low || 1
  const x = (index: number) => edge + (index / Math.max(1, values.length - 1)) * (width - 2 * edge)
  const y = (value: number) => height - edge - ((value - low) / span) * (height - 2 * edge)
  const points = values.map((value, index) => `${x(index).toFixed(1)},${y(value).toFixed(1)}`).join(" ")
  return (
    <svg
      className={styles.sparkline}
      width={width}
      height={height}
      role="img"
      aria-label={`${what}: from ${formatNumber(first)} to ${formatNumber(last)}`}
    >
      <polyline points={points} stroke={`var(--${color})`} />
      <circle cx={x(values.length - 1)} cy={y(last)} r={2} fill={`var(--${color})`} />
    </svg>
  )
}
