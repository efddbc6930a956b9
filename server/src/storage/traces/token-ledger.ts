/** The sampler's record of each completion of a trainable model (law 6, engine 5.4). */
import type { TraceStore } from "./store/trace-store.ts"

export interface LedgerRow {
  /** `<completion id>:<choice index>`. */
  ledger_key: string
  /** The project of the model that was sampled: only its jobs may read the row. */
  project_id: string
  model_id: string
  step: number
  prompt_token_ids: readonly number[]
  token_ids: readonly number[]
  /** Raw: log-softmax of the model's own logits. */
  logprobs: readonly number[]
  finish_reason: string
  /** JSON of the sampling parameters. */
  sampling: string
  /** {@link baseDescription.fingerprint}: config, tokenizer and chat template of the base model. */
  fingerprint: string
}

export type LedgerEntry = Pick<LedgerRow, "ledger_key" | "prompt_token_ids" | "token_ids" | "logprobs">

export const tokenLedgerTables = [
  `create table if not exists token_ledger (
    ledger_key String,
    project_id UUID,
    model_id UUID,
    step UInt32,
    prompt_token_ids Array(UInt32) codec(ZSTD),
    token_ids Array(UInt32) codec(ZSTD),
    logprobs Array(Float64) codec(ZSTD),
    finish_reason LowCardinality(String),
    sampling String codec(ZSTD),
    fingerprint LowCardinality(String),
    created_at DateTime64(3) default now64(3)
  ) engine = ReplacingMergeTree order by (project_id, ledger_key)`,
]

export async function insertLedgerRows(traces: TraceStore, rows: readonly LedgerRow[]): Promise<void> {
  await traces.insert("token_ledger", rows.map((row) => JSON.stringify(row)).join("\n"))
}

/** Entries of this project; keys that are unknown or another project's are left out. */
export async function findLedgerEntries(
  traces: TraceStore,
  projectId: string,
  keys: readonly string[],
): Promise<LedgerEntry[]> {
  return traces.rows<LedgerEntry>(
    `select ledger_key, prompt_token_ids, token_ids, logprobs from token_ledger final
      where project_id = {projectId:UUID} and ledger_key in {keys:Array(String)}`,
    { projectId, keys },
  )
}

export interface LedgerSize {
  ledger_key: string
  model_id: string
  prompt_tokens: number
  completion_tokens: number
}

/** How many tokens entries of this project have; keys that are unknown are left out. */
export async function measureLedgerEntries(
  traces: TraceStore,
  projectId: string,
  keys: readonly string[],
): Promise<LedgerSize[]> {
  return traces.rows<LedgerSize>(
    `select ledger_key, model_id, toUInt32(length(prompt_token_ids)) as prompt_tokens, toUInt32(length(token_ids)) as completion_tokens
      from token_ledger final where project_id = {projectId:UUID} and ledger_key in {keys:Array(String)}`,
    { projectId, keys },
  )
}
