/** Prints feedback for an export. */
import type { Readable } from "node:stream"
import { type FeedbackPage, type FeedbackSelection, feedbackRowsSql } from "../feedback/feedback-query.ts"
import type { TraceStore } from "../store/trace-store.ts"
import { type ColumnKind, printedColumns, printFormats, type PrintStyle } from "./printed-columns.ts"

/** In the order in which they stand in a file. */
export const exportedFeedbackColumns = {
  id: "text",
  weave_ref: "text",
  wb_user_id: "text",
  creator: "text",
  created_at: "time",
  feedback_type: "text",
  payload: "json",
  annotation_ref: "text",
  runnable_ref: "text",
  call_ref: "text",
  trigger_ref: "text",
  queue_id: "text",
  scorer_tags: "values",
  scorer_tag_reasons: "values",
  scorer_tag_confidences: "values",
  scorer_ratings: "values",
  scorer_rating_reasons: "values",
  scorer_rating_confidences: "values",
  span_agent_name: "text",
  span_agent_version: "text",
  span_status_code: "text",
  span_conversation_id: "text",
  span_trace_id: "text",
  scorer_trace_id: "text",
} as const satisfies Record<string, ColumnKind>

export function printFeedback(
  traces: TraceStore,
  selection: FeedbackSelection,
  page: Omit<FeedbackPage, "fields">,
  style: PrintStyle,
  signal: AbortSignal,
): Promise<Readable> {
  const { sql, parameters } = feedbackRowsSql(selection, page, () => printedColumns(exportedFeedbackColumns, style))
  return traces.print(sql, parameters, printFormats[style.format], { signal, threads: 1 })
}
