import type { Generated } from "kysely"
import type { NullableTimestamp, Timestamp } from "../column-types.ts"

export type ExecutionJobKind = "score_calls" | "run_action" | "evaluate_model" | "rescore"
export type ExecutionJobStatus = "queued" | "running" | "done" | "failed"

export interface ExecutionJobTable {
  id: string
  /** Order of creation over all projects. */
  sequence: Generated<number>
  project_id: string
  /** Whose work it is: it is done with the rights that these have when it is done. */
  user_id: string
  api_key_id: string
  kind: ExecutionJobKind
  /** JSON of what `evaluations/execution/jobs` stores for the kind. */
  request: string
  status: Generated<ExecutionJobStatus>
  /** How often a process began it; bounds restarts after crashes. */
  attempts: Generated<number>
  lease_owner: string | null
  lease_expires_at: NullableTimestamp
  /** null: not known yet. */
  total_items: number | null
  error_message: string | null
  created_at: Timestamp
  ended_at: NullableTimestamp
}
