/** The calls and traces that turns of rollouts say they were made in. */
import { sql } from "kysely"
import type { CatalogDatabase } from "../open-catalog.ts"

export interface TurnCall {
  /** Id of the rollout in the catalog. */
  rollout: string
  callId: string | null
  traceId: string | null
  spanId: string | null
}

/** Each once, those of the newest turns first; turns that say nothing are left out. */
export async function listTurnCalls(database: CatalogDatabase, rollouts: readonly string[]): Promise<TurnCall[]> {
  return database
    .selectFrom("rollout_turns")
    .select(["rollout", "call_id as callId", "trace_id as traceId", "span_id as spanId"])
    .where("rollout", "in", rollouts)
    .where((is) => is.or([is("call_id", "is not", null), is("trace_id", "is not", null)]))
    .groupBy(["rollout", "call_id", "trace_id", "span_id"])
    .orderBy(sql`max(sequence)`, "desc")
    .execute()
}
