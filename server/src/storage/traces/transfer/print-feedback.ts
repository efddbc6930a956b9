/** Prints feedback for an export. */
import type { Readable } from "node:stream"
import { type FeedbackColumnKind, feedbackColumns } from "../labelling/feedback-fields.ts"
import { type FeedbackPage, type FeedbackSelection, feedbackRowsSql } from "../labelling/feedback-query.ts"
import type { TraceStore } from "../store/trace-store.ts"
import { type ColumnKind, type Columns, printedColumns, printFormats, type PrintStyle } from "./printed-columns.ts"

const printedAs: Readonly<Record<Exclude<FeedbackColumnKind, "project">, ColumnKind>> = {
  text: "text",
  time: "time",
  payload: "json",
  list: "values",
  texts: "values",
  numbers: "values",
}

/** All but the project, in the order in which they stand in a file. */
export const exportedFeedbackColumns: Columns = Object.fromEntries(
  Object.entries(feedbackColumns).flatMap(([name, kind]) => (kind === "project" ? [] : [[name, printedAs[kind]]])),
)

export function printFeedback(
  traces: TraceStore,
  selection: FeedbackSelection,
  page: Omit<FeedbackPage, "fields">,
  style: PrintStyle,
): Promise<Readable> {
  const { sql, parameters } = feedbackRowsSql(selection, page, () => printedColumns(exportedFeedbackColumns, style))
  return traces.print(sql, parameters, printFormats[style.format], { threads: 1 })
}
