/** Which run a line or a text is of: a shape and a colour, the baseline an empty ring. */
import type { ColorToken } from "../../../components/charts/chart-colors.ts"

const colors: readonly ColorToken[] = ["series-0", "series-1", "series-2", "series-3", "series-5", "series-6"]

export function runColor(index: number): string {
  return `var(--${colors[index] ?? "series-0"})`
}

/** Inside an SVG, around a point. */
export function RunShape({ index, x, y, size = 4 }: { index: number; x: number; y: number; size?: number }) {
  const fill = runColor(index)
  if (index === 0) return <circle cx={x} cy={y} r={size - 0.75} fill="none" stroke={fill} strokeWidth={1.75} />
  if (index === 1) return <circle cx={x} cy={y} r={size} fill={fill} />
  const corners = shapes[index - 2] ?? []
  return <polygon points={corners.map(([dx, dy]) => `${x + dx * size},${y + dy * size}`).join(" ")} fill={fill} />
}

/** Square, triangle, diamond, triangle that stands on its tip. */
const shapes: readonly (readonly (readonly [number, number])[])[] = [
  [
    [-0.9, -0.9],
    [0.9, -0.9],
    [0.9, 0.9],
    [-0.9, 0.9],
  ],
  [
    [0, -1.1],
    [1.1, 0.9],
    [-1.1, 0.9],
  ],
  [
    [0, -1.25],
    [1.25, 0],
    [0, 1.25],
    [-1.25, 0],
  ],
  [
    [0, 1.1],
    [1.1, -0.9],
    [-1.1, -0.9],
  ],
]

export function RunMark({ index }: { index: number }) {
  return (
    <svg width={12} height={12} aria-hidden>
      <RunShape index={index} x={6} y={6} size={4.5} />
    </svg>
  )
}
