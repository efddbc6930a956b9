/** Calls that are looked for by one of them. */
import { secondsUpTo } from "../../calls/seconds-up-to.ts"
import { type Call, callsQuery } from "./calls.ts"
import { queryClient } from "../queries.ts"

/** The trace that a call belongs to; null: there is no such call. */
export async function findTraceOf(projectId: string, callId: string): Promise<string | null> {
  const query = callsQuery({ project_id: projectId, filter: { call_ids: [callId] }, columns: ["id"], limit: 1 })
  const [call] = await queryClient.fetchQuery(query)
  return call?.trace_id ?? null
}

/** The id of the call of the same function, of any version of it, that began before; null: this is the first. */
export async function findCallBefore(projectId: string, call: Pick<Call, "id" | "op_name" | "started_at">) {
  const isBefore = { $lte: [{ $getField: "started_at" }, { $literal: secondsUpTo(call.started_at) }] }
  const query = callsQuery({
    project_id: projectId,
    filter: { op_names: [call.op_name.replace(/^(weave:\/\/\/.*):[^:]*$/, "$1:*")] },
    query: { $expr: isBefore },
    sort_by: [{ field: "started_at", direction: "desc" }],
    columns: ["id"],
    limit: 2,
  })
  const calls = await queryClient.fetchQuery(query)
  return calls.find(({ id, started_at }) => id !== call.id && started_at <= call.started_at)?.id ?? null
}
