import type { TraceStore } from "../store/trace-store.ts"

/** Those of the calls that have begun, and have neither ended nor been deleted. */
export async function readRunningCalls(
  traces: TraceStore,
  projectId: string,
  ids: readonly string[],
): Promise<string[]> {
  const rows = await traces.rows<{ id: string }>(
    `select id from calls final where project_id = {projectId:UUID} and id in {ids:Array(String)}
      and started_at is not null and ended_at is null and deleted_at is null`,
    { projectId, ids },
  )
  return rows.map(({ id }) => id)
}
