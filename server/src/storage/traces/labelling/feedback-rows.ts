/** Feedback rows, written and found by id. */
import { createHash } from "node:crypto"
import { namedAtOnce } from "../query/named-at-once.ts"
import { isoTimeSql } from "../query/sql-time.ts"
import { type CountedLines, insertCounted } from "../counted-lines.ts"
import { storedJson } from "../stored-json.ts"
import { storedTime } from "../stored-time.ts"
import { kindOf, type TraceStore } from "../store/trace-store.ts"

/** One row, by wire name; absent texts of the span and the scorer are `""`. */
export interface FeedbackRow {
  /** Id in the catalog. */
  project_id: string
  id: string
  weave_ref: string
  wb_user_id: string
  creator: string | null
  /** ISO 8601, UTC, to the microsecond. */
  created_at: string
  feedback_type: string
  /** JSON text of an object. */
  payload: string
  annotation_ref: string | null
  runnable_ref: string | null
  call_ref: string | null
  trigger_ref: string | null
  queue_id: string | null
  scorer_tags: string[]
  scorer_tag_reasons: Record<string, string>
  scorer_tag_confidences: Record<string, number>
  scorer_ratings: Record<string, number>
  scorer_rating_reasons: Record<string, string>
  scorer_rating_confidences: Record<string, number>
  span_agent_name: string
  span_agent_version: string
  span_status_code: string
  span_conversation_id: string
  span_trace_id: string
  scorer_trace_id: string
}

/** What tells a retry from another row under the same id. */
export interface StoredFeedback {
  project_id: string
  id: string
  created_at: string
  content_digest: string
}

/** What stores the rows and deletes what is named. */
export function feedbackLines(
  rows: readonly FeedbackRow[],
  deletions: readonly { project_id: string; id: string }[],
): CountedLines {
  const inserted = rows.map(insertedLine)
  const deleted = deletions.map(({ project_id, id }) => storedJson({ project_id, id, is_deleted: 1 }))
  const bytesOf = new Map<string, number>()
  rows.forEach(({ project_id }, at) =>
    bytesOf.set(project_id, (bytesOf.get(project_id) ?? 0) + (inserted[at]?.length ?? 0)),
  )
  return { lines: Buffer.from([...inserted, ...deleted].join("\n")), bytesOf }
}

/** All of {@link feedbackLines} or nothing. */
export async function insertFeedback(traces: TraceStore, rows: CountedLines): Promise<void> {
  await insertCounted(traces, "feedback", rows)
}

/** Those of these ids that the project has. */
export async function findFeedback(
  traces: TraceStore,
  projectId: string,
  ids: readonly string[],
): Promise<StoredFeedback[]> {
  const found: StoredFeedback[] = []
  for (const named of namedAtOnce(ids)) {
    const rows = await traces.rows<StoredFeedback>(
      `select project_id, id, ${isoTimeSql("feedback.created_at")} as created_at, content_digest from feedback final
        where project_id = {projectId:UUID} and id in {named:Array(String)}`,
      { projectId, named },
      { kind: kindOf(named) },
    )
    found.push(...rows)
  }
  return found
}

/** Digest of everything in the row except the time. */
export function contentDigest({ created_at: _time, ...content }: FeedbackRow): string {
  return createHash("sha256").update(JSON.stringify(content)).digest("hex").slice(0, 32)
}

function insertedLine(row: FeedbackRow): string {
  const { payload, created_at, ...columns } = row
  const written = { ...columns, created_at: storedTime(created_at), content_digest: contentDigest(row) }
  return `${storedJson(written).slice(0, -1)},"payload":[${payload}]}`
}
