/** Which step of a model a click on a chart of it means. */
import { type Points, wholeRange } from "../../../../components/charts/buckets.ts"

interface Place {
  /** Pixels from the left edge of the chart's plot, and its width. */
  left: number
  width: number
}

/**
 * The step that lies nearest to the place; null: there is none.
 * A line of 10,000 steps has fewer points than that: the nearest step is then one between two points.
 */
export function stepAt(lines: readonly Points[], { left, width }: Place): number | null {
  const [from, to] = wholeRange(lines) ?? [0, 0]
  const at = from + (left / width) * (to - from)
  const known = lines.flatMap(({ x }) => Array.from(x))
  const nearest = known.toSorted((a, b) => Math.abs(a - at) - Math.abs(b - at))[0]
  return nearest === undefined ? null : Math.round(nearest)
}
