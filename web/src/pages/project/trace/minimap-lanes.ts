/** In which line of the strip each call is drawn: as deep as it lies, the deepest ones together in the last. */
import type { TraceTree } from "../../../calls/trace-tree.ts"

const mostLanes = 10

export function lanesOf({ spans }: Pick<TraceTree, "spans">): { laneOf: Uint8Array; lanes: number } {
  const deepest = spans.reduce((most, { depth }) => Math.max(most, depth), 0)
  const lanes = Math.min(mostLanes, deepest + 1)
  return { laneOf: Uint8Array.from(spans, ({ depth }) => Math.min(depth, lanes - 1)), lanes }
}
