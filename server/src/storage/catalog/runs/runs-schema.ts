/** Row types of the runs of the wandb client. */
import type { ColumnType, Generated } from "kysely"
import type { Timestamp } from "../column-types.ts"

/** As it is stored: a run that stopped sending is `running` here and shown as `crashed`. */
export type RunState = "pending" | "running" | "preempting" | "finished" | "failed" | "killed"

export interface RunTable {
  id: Generated<string>
  project_id: string
  /** The short id that the client chose. */
  name: string
  user_id: string
  display_name: string
  /** JSON as the client wrote it, which may hold bare NaN and Infinity. */
  config: Generated<string>
  /** The same as values that a filter can compare. */
  config_values: ColumnType<unknown, string | undefined, string>
  summary: Generated<string>
  summary_values: ColumnType<unknown, string | undefined, string>
  notes: string | null
  description: string | null
  tags: ColumnType<string[], string[] | undefined, string[]>
  group_name: string | null
  job_type: string | null
  job_program: string | null
  job_repo: string | null
  commit: string | null
  host: string | null
  state: Generated<RunState>
  /** null while it runs. */
  exit_code: number | null
  stop_requested: Generated<boolean>
  /** How many console lines there were when the process that writes now began. */
  console_base: Generated<number>
  /** Offset added to its console lines' numbers, or null before the first line. */
  console_shift: number | null
  events_base: Generated<number>
  events_shift: number | null
  /** Of the documents and the other texts that its client wrote. */
  size_bytes: Generated<number>
  created_at: ColumnType<Date, Date | undefined, never>
  heartbeat_at: Timestamp
}

export interface RunFileTable {
  id: Generated<string>
  run_id: string
  name: string
  sha256: string
  /** Base64. */
  md5: string
  size_bytes: number
  mimetype: string
  updated_at: Timestamp
}

export interface RunAlertTable {
  /** Grows from alert to alert. */
  sequence: Generated<number>
  run_id: string
  project_id: string
  title: string
  text: string
  severity: string
  /** Of title and text. */
  size_bytes: number
  created_at: ColumnType<Date, never, never>
}

/** A deleted run of which the trace store may still have rows. */
export interface DeletedRunTable {
  id: string
  project_id: string
  deleted_at: ColumnType<Date, never, Date>
}
