/** From rows of the catalog to what rollouts look like on the wire. */
import { artifactName } from "../../gateway/model-name.ts"
import type { RewardRecord } from "../../storage/catalog/training/rollout-rewards.ts"
import type { RolloutModel, RolloutRecord, TurnRecord } from "../../storage/catalog/training/rollouts.ts"
import type { Rollout, RolloutReward, RolloutTurn } from "../../wire/training/rollout.ts"
import { issuesOf } from "./rollout-issues.ts"
import { exchangeOf, type StoredChoice } from "./turn-content.ts"

export function toWireRollout(record: RolloutRecord, project: string): Rollout {
  return {
    id: record.rolloutId,
    object: "rollout",
    project_id: project,
    group: record.groupId,
    created_at: record.createdAt,
    last_turn_at: record.lastTurnAt,
    expires_at: record.expiresAt,
    reward: record.reward,
    rewarded_at: record.rewardedAt,
    turns: record.turns,
    prompt_tokens: record.promptTokens,
    completion_tokens: record.completionTokens,
    models: record.models.map(toRolloutModel),
    issues: issuesOf(record),
  }
}

function toRolloutModel({ path, baseModel, modelId, step, turns }: RolloutModel): Rollout["models"][number] {
  const [entity = "", project = "", name = ""] = (path ?? "").split("/")
  const model = path === null ? baseModel : `${artifactName(entity, project, name)}:step${step}`
  return { model, model_id: modelId, step, turns }
}

export function toWireReward(record: RewardRecord): RolloutReward {
  const { id, key, reward, metrics, reason, userId, username, createdAt } = record
  return {
    id,
    object: "rollout.reward",
    key,
    reward,
    metrics: { ...metrics },
    reason,
    user_id: userId,
    username,
    created_at: createdAt,
  }
}

/** `withTokens`: ids and log-probabilities too. */
export async function toWireTurn(turn: TurnRecord, withTokens: boolean): Promise<RolloutTurn> {
  const exchange = await exchangeOf(turn)
  const { request, response } = exchange ?? {}
  return {
    id: turn.id,
    object: "rollout.turn",
    protocol: turn.protocol,
    model: turn.model,
    model_id: turn.model_id,
    step: turn.step,
    base_model: turn.base_model,
    group: turn.group_id,
    trace_id: turn.trace_id,
    span_id: turn.span_id,
    call_id: turn.call_id,
    started_at: turn.startedAt,
    ended_at: turn.endedAt,
    is_finished: turn.is_finished,
    extends: turn.extends,
    prompt_tokens: turn.prompt_tokens,
    completion_tokens: turn.completion_tokens,
    is_expired: exchange === null,
    messages: request?.messages ?? null,
    tools: request?.tools ?? null,
    prompt: request?.prompt ?? null,
    choices: response?.choices.map((choice) => toWireChoice(choice, withTokens)) ?? null,
    ...(withTokens && response !== undefined && { prompt_token_ids: response.prompt_token_ids }),
  }
}

function toWireChoice({ token_ids, compact_logprobs, prompt_token_ids, ...choice }: StoredChoice, withTokens: boolean) {
  if (!withTokens) return choice
  const ofPrompt = prompt_token_ids === undefined ? {} : { prompt_token_ids }
  return { ...choice, ...ofPrompt, token_ids, logprobs: compact_logprobs }
}
