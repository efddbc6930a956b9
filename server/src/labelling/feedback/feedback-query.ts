/** `/feedback/query`: evaluation-store-objects 2.4. */
import { HeddleError } from "../../errors.ts"
import type { Principal } from "../../http/principal.ts"
import { feedbackColumns } from "../../storage/traces/labelling/feedback-fields.ts"
import { countFeedback, type FeedbackSelection, selectFeedback } from "../../storage/traces/labelling/feedback-query.ts"
import type { RowQueryBody } from "../../wire/queries/row-query.ts"
import type { StoreDependencies } from "../../objects/dependencies.ts"
import { checkRange } from "../../objects/requests/list-range.ts"
import { existingProject } from "../../access/project-access.ts"

const countField = "count(*)"

/** The answer as JSON text, in which payloads stand as they came. */
export async function queryFeedback(
  { database, traces }: StoreDependencies,
  principal: Principal,
  body: RowQueryBody,
): Promise<string> {
  const { limit, offset } = checkRange(body)
  const project = await existingProject(database, principal, body.project_id)
  const selection = { projectId: project.id, projectName: project.name, where: body.query?.$expr ?? null }
  const requested = body.fields?.length ? [...new Set(body.fields)] : null
  if (requested?.includes(countField)) return countAnswer(requested, await countFeedback(traces, selection))
  const fields = requested ?? Object.keys(feedbackColumns)
  const rows = await selectFeedback(traces, selection, { fields, sortBy: body.sort_by ?? null, limit, offset })
  const total = await totalCount(traces, selection, rows.length, { limit, offset })
  const texts = rows.map((values) => rowText(fields, values, requested === null))
  return `{"result":[${texts.join(",")}],"total_count":${total}}`
}

function countAnswer(fields: readonly string[], count: number): string {
  if (fields.length === 1) return JSON.stringify({ result: [{ [countField]: count }], total_count: count })
  throw new HeddleError("value_error", `${countField} counts rows and cannot stand beside other fields`)
}

async function totalCount(
  traces: StoreDependencies["traces"],
  selection: FeedbackSelection,
  found: number,
  { limit, offset }: { limit: number | null; offset: number },
): Promise<number> {
  const isWhole = offset === 0 && (limit === null || found < limit)
  return isWhole ? found : countFeedback(traces, selection)
}

/** Columns newer than weave 0.52.22, whose model of a row refuses a field it does not know. */
const newerColumns = /^(queue_id|scorer_\w+|span_\w+)$/

function rowText(fields: readonly string[], values: readonly unknown[], isEveryColumn: boolean): string {
  const members = fields.flatMap((field, index) => {
    const value = values[index]
    if (isEveryColumn && newerColumns.test(field) && isDefault(value)) return []
    return `${JSON.stringify(field)}:${field === "payload" ? String(value) : JSON.stringify(value)}`
  })
  return `{${members.join(",")}}`
}

function isDefault(value: unknown): boolean {
  if (value === null || value === "" || value === "UNSET") return true
  return typeof value === "object" && Object.keys(value).length === 0
}
