/** Which models spans of agents name. */
import type { TraceStore } from "../store/trace-store.ts"

/** Names of models: the provider's, and the requested one. */
export async function spanModels(traces: TraceStore, projectId: string): Promise<string[]> {
  const rows = await traces.rows<{ model: string }>(
    `select distinct arrayJoin([toString(response_model), toString(request_model)]) as model
      from agent_spans where project_id = {projectId:UUID} and model != ''`,
    { projectId },
  )
  return rows.map(({ model }) => model)
}
