/** Gives back the disk that deleted feedback takes. Of each piece the row stays that says that it is deleted. */
import { removeRows } from "../removed-rows.ts"
import type { TraceStore } from "../store/trace-store.ts"

/**
 * Rows before a deletion. The deletions stay: were they removed by the same mutation, which takes one part after another, it
 * would no longer find in the later parts what they delete, and that would be back.
 */
const isDeleted = `is_deleted = 0 and (project_id, id, version) in (
  select project_id, id, version from feedback
    inner join (
      select project_id, id, max(version) as deleted_at from feedback where is_deleted = 1 group by project_id, id
    ) as deletions using (project_id, id)
  where is_deleted = 0 and version < deleted_at)`

/** Returns whether there were any. Where there are none, nothing is written. */
export function removeDeletedFeedback(traces: TraceStore): Promise<boolean> {
  return removeRows(traces, ["feedback"], isDeleted, {})
}
