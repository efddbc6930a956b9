/** `feedback.[<type>].…` of a call in queries and sorts: evaluation-store-calls 3.6. */
import { codePoints } from "../../../../json/code-points.ts"
import { HeddleError } from "../../../../errors.ts"
import { jsonValue } from "../../query/json-value.ts"
import type { SqlParameters } from "../../query/sql-parameters.ts"
import { isoTimeSql } from "../../query/sql-time.ts"
import { listValue, splitPath, type SqlValue, textValue } from "../../query/sql-value.ts"

const form = /^feedback\.\[(?<type>[^\]]+)\]\.(?<path>.+)$/s
const texts = ["runnable_ref", "call_ref", "trigger_ref", "annotation_ref", "creator", "wb_user_id", "id"] as const

export interface FeedbackScope {
  projectId: string
  projectName: string
  parameters: SqlParameters
}

/** The value in the newest feedback of this type on the call; for the type `*`, the values of all its feedback as a list. */
export function callFeedbackValue(field: string, scope: FeedbackScope): SqlValue {
  const { type, path } = form.exec(field)?.groups ?? {}
  if (type === undefined || path === undefined) throw notAllowed(field)
  const [head = "", ...rest] = splitPath(path)
  const isPayload = head === "payload"
  const column = isPayload ? "payload" : textColumn(head, rest, field)
  if (type !== "*") {
    const value = lookup(`argMax(${column}, (created_at, id))`, type, scope)
    return isPayload ? jsonValue(value, rest, scope.parameters, null) : textValue(`nullIf(${value}, '')`)
  }
  const each = isPayload ? jsonValue("payload", rest, scope.parameters).as("text") : `nullIf(${column}, '')`
  return listValue(`JSONExtract(${lookup(`toJSONString(groupArray(${each}))`, null, scope)}, 'Array(String)')`)
}

function textColumn(head: string, rest: readonly string[], field: string): string {
  if (rest.length > 0) throw notAllowed(field)
  if (head === "created_at") return isoTimeSql("created_at")
  const column = texts.find((one) => one === head)
  if (column === undefined) throw notAllowed(field)
  return `ifNull(${column}, '')`
}

/** SQL: `aggregate` over the feedback on the row's call, of one type or (`type` null) of all; '' where there is none. */
function lookup(aggregate: string, type: string | null, { projectId, projectName, parameters }: FeedbackScope): string {
  const prefix = `weave:///${projectName}/call/`
  const start = parameters.bind(prefix, "String")
  const ofType = type === null ? "" : ` and feedback_type = ${parameters.bind(type, "String")}`
  const pairs = `(select (groupArray(call), groupArray(value)) from (
    select substring(weave_ref, ${codePoints(prefix) + 1}) as call, ${aggregate} as value from feedback final
    where feedback.project_id = ${parameters.bind(projectId, "UUID")}${ofType} and startsWith(weave_ref, ${start})
    group by call))`
  return `transform(id, tupleElement(${pairs}, 1), tupleElement(${pairs}, 2), '')`
}

function notAllowed(field: string): HeddleError {
  return new HeddleError(
    "invalid_field",
    `Field ${field} is not allowed; write feedback.[<type>].payload.<path> or feedback.[*].<column>`,
  )
}
