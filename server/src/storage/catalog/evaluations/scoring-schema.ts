import type { ColumnType, Generated } from "kysely"
import type { NullableTimestamp, Timestamp } from "../column-types.ts"

/** 64 bits, which come as text. */
type Count = ColumnType<string, number | undefined, number>

export interface ScoringRuleTable {
  id: string
  project_id: string
  name: string
  /** `monitor`: the rule is a published `weave.Monitor`, and is changed by publishing it. */
  source: "rule" | "monitor"
  /** The version of the object that says what the rule is: the `trigger_ref` of its feedback. */
  rule_ref: string
  /** JSON of what `evaluations/scoring` stores. */
  definition: string
  is_active: boolean
  /** Why the server does not go on with it, until somebody changes it. */
  stopped_reason: string | null
  /** Whose work it is: it is done with the rights that these have when it is done. */
  user_id: string
  api_key_id: string
  created_at: Timestamp
  updated_at: Timestamp
  seen: Count
  matched: Count
  sampled: Count
  scored: Count
  failed: Count
  over_budget: Count
  overflowed: Count
  waiting: Count
  /** `YYYY-MM-DD`, UTC: the day of the two columns behind it. */
  used_day: ColumnType<Date, string | undefined, string>
  used_judge_calls: Count
  used_tokens: Count
  /** JSON list of the last failures. */
  errors: Generated<string>
  lease_owner: string | null
  lease_expires_at: NullableTimestamp
  worked_at: NullableTimestamp
}

/** A call that waits to be scored. */
export interface ScoringItemTable {
  rule_id: string
  call_id: string
  /** When the call's end was stored. */
  arrived_at: Date
  attempts: Generated<number>
  /** Not before. */
  due_at: Timestamp
}

/** How far the journal of a server has been read (`storage/arrived-calls.ts`). */
export interface ScoringPositionTable {
  journal: string
  position: ColumnType<string, number, number>
  updated_at: Timestamp
}
