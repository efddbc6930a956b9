/** Which step of a model a click on a chart of it means. */
import { type Points, wholeRange } from "../../../../components/charts/buckets.ts"

interface Place {
  /** Pixels from the left edge of the chart's plot, and its width. */
  left: number
  width: number
}

/**
 * Of `steps` the one that lies nearest to the place; null: there are none. `lines`: all that the chart shows, also those of
 * other models, which may go on where this one has no step.
 */
export function stepAt(steps: readonly number[], lines: readonly Points[], { left, width }: Place): number | null {
  const [from, to] = wholeRange(lines) ?? [0, 0]
  const at = from + (left / width) * (to - from)
  return steps.toSorted((a, b) => Math.abs(a - at) - Math.abs(b - at))[0] ?? null
}
