/** Rollouts as training data: from their turns to what an RL job trains (art-0.5.23 4), and to dialogues. */
import { HeddleError } from "../../errors.ts"
import type { CatalogDatabase } from "../../storage/catalog/open-catalog.ts"
import { listRewards } from "../../storage/catalog/training/rollout-rewards.ts"
import {
  listRollouts,
  listTurns,
  type RolloutFilter,
  type RolloutRecord,
  type TurnRecord,
} from "../../storage/catalog/training/rollouts.ts"
import type { CapturedRollout } from "../../wire/engine/train.ts"
import type { Exchanges } from "../../wire/training/exchange.ts"
import { capturedRollout } from "../trajectories/captured/captured-rollout.ts"
import { ExchangeFault } from "../trajectories/captured/exchange-fault.ts"
import { untrainable } from "./rollout-issues.ts"
import { exchangeOf, servedName, type StoredChoice, type StoredExchange } from "./turn-content.ts"

const rolloutsAtOnce = 100
const turnsAtOnce = 50

/** A page at a time, the oldest first. */
export async function* rolloutsOf(
  database: CatalogDatabase,
  projectId: string,
  filter: RolloutFilter,
): AsyncGenerator<RolloutRecord[]> {
  let afterSequence: number | null = null
  for (;;) {
    const page: RolloutRecord[] = await listRollouts(database, projectId, filter, {
      afterSequence,
      order: "asc",
      limit: rolloutsAtOnce,
    })
    if (page.length > 0) yield page
    if (page.length < rolloutsAtOnce) return
    afterSequence = page.at(-1)?.sequence ?? null
  }
}

/** All turns in the order in which they were answered, some at a time. */
export async function* turnsOf(
  database: CatalogDatabase,
  rollout: string,
): AsyncGenerator<{ turn: TurnRecord; exchange: StoredExchange | null }> {
  let afterSequence: number | null = null
  for (let hasMore = true; hasMore;) {
    const page: Awaited<ReturnType<typeof listTurns>> = await listTurns(database, rollout, afterSequence, turnsAtOnce)
    for (const turn of page.turns) yield { turn, exchange: await exchangeOf(turn) }
    hasMore = page.hasMore
    afterSequence = page.turns.at(-1)?.sequence ?? null
  }
}

/** A finished turn as a captured call under the name that means what answered; null: it cannot be one. */
export function trainedExchange(turn: TurnRecord, exchange: StoredExchange | null): StoredExchange | null {
  const name = servedName(turn)
  if (exchange === null || name === null || !turn.is_finished) return null
  return { ...exchange, model: name }
}

export function kindOf({ protocol }: TurnRecord): "completions" | "chat_completions" {
  return protocol === "completions" ? "completions" : "chat_completions"
}

export interface RolloutDialogue {
  isFinished: boolean
  /** Messages of a chat turn; null for a text completion. */
  messages: Record<string, unknown>[] | null
  tools: Record<string, unknown>[] | null
  choices: Pick<StoredChoice, "message" | "text" | "finish_reason">[]
}

export interface RolloutTrajectory {
  group: string | null
  /** null: nobody has rewarded it. */
  reward: number | null
  rewardId: string | null
  metrics: Readonly<Record<string, number>>
  /** `captured` of a {@link SpecTrajectory}; its `histories` are none. */
  captured: CapturedRollout
  /** Addresses of the trained models that answered, for `policyNames`. */
  capturedModels: string[]
  /** Those whose content is there. */
  turns: RolloutDialogue[]
  /** Tokens of the longest prompt together with its answer. */
  longest: number
  /** Why nothing of it can be trained; null: something can. */
  untrainable: string | null
}

/** @throws {HeddleError} `internal_error` when what is stored cannot be read. */
export async function trajectoryOf(database: CatalogDatabase, rollout: RolloutRecord): Promise<RolloutTrajectory> {
  const exchanges: Required<Pick<Exchanges, "chat_completions" | "completions">> = {
    chat_completions: [],
    completions: [],
  }
  const turns: RolloutDialogue[] = []
  for await (const { turn, exchange } of turnsOf(database, rollout.id)) {
    if (exchange === null) continue
    turns.push(toDialogue(turn, exchange))
    const trained = trainedExchange(turn, exchange)
    if (trained !== null) exchanges[kindOf(turn)]?.push(trained)
  }
  const captured = capturedOf(rollout, exchanges)
  const newest = rollout.reward === null ? undefined : (await listRewards(database, rollout.id)).at(-1)
  const { generations } = captured
  return {
    group: rollout.groupId,
    reward: newest?.reward ?? null,
    rewardId: newest?.id ?? null,
    metrics: newest?.metrics ?? {},
    captured,
    capturedModels: [...new Set(generations.map(({ model }) => model))],
    turns,
    longest: generations.reduce(
      (most, { prompt_token_ids: prompt, token_ids: ids }) =>
        Math.max(most, (prompt?.length ?? 0) + (ids?.length ?? 0)),
      0,
    ),
    untrainable: untrainable(rollout),
  }
}

function capturedOf({ rolloutId }: RolloutRecord, exchanges: Exchanges): CapturedRollout {
  try {
    return capturedRollout(exchanges)
  } catch (error) {
    if (!(error instanceof ExchangeFault)) throw error
    const where = `${error.path.join(".")}: ${error.message}`
    throw new HeddleError("internal_error", `the rollout "${rolloutId}" cannot be read: ${where}`, { cause: error })
  }
}

function toDialogue(turn: TurnRecord, { request, response }: StoredExchange): RolloutDialogue {
  return {
    isFinished: turn.is_finished,
    messages: request.messages ?? null,
    tools: request.tools ?? null,
    choices: response.choices.map(({ message, text, finish_reason }) => ({
      finish_reason,
      ...(message !== undefined && { message }),
      ...(text !== undefined && { text }),
    })),
  }
}
