/**
 * The usage row of one request (inference-api 1). Tokens are counted as the engine hands them over, so
 * the row of an answer that breaks off, because its client left, the engine died or the server stops,
 * says what was really sampled for it. Of an engine that died that is what it had handed over: what
 * the client was sent, or could have been.
 */
import { randomUUID } from "node:crypto"
import { type EngineCall, type EngineEvent, EngineFailure, type EngineResult } from "../engines/engine.ts"
import type { UsageRow } from "../storage/catalog/inference/completion-usage.ts"
import type { ChatUsage } from "../wire/engine/frames.ts"

/** Whose request it is and what serves it. */
export type UsageOwner = Omit<UsageRow, "id" | "created_at" | "input_tokens" | "input_cached_tokens" | "output_tokens">

type Totals = Pick<EngineResult<"chat">, "prompt_token_ids" | "cached_tokens" | "completion_tokens">

export class RequestUsage {
  readonly #owner: UsageOwner & { id: string }
  readonly #write: (row: UsageRow) => Promise<void>
  readonly #calls: CallUsage[] = []
  #isStored = false

  constructor(owner: UsageOwner, write: (row: UsageRow) => Promise<void>) {
    this.#owner = { ...owner, id: randomUUID() }
    this.#write = write
  }

  /** Counts one more question to the engine. */
  newCall(): CallUsage {
    const call = new CallUsage()
    this.#calls.push(call)
    return call
  }

  /** null: the engine has begun nothing for this request. */
  get row(): UsageRow | null {
    const counts = this.#calls.flatMap((call) => call.counts ?? [])
    if (counts.length === 0) return null
    const sum = (name: keyof ChatUsage) => counts.reduce((total, each) => total + each[name], 0)
    return {
      ...this.#owner,
      input_tokens: sum("prompt_tokens"),
      input_cached_tokens: sum("cached_tokens"),
      output_tokens: sum("completion_tokens"),
    }
  }

  /** Resolves once the row is in the ledger, if there is one. Repeatable, also when nobody knows whether it was stored. */
  async store(): Promise<void> {
    const { row } = this
    if (row === null || this.#isStored) return
    await this.#write(row)
    this.#isStored = true
  }
}

/** Tokens that one call of the engine has used so far. */
export class CallUsage {
  /** null: it has not begun. */
  counts: ChatUsage | null = null

  /** Adds the usage that a batch of stream events reports. */
  add(batch: readonly EngineEvent<"chat">[]): void {
    for (const { event, data } of batch) {
      if (event === "start") this.end({ ...data, completion_tokens: 0 })
      else if (this.counts !== null) this.counts.completion_tokens += data.tokens.length
    }
  }

  end({ prompt_token_ids, cached_tokens, completion_tokens }: Totals): void {
    this.counts = { prompt_tokens: prompt_token_ids.length, cached_tokens, completion_tokens }
  }

  /** The engine's last word counts; one that died has none. */
  fail(error: unknown): void {
    if (error instanceof EngineFailure) this.counts = error.usage ?? this.counts
  }

  /** Counts what still arrives of a stream that broke off or is being cancelled. */
  async drain({ events, result }: EngineCall<"chat">): Promise<void> {
    for await (const batch of events) this.add(batch)
    try {
      this.end(await result)
    } catch (error) {
      this.fail(error)
    }
  }
}
