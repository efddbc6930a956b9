/** The fields of feedback that a request may name: evaluation-store-objects 2.4 and 11. */
import { HeddleError } from "../../../errors.ts"
import { jsonValue } from "../query/json-value.ts"
import type { SqlParameters } from "../query/sql-parameters.ts"
import { isoTimeSql } from "../query/sql-time.ts"
import { listValue, mapValue, splitPath, type SqlValue, textValue, timeValue } from "../query/sql-value.ts"

export type FeedbackColumnKind = "text" | "time" | "project" | "payload" | "list" | "texts" | "numbers"

/** In the order of the contract. */
export const feedbackColumns = {
  id: "text",
  project_id: "project",
  weave_ref: "text",
  wb_user_id: "text",
  creator: "text",
  created_at: "time",
  feedback_type: "text",
  payload: "payload",
  annotation_ref: "text",
  runnable_ref: "text",
  call_ref: "text",
  trigger_ref: "text",
  queue_id: "text",
  scorer_tags: "list",
  scorer_tag_reasons: "texts",
  scorer_tag_confidences: "numbers",
  scorer_ratings: "numbers",
  scorer_rating_reasons: "texts",
  scorer_rating_confidences: "numbers",
  span_agent_name: "text",
  span_agent_version: "text",
  span_status_code: "text",
  span_conversation_id: "text",
  span_trace_id: "text",
  scorer_trace_id: "text",
} as const satisfies Record<string, FeedbackColumnKind>

export type FeedbackColumn = keyof typeof feedbackColumns

export interface FeedbackFieldScope {
  /** `entity/project`, which is what `project_id` means to a client. */
  projectName: string
  parameters: SqlParameters
}

/** As a value to compare or to sort by. @throws {HeddleError} `value_error` for an unknown field. */
export function feedbackValue(field: string, { projectName, parameters }: FeedbackFieldScope): SqlValue {
  const { column, rest } = resolve(field)
  const kind: FeedbackColumnKind = feedbackColumns[column]
  if (kind === "payload") return jsonValue("payload", rest === null ? [] : splitPath(rest), parameters)
  if (kind === "texts" || kind === "numbers") {
    if (rest === null) return textValue(`toJSONString(${column})`)
    return mapValue(column, rest, kind === "texts" ? "text" : "number", parameters)
  }
  if (kind === "list") return listValue(column)
  if (kind === "time") return timeValue(column)
  return textValue(kind === "project" ? parameters.bind(projectName, "String") : column)
}

/** As a column of the answer: payloads as the text between their brackets, paths into them as text. */
export function feedbackSelection(field: string, scope: FeedbackFieldScope): string {
  const { column, rest } = resolve(field)
  const kind: FeedbackColumnKind = feedbackColumns[column]
  if (rest !== null) return feedbackValue(field, scope).as(kind === "numbers" ? "number" : "text")
  if (kind === "payload") return "substring(payload, 2, length(payload) - 2)"
  if (kind === "time") return isoTimeSql(column)
  return kind === "project" ? scope.parameters.bind(scope.projectName, "String") : column
}

function resolve(field: string): { column: FeedbackColumn; rest: string | null } {
  if (isColumn(field)) return { column: field, rest: null }
  const dot = field.indexOf(".")
  const [column, rest] = [field.slice(0, dot), field.slice(dot + 1)]
  if (dot > 0 && rest !== "" && isColumn(column) && hasParts.has(feedbackColumns[column])) return { column, rest }
  throw new HeddleError("value_error", `Unknown field: ${field}`)
}

const hasParts = new Set<FeedbackColumnKind>(["payload", "texts", "numbers"])

function isColumn(name: string): name is FeedbackColumn {
  return Object.hasOwn(feedbackColumns, name)
}
