/** Row types of rollouts: what an agent asked of models under one id, and what it earned. */
import type { ColumnType, Generated } from "kysely"
import type { Json, NullableTimestamp, RequiredTimestamp, Timestamp } from "../column-types.ts"

export interface RolloutTable {
  id: Generated<string>
  /** Order of the first turns. */
  sequence: Generated<number>
  project_id: string
  /** As the client names it; unique among those of its project that are not deleted. */
  rollout_id: string
  /** The question it belongs to: the first that a turn names. */
  group_id: string | null
  /** The newest of `rollout_rewards`; null: nobody has said. */
  reward: number | null
  rewarded_at: NullableTimestamp
  /** Size of the contents of its turns. */
  size_bytes: Generated<number>
  created_at: Timestamp
  last_turn_at: RequiredTimestamp
  /** From then on the contents of its turns are removed. */
  expires_at: RequiredTimestamp
  deleted_at: NullableTimestamp
  /** How many turns it had. */
  deleted_turns: number | null
}

/** One sampling run: what the prompt and the answer have together, so that a later turn is known to go on from it. */
export interface TurnRun {
  tokens: number
  /** {@link prefixHash} of these. */
  hash: string
}

export type TurnProtocol = "chat_completions" | "completions" | "responses" | "messages"

export interface RolloutTurnTable {
  rollout: string
  /** Id of the answer. */
  id: string
  /** Order in which answers ended. */
  sequence: Generated<number>
  protocol: TurnProtocol
  /** As the client wrote it. */
  model: string
  /** null: a base model. */
  model_id: string | null
  step: number | null
  base_model: string
  group_id: string | null
  /** W3C. */
  trace_id: string | null
  span_id: string | null
  /** Id of the enclosing Weave call. */
  call_id: string | null
  user_id: string
  started_at: RequiredTimestamp
  ended_at: RequiredTimestamp
  /** false: the stream broke off, and what it brought until then is kept. */
  is_finished: boolean
  /** The turn whose prompt and answer this one's prompt begins with; null: none of the rollout. */
  extends: string | null
  /** One for each choice. */
  runs: Json<TurnRun[]>
  prompt_tokens: number
  completion_tokens: number
  size_bytes: number
  /** A compressed exchange; null: its time is over. */
  content: ColumnType<Buffer | null, Buffer | null, Buffer | null>
}

export interface RolloutRewardTable {
  id: Generated<string>
  sequence: Generated<number>
  rollout: string
  /** With it a client may send the same reward again. */
  key: string | null
  reward: number
  metrics: Json<Record<string, number>>
  reason: string | null
  user_id: string
  created_at: Timestamp
}
