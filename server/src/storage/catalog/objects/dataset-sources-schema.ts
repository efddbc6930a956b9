/** Row type of the sources of datasets' rows. */
export type SourceKind = "call" | "span" | "conversation"

export interface DatasetSourceTable {
  project_id: string
  /** Made of the names below: the same link has the same id. */
  id: string
  dataset_object_id: string
  row_digest: string
  source_kind: SourceKind
  source_id: string
  /** Empty for a conversation, which has many. */
  source_trace_id: string
  /** As the source was called and when it began when it was linked; ISO 8601. */
  source_display_name: string
  source_started_at: string
  /** JSON text as it came; null once the link is deleted. */
  link_metadata: string | null
  added_by: string
  created_at: Date
  updated_at: Date
  deleted_at: Date | null
}
