/** The fields of the three forms in which a call is written: evaluation-store-calls 2.1. */

/** `payload_object` and `payload` are stored as the text that came; `ignored` fields are only checked. */
export type FieldKind =
  | "project"
  | "text"
  | "op_name"
  | "display_name"
  | "call_id"
  | "trace_id"
  | "time"
  | "integer"
  | "payload_object"
  | "payload"

export interface CallField extends FieldOfForms {
  /** In the list of its form. */
  index: number
}

interface FieldOfForms {
  /** On the wire, and of the column. */
  name: string
  kind: FieldKind
  required: boolean
  /** Checked, not stored. */
  ignored: boolean
}

export type CallForm = "start" | "end" | "complete"

const required = (name: string, kind: FieldKind): FieldOfForms => ({ name, kind, required: true, ignored: false })
const optional = (name: string, kind: FieldKind): FieldOfForms => ({ name, kind, required: false, ignored: false })
const ignored = (name: string, kind: FieldKind): FieldOfForms => ({ name, kind, required: false, ignored: true })

const start = [
  required("op_name", "op_name"),
  required("attributes", "payload_object"),
  required("inputs", "payload_object"),
  optional("display_name", "display_name"),
  optional("parent_id", "call_id"),
  optional("thread_id", "text"),
  optional("turn_id", "text"),
  optional("otel_dump", "payload_object"),
  optional("wb_run_id", "text"),
  optional("wb_run_step", "integer"),
  // The user is the one of the key.
  ignored("wb_user_id", "text"),
]

const end = [
  required("ended_at", "time"),
  required("summary", "payload_object"),
  optional("exception", "text"),
  optional("output", "payload"),
  optional("wb_run_step_end", "integer"),
]

/** The fields of each form, those of {@link fieldAt} first. */
export const callFields: Readonly<Record<CallForm, readonly CallField[]>> = {
  start: numbered([
    required("project_id", "project"),
    optional("id", "call_id"),
    optional("trace_id", "trace_id"),
    required("started_at", "time"),
    ...start,
  ]),
  end: numbered([
    required("project_id", "project"),
    required("id", "call_id"),
    // Stored, these two would make the call visible without its start.
    ignored("trace_id", "trace_id"),
    ignored("started_at", "time"),
    ...end,
  ]),
  complete: numbered([
    required("project_id", "project"),
    required("id", "call_id"),
    required("trace_id", "trace_id"),
    required("started_at", "time"),
    ...start,
    ...end,
  ]),
}

function numbered(fields: readonly FieldOfForms[]): CallField[] {
  return fields.map((field, index) => ({ ...field, index }))
}

/** Indexes of the fields that have the same position in every form. */
export const fieldAt = { projectId: 0, id: 1, traceId: 2, startedAt: 3 } as const
