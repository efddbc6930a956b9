/** Texts of some fields of calls, without their payloads. */
import { hasId } from "./insert/call-keys.ts"
import { callField } from "./fields/call-query-fields.ts"
import type { CallsProject } from "./calls-selection.ts"
import { callsFinal, liveCall } from "./calls-tables.ts"
import { SqlParameters } from "../query/sql-parameters.ts"
import type { TraceStore } from "../store/trace-store.ts"

const idsAtOnce = 1000

/** By id, a text for each field, or null; calls that are gone are left out. @throws {HeddleError} for a field that means nothing. */
export async function readCallTexts(
  traces: TraceStore,
  { projectId, projectName, retentionDays }: CallsProject,
  callIds: readonly string[],
  fields: readonly string[],
): Promise<Map<string, (string | null)[]>> {
  const found = new Map<string, (string | null)[]>()
  for (let from = 0; from < callIds.length; from += idsAtOnce) {
    const parameters = new SqlParameters("f")
    const scope = { projectId, projectName, retentionDays, parameters, expansions: [] }
    const texts = fields.map((name) => `cast(${callField(name, scope).as("text")}, 'Nullable(String)')`)
    const named = hasId(parameters, projectId, callIds.slice(from, from + idsAtOnce))
    const rows = await traces.rows<{ id: string; texts: (string | null)[] }>(
      `select id, [${texts.join(", ")}] as texts from ${callsFinal}
        where project_id = {projectId:UUID} and ${named} and ${liveCall}`,
      { ...parameters.values, projectId },
    )
    for (const row of rows) found.set(row.id, row.texts)
  }
  return found
}
