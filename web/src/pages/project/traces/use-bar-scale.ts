/** How long the bars of durations are. */
import { useState } from "react"
import type { Call } from "../../../api/calls/calls.ts"
import { callDuration } from "../../../calls/call-names.ts"

/**
 * Milliseconds of the longest bar. Nine of ten calls are shorter: one that is far longer than the others would leave these
 * without a bar. A power of two, and that of the rows before while none of those that are seen is there: for another one
 * the browser computes the styles of all that the rows hold anew, which takes as long as two frames of scrolling.
 */
export function useBarScale(shown: readonly Call[]): number {
  const [kept, setKept] = useState(1)
  const durations = shown.flatMap((call) => callDuration(call) ?? []).toSorted((a, b) => a - b)
  const long = durations[Math.floor(durations.length * 0.9)]
  if (long === undefined) return kept
  const scale = 2 ** Math.ceil(Math.log2(Math.max(1, long)))
  if (scale !== kept) setKept(scale)
  return scale
}
