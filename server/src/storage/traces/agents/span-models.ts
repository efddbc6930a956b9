/** Which models spans of agents name. */
import type { TraceStore } from "../store/trace-store.ts"

/** What the provider called it and what was asked for. */
export async function spanModels(traces: TraceStore, projectId: string): Promise<string[]> {
  const rows = await traces.rows<{ model: string }>(
    `select distinct arrayJoin([toString(response_model), toString(request_model)]) as model
      from agent_spans where project_id = {projectId:UUID} and model != ''`,
    { projectId },
  )
  return rows.map(({ model }) => model)
}
