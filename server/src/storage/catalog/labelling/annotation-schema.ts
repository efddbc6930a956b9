/** Row types of annotation queues. */
import type { Generated } from "kysely"
import type { NullableTimestamp, Timestamp } from "../column-types.ts"

/** One annotator's progress with an item. */
export type OwnState = "unstarted" | "in_progress" | "completed" | "skipped"

export interface AnnotationQueueTable {
  id: string
  project_id: string
  name: string
  description: string
  /** JSON list of texts. */
  scorer_refs: string
  /** How many annotators complete an item, and no more; null: the server does not count. */
  required_annotators: number | null
  lease_seconds: number
  /** The highest place that an item of the queue ever had. */
  last_place: Generated<number>
  created_by: string
  created_at: Timestamp
  updated_at: Timestamp
  deleted_at: NullableTimestamp
}

export interface AnnotationItemTable {
  id: string
  queue_id: string
  /** Items are handed out in this order; one that comes back goes to the end of it. */
  place: number
  /** Places of the queue's `required_annotators` (null: one) less completed records and leases. */
  free_places: number
  /** Annotators who completed or skipped it. */
  finished_count: Generated<number>
  call_id: string
  call_started_at: Timestamp
  call_ended_at: NullableTimestamp
  call_op_name: string
  call_trace_id: string
  /** JSON list of texts. */
  display_fields: string
  added_by: string
  /** State of the most recently changed record, whoever made it. */
  annotation_state: Generated<OwnState>
  annotator_user_id: string | null
  created_at: Timestamp
  updated_at: Timestamp
  deleted_at: NullableTimestamp
}

export interface AnnotationProgressTable {
  item_id: string
  user_id: string
  state: OwnState
  created_at: Timestamp
  updated_at: Timestamp
}

/** Every change of a record, so that what was taken back is still known. */
export interface AnnotationHistoryTable {
  sequence: Generated<number>
  item_id: string
  user_id: string
  event: string
  state_before: OwnState
  state_after: OwnState
  created_at: Timestamp
}

export interface AnnotationLeaseTable {
  item_id: string
  user_id: string
  queue_id: string
  leased_at: Timestamp
  expires_at: Timestamp
}

/** How far an annotator has come in a queue: no item up to this place is one to hand to them. */
export interface AnnotationCursorTable {
  queue_id: string
  user_id: string
  place: number
}

export interface AnnotationFinalLabelTable {
  id: string
  item_id: string
  field: string
  /** JSON text. */
  value: string
  /** The label that was chosen; null: the value is the adjudicator's own. */
  feedback_id: string | null
  note: string | null
  decided_by: string
  decided_at: Timestamp
  superseded_at: NullableTimestamp
}
