/** Turns of rollouts on their way into the catalog: each is stored before its answer ends, together with those that wait. */
import { promisify } from "node:util"
import { deflate } from "node:zlib"
import { type ErrorCode, HeddleError } from "../errors.ts"
import type { Limits } from "../limits.ts"
import type { CatalogDatabase } from "../storage/catalog/open-catalog.ts"
import { type EarlierRun, earlierRuns, insertTurns, type NewTurn } from "../storage/catalog/training/rollout-turns.ts"
import { usageOf } from "../storage/team-usage.ts"
import { retryWhileUnavailable } from "../storage/retry-while-unavailable.ts"
import type { CompletionRecord, SampledChoice } from "./completion-record.ts"
import type { ServedModel } from "./model-directory.ts"
import { GroupCommit } from "../work/group-commit.ts"
import type { RolloutMark } from "./rollout-mark.ts"
import { extendedTurn, runOf } from "./rollout-prefixes.ts"

export type RolloutLimits = Pick<Limits, "rollout_days" | "rollout_turns">

/** A turn that has begun. */
export interface OpenTurn {
  mark: RolloutMark
  projectId: string
  userId: string
  /** As the client wrote it. */
  model: string
  served: ServedModel
  startedAt: Date
  earlier: readonly EarlierRun[]
}

type NewOpenTurn = Omit<OpenTurn, "startedAt" | "earlier">

/** Codes that refuse a turn and not the call. */
const refusals: ReadonlySet<ErrorCode> = new Set(["quota_exceeded", "invalid_request"])

const turnsPerInsert = 50
/** A short restart of the catalog costs nobody the answer. */
const patienceMs = 5_000
const compress = promisify(deflate)
/** Text and digits shrink to a quarter at any level; the first takes the least time. */
const level = 1

export class RolloutTurns {
  readonly #database: CatalogDatabase
  readonly #limits: RolloutLimits
  readonly #group: GroupCommit<NewTurn>

  constructor(database: CatalogDatabase, limits: RolloutLimits) {
    this.#database = database
    this.#limits = limits
    const insert = (turns: NewTurn[]) =>
      retryWhileUnavailable(AbortSignal.timeout(patienceMs), () => insertTurns(database, turns))
    this.#group = new GroupCommit(insert, turnsPerInsert)
  }

  /**
   * null: there is no room for the turn, and its client need not know of rollouts, since a trace alone names this one: the call
   * is answered all the same, and not kept.
   * @throws {HeddleError} `quota_exceeded`; `invalid_request` when the rollout has as many turns as it may.
   */
  async begin(team: { id: string; name: string }, turn: NewOpenTurn): Promise<OpenTurn | null> {
    try {
      return await this.#begin(team, turn)
    } catch (error) {
      const isRefusal = error instanceof HeddleError && refusals.has(error.code)
      if (turn.mark.isNamed || !isRefusal) throw error
      return null
    }
  }

  async #begin(team: { id: string; name: string }, turn: NewOpenTurn): Promise<OpenTurn> {
    await usageOf(this.#database)?.requireRoom(team)
    const startedAt = new Date()
    const { rolloutId } = turn.mark
    const { turns, runs } = await earlierRuns(this.#database, turn.projectId, rolloutId)
    if (turns < this.#limits.rollout_turns) return { ...turn, startedAt, earlier: runs }
    const message = `the rollout "${rolloutId}" has ${turns} turns, the most that one may have; begin another one`
    throw new HeddleError("invalid_request", message, { param: "rollout_id" })
  }

  /** Resolves once it is stored. */
  async add(turn: OpenTurn, record: CompletionRecord, isFinished: boolean): Promise<void> {
    const { mark, served, projectId } = turn
    const endedAt = new Date()
    const runs = record.choices.map(({ promptTokenIds, tokens }) => runOf(promptTokenIds, idsOf(tokens)))
    const prompts = new Set(record.choices.map(({ promptTokenIds }) => promptTokenIds))
    const content = await compress(exchangeJson(turn, record, endedAt), { level })
    await this.#group.add({
      projectId,
      rolloutId: mark.rolloutId,
      groupId: mark.groupId,
      id: record.id,
      protocol: record.protocol,
      model: turn.model,
      modelId: served.trained?.modelId ?? null,
      step: served.trained?.step ?? null,
      baseModel: served.base.name,
      traceId: mark.traceId,
      spanId: mark.spanId,
      callId: mark.callId,
      userId: turn.userId,
      startedAt: turn.startedAt,
      endedAt,
      isFinished,
      extends: extendedTurn(record.choices[0]?.promptTokenIds ?? [], turn.earlier),
      runs,
      promptTokens: [...prompts].reduce((sum, { length }) => sum + length, 0),
      completionTokens: record.choices.reduce((sum, { tokens }) => sum + tokens.length, 0),
      content,
      days: this.#limits.rollout_days,
    })
  }
}

/** The call as a client would have captured it (art-0.5.23 3), whatever its protocol, in the form of a chat or a completion. */
function exchangeJson(turn: OpenTurn, record: CompletionRecord, endedAt: Date): string {
  const { id, protocol, request, sampling, choices } = record
  const [first] = choices
  const prompt = first?.promptTokenIds ?? []
  return JSON.stringify({
    start_time: turn.startedAt.toISOString(),
    end_time: endedAt.toISOString(),
    model: turn.model,
    request: { ...request, sampling },
    response: {
      id,
      model: turn.model,
      prompt_token_ids: prompt,
      choices: choices.map((choice) => toChoice(choice, prompt, protocol === "completions")),
    },
  })
}

function toChoice(choice: SampledChoice, prompt: readonly number[], isText: boolean) {
  const { index, message, tokens, finishReason, promptTokenIds } = choice
  return {
    index,
    finish_reason: finishReason === "" ? null : finishReason,
    ...(isText ? { text: message.content ?? "" } : { message: toMessage(message) }),
    ...(promptTokenIds !== prompt && { prompt_token_ids: promptTokenIds }),
    token_ids: idsOf(tokens),
    compact_logprobs: tokens.map(({ logprob }) => (Number.isFinite(logprob) ? logprob : null)),
  }
}

function toMessage({ content, reasoning, tool_calls: calls }: SampledChoice["message"]) {
  return {
    role: "assistant",
    content,
    ...(reasoning !== null && { reasoning }),
    ...(calls.length > 0 && {
      tool_calls: calls.map(({ id, name, arguments: text }) => ({
        id,
        type: "function",
        function: { name, arguments: text },
      })),
    }),
  }
}

function idsOf(tokens: SampledChoice["tokens"]): number[] {
  return tokens.map(({ id }) => id)
}
