/** Finds calls by reading all that may be asked for. */
import { type CallKey, callKey, type StoredKey } from "./insert/call-places.ts"
import type { CallsSelection } from "./calls-selection.ts"
import { callsFinal } from "./calls-tables.ts"
import type { TraceStore } from "../store/trace-store.ts"

export interface Page {
  /** null: all. */
  limit: number | null
  offset: number
}

/** In the order asked for, from all that `selection.where` leaves. */
export async function scanCalls(
  traces: TraceStore,
  selection: CallsSelection,
  { limit, offset }: Page,
): Promise<CallKey[]> {
  const page = limit === null ? `limit 18446744073709551615 offset ${offset}` : `limit ${limit} offset ${offset}`
  const rows = await traces.rows<StoredKey>(
    `select id, sort_time from ${callsFinal} where ${selection.where} order by ${selection.order} ${page}`,
    selection.parameters,
  )
  return rows.map(callKey)
}
