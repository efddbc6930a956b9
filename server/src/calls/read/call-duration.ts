import type { CallRow } from "../../storage/traces/calls/call-row-reads.ts"
import { microsecondsOf } from "../../storage/traces/query/sql-time.ts"

/** Microseconds from the start of a call to its end; null: it has not ended. */
export function callDuration({ started_at, ended_at }: Pick<CallRow, "started_at" | "ended_at">): bigint | null {
  const [start, end] = [started_at, ended_at ?? ""].map(microsecondsOf)
  return start == null || end == null ? null : end - start
}
