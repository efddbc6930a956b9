/** The calls of which feedback was said, for their names: a request for each hundred rows. */
import { useState } from "react"
import type { FeedbackRow } from "../../../../api/calls/feedback.ts"
import { useCallPages } from "../../../../api/calls/call-pages.ts"
import type { Call } from "../../../../api/calls/calls.ts"
import { callIdOf } from "./feedback-query.ts"

const rowsOfRequest = 100
const columns = ["op_name", "display_name", "trace_id", "parent_id", "started_at"]

/** By id; calls that are not read yet, or were deleted, are not there. */
export function useCallsOfFeedback(project_id: string, rows: readonly FeedbackRow[]): ReadonlyMap<string, Call> {
  // Counted from the oldest: rows that come in later change the first request alone.
  const parts = Array.from({ length: Math.ceil(rows.length / rowsOfRequest) }, (_, part) => {
    const end = rows.length - part * rowsOfRequest
    const ofPart = rows.slice(Math.max(0, end - rowsOfRequest), end)
    return [...new Set(ofPart.flatMap((row) => callIdOf(row) ?? []))]
  })
  const pages = useCallPages(
    // Without an id a filter leaves nothing out.
    parts.filter((ids) => ids.length > 0).map((call_ids) => ({ project_id, filter: { call_ids }, columns })),
    0,
    false,
  )
  const [known, setKnown] = useState<ReadonlyMap<string, Call>>(new Map())
  const read = pages.flatMap(({ data = [] }) => data)
  if (read.every(({ id }) => known.has(id))) return known
  // Names that were read stay while those of newer rows are read with them again.
  const all = new Map([...known, ...read.map((call) => [call.id, call] as const)])
  setKnown(all)
  return all
}
