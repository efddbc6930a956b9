/** Prints what training data is made of: of each call its payloads as they came, and the texts of some fields. */
import type { Readable } from "node:stream"
import { SqlParameters } from "../query/sql-parameters.ts"
import type { TraceStore } from "../store/trace-store.ts"
import { callField } from "./fields/call-query-fields.ts"
import { hasId } from "./insert/call-keys.ts"
import { type CallsProject, type CallsQuery, selectCalls } from "./calls-selection.ts"
import { callsFinal } from "./calls-tables.ts"

const payload = (name: string) => `ifNull(substring(${name}, 2, length(${name}) - 2), 'null')`
/** Between the tokens of a JSON text, where a line break is a blank. */
const inLine = (text: string) => `replaceAll(replaceAll(${text}, '\\n', ' '), '\\r', ' ')`

export interface PayloadsRequest extends CallsProject, Pick<CallsQuery, "filter" | "query"> {
  /** Besides what filter and query say; null: any. */
  ids: readonly string[] | null
  fields: readonly string[]
  /** null: all. */
  limit: number | null
}

/**
 * A line for each call, by time: `[[id, exception, "1" if it has ended, …fields], inputs, output, attributes]`.
 * @throws {HeddleError} for a field or expression that means nothing.
 */
export function printPayloads(
  traces: TraceStore,
  { ids, fields, limit, projectId, projectName, retentionDays, ...query }: PayloadsRequest,
): Promise<Readable> {
  const selection = selectCalls({ ...query, projectId, projectName, retentionDays, sortBy: null })
  const parameters = new SqlParameters("f")
  const scope = { projectId, projectName, retentionDays, parameters, expansions: [] }
  const texts = fields.map((name) => callField(name, scope).as("text"))
  const named = ids === null ? "true" : hasId(parameters, projectId, ids)
  const head = `toJSONString([${["id", "exception", "if(isNull(ended_at), '', '1')", ...texts].map((text) => `cast(${text}, 'Nullable(String)')`).join(", ")}])`
  const line = inLine(
    `concat('[', ${head}, ',', ${payload("inputs")}, ',', ${payload("output")}, ',', ${payload("attributes")}, ']')`,
  )
  return traces.print(
    `select ${line} as line from ${callsFinal} where ${selection.live} and ${named} and ${selection.condition}
      order by project_id asc, sort_time asc, id asc ${limit === null ? "" : `limit ${limit}`}`,
    { ...selection.parameters, ...parameters.values },
    "TSVRaw",
  )
}
