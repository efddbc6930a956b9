/** Labels given in a queue: annotation feedback that names it (evaluation-store-objects 2.3). */
import { isoTimeSql } from "../query/sql-time.ts"
import type { TraceStore } from "../store/trace-store.ts"

export interface LabelRow {
  feedback_id: string
  /** As the label names it. */
  weave_ref: string
  wb_user_id: string
  /** `wandb.annotation.<field>`. */
  feedback_type: string
  annotation_ref: string | null
  /** JSON text of an object with the key `value`. */
  payload: string
  created_at: string
}

/** Limit on the labels of several calls together: they are parsed at once, on the main thread. */
const pieceBytes = 16 * 1024 ** 2

const isGiven = `project_id = {projectId:UUID} and queue_id = {queueId:String}
  and startsWith(feedback_type, 'wandb.annotation.') and weave_ref in {callRefs:Array(String)}`

/** Labels of these calls, found by their refs; the oldest first. @throws {HeddleError} `query_memory` where they are too large. */
export async function readLabels(
  traces: TraceStore,
  { projectId, queueId }: { projectId: string; queueId: string },
  callRefs: readonly string[],
): Promise<LabelRow[]> {
  return traces.rows<LabelRow>(
    `select id as feedback_id, weave_ref, wb_user_id, feedback_type, annotation_ref,
      substring(payload, 2, length(payload) - 2) as payload, ${isoTimeSql("feedback.created_at")} as created_at
    from feedback final
    where id in (select id from feedback where ${isGiven}) and ${isGiven}
    order by feedback.created_at, id`,
    { projectId, queueId, callRefs },
    callRefs.length > 1 ? { resultBytes: pieceBytes } : {},
  )
}
