/** The fields of a call that a query or a sort may name: evaluation-store-calls 3.6. Nothing else reaches a column. */
import { HeddleError } from "../../../../errors.ts"
import { queuesOfCall } from "../../labelling/queue-calls.ts"
import { expireAtSql } from "./call-expiry.ts"
import { callFeedbackValue } from "./call-feedback-field.ts"
import { type Expansion, payloadValue } from "./call-ref-field.ts"
import { hasNeedlessEscape, hasOddJson, readSummary } from "../calls-tables.ts"
import { payloadRefs } from "./payload-refs.ts"
import { jsonValue } from "../../query/json-value.ts"
import type { SqlParameters } from "../../query/sql-parameters.ts"
import { listValue, numberValue, type SqlValue, splitPath, textValue, timeValue } from "../../query/sql-value.ts"

const texts = new Set(["id", "trace_id", "parent_id", "thread_id", "turn_id", "op_name", "wb_user_id", "wb_run_id"])
/** '' stands for a value that was cleared. */
const clearableTexts = new Set(["display_name", "exception"])
const numbers = new Set(["wb_run_step", "wb_run_step_end"])
const times = new Set(["started_at", "ended_at", "deleted_at"])
const payloads = new Set(["attributes", "inputs", "output", "summary"])

const latencySql = "intDiv(toUnixTimestamp64Micro(ended_at) - toUnixTimestamp64Micro(started_at), 1000)"
const exceptionSql = "nullIf(exception, '')"
const displayNameSql = "nullIf(display_name, '')"
/** The name inside an op's or object's ref. */
const refNameSql = "nullIf(extract(assumeNotNull(op_name), '^weave:///[^/]+/[^/]+/(?:op|object)/([^/:]+):'), '')"
/** SQL: the name of the op inside its ref, else as it is. */
export const opTitleSql = `coalesce(${refNameSql}, op_name)`
const failedDescendantsSql = `${readSummary((text) => `JSONExtractFloat(${text}, 1, 'status_counts', 'error')`)} > 0`

/** Descendants' errors count before running here, after it in the answer: calls 3.2. */
const statusSql = `multiIf(${exceptionSql} is not null, 'error', ${failedDescendantsSql}, 'descendant_error', ended_at is null, 'running', 'success')`

/** SQL of a whole number: a count of a model's usage, as `usage/token-usage.ts` reads it. */
const countSql = (name: string) =>
  `toFloat64OrZero(extract(JSONExtractRaw(model.2, '${name}'), '^"?\\\\s*[+]?(-?[0-9]+)'))`
const countNames = ["prompt_tokens", "input_tokens", "completion_tokens", "output_tokens"]
const countedSql = countNames.map(countSql).join(" + ")
/** Of what the call itself reports; NULL without any. */
const tokensSql = `nullIf(${readSummary((text) => `arraySum(arrayMap(model -> ${countedSql}, JSONExtractKeysAndValuesRaw(${text}, 1, 'usage')))`)}, 0)`

const computed: Record<string, () => SqlValue> = {
  "summary.weave.status": () => textValue(statusSql),
  "summary.weave.latency_ms": () => numberValue(latencySql),
  "summary.weave.tokens": () => numberValue(tokensSql),
  "summary.weave.trace_name": () => textValue(`coalesce(${displayNameSql}, ${opTitleSql})`),
  "summary.weave.display_name": () => textValue(displayNameSql),
}

export interface CallFieldScope {
  projectId: string
  /** `entity/project`, which is not stored in the table. */
  projectName: string
  /** null: calls are kept until they are deleted. */
  retentionDays: number | null
  parameters: SqlParameters
  /** Shallow paths first. */
  expansions: readonly Expansion[]
}

/** Whether what the field names is read from payloads. */
export function isOfPayload(path: string): boolean {
  const [head = ""] = path.split(".", 1)
  return payloads.has(head.endsWith("_dump") ? head.slice(0, -"_dump".length) : head)
}

/** @throws {HeddleError} `invalid_field` for a name that is not a field of a call. */
export function callField(path: string, scope: CallFieldScope): SqlValue {
  const { projectName, parameters, expansions } = scope
  if (path.startsWith("feedback.")) return callFeedbackValue(path, scope)
  const special = Object.hasOwn(computed, path) ? computed[path] : undefined
  if (special !== undefined) return special()
  const [head = "", ...rest] = splitPath(path)
  const column = head.endsWith("_dump") ? head.slice(0, -"_dump".length) : head
  if (column === "attributes" && rest[0] === "otel_span")
    return jsonValue("otel_dump", rest.slice(1), parameters, hasOddJson, hasNeedlessEscape)
  if (payloads.has(column)) return payloadValue([column, ...rest], expansions, parameters)
  if (rest.length > 0 && path !== "annotation_queue_items.queue_id") throw unknownField(path)
  if (texts.has(head)) return textValue(head)
  if (clearableTexts.has(head)) return { ...textValue(`nullIf(${head}, '')`), storedText: head }
  if (numbers.has(head)) return numberValue(head)
  if (times.has(head)) return timeValue(head)
  if (head === "expire_at") return timeValue(expireAtSql(scope.retentionDays))
  if (head === "project_id") return textValue(parameters.bind(projectName, "String"))
  if (head === "input_refs") return listValue(payloadRefs("inputs"))
  if (head === "output_refs") return listValue(payloadRefs("output"))
  if (head === "annotation_queue_items" && rest.length > 0) return listValue(queuesOfCall(scope))
  throw unknownField(path)
}

function unknownField(path: string): HeddleError {
  return new HeddleError("invalid_field", `Field ${path} is not allowed`)
}
