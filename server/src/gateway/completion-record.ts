/** Records an answered completion for training: the rows of the token ledger. */
import type { TurnProtocol } from "../storage/catalog/training/rollouts-schema.ts"
import type { LedgerRow } from "../storage/traces/token-ledger.ts"
import type { ChatChoice, EngineChatParamsInput, TokenLogprob } from "../wire/engine/chat.ts"
import type { ServedModel } from "./model-directory.ts"

export interface SampledChoice {
  index: number
  promptTokenIds: readonly number[]
  tokens: readonly TokenLogprob[]
  /** Empty: it broke off. */
  finishReason: string
  message: Pick<ChatChoice, "content" | "reasoning" | "tool_calls">
}

export interface CompletionRecord {
  /** The id of the answer. */
  id: string
  protocol: TurnProtocol
  /** The request to the engine. */
  request: { messages: unknown; tools: unknown } | { prompt: unknown }
  sampling: EngineChatParamsInput["sampling"]
  choices: readonly SampledChoice[]
}

/** Opaque to clients, who carry it from a choice into a training job. */
export function ledgerKey(completionId: string, index: number): string {
  return `${completionId}:${index}`
}

export function toLedgerRows(served: ServedModel, record: CompletionRecord, fingerprint: string): LedgerRow[] {
  const { trained } = served
  if (trained === null) return []
  const sampling = JSON.stringify(record.sampling)
  return record.choices.map((choice) => ({
    ledger_key: ledgerKey(record.id, choice.index),
    project_id: trained.projectId,
    model_id: trained.modelId,
    step: trained.step,
    prompt_token_ids: choice.promptTokenIds,
    token_ids: choice.tokens.map((token) => token.id),
    logprobs: choice.tokens.map((token) => token.logprob),
    finish_reason: choice.finishReason,
    sampling,
    fingerprint,
  }))
}
