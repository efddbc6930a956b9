/** Reasons why a rollout, or a part of it, cannot be trained. Unknown facts are reported, never guessed. */
import type { RolloutModel, RolloutRecord } from "../../storage/catalog/training/rollouts.ts"
import type { RolloutIssue } from "../../wire/training/rollout.ts"

export function issuesOf(rollout: RolloutRecord): RolloutIssue[] {
  return [...issues(rollout)]
}

function* issues(rollout: RolloutRecord): Generator<RolloutIssue> {
  const { turns, expiredTurns: expired, unfinishedTurns: unfinished, models } = rollout
  if (rollout.reward === null) {
    yield { code: "unrewarded", message: "nobody has given it a reward yet; POST one to its /reward" }
  }
  if (expired > 0) {
    const which = expired === turns ? "its turns" : `${expired} of its ${turns} turns`
    const isOver = Date.parse(rollout.expiresAt) <= Date.now()
    const when = isOver
      ? `were kept until ${dayOf(rollout)} and are gone`
      : "are gone: their time was over before the newest turn came"
    yield { code: "expired", message: `messages and tokens of ${which} ${when}` }
  }
  if (unfinished > 0) {
    const message = `${unfinished} of its ${turns} turns broke off before their end and are not trained`
    yield { code: "unfinished_turns", message }
  }
  const trained = models.filter(({ modelId }) => modelId !== null)
  if (trained.length === 0) {
    yield { code: "untrained_model", message: "only base models were asked; none of its turns is a trained model's" }
  }
  const byModel = Map.groupBy(trained, ({ modelId }) => modelId)
  if (byModel.size > 1) {
    const message = `${byModel.size} trained models answered it (${namesOf(trained)}); a job trains the turns of its own`
    yield { code: "several_models", message }
  }
  for (const steps of byModel.values()) {
    if (steps.length === 1) continue
    const numbers = steps.map(({ step }) => step).toSorted((one, other) => Number(one) - Number(other))
    const message =
      `${steps[0]?.path ?? "a deleted model"} answered at the steps ${numbers.slice(0, 20).join(", ")}; ` +
      "each turn is trained with the log-probabilities it was sampled with"
    yield { code: "several_steps", message }
  }
  if (rollout.groups > 1) {
    const message = `its turns name ${rollout.groups} groups; it belongs to the first, "${rollout.groupId}"`
    yield { code: "several_groups", message }
  }
}

function namesOf(models: readonly RolloutModel[]): string {
  const names = new Set(models.map(({ path, modelId }) => path ?? `${modelId}, deleted`))
  return [...names].slice(0, 5).join(", ")
}

/** In UTC. */
function dayOf({ expiresAt }: RolloutRecord): string {
  return expiresAt.slice(0, 10)
}

/** Why nothing of it can be trained; null: something can. */
export function untrainable(rollout: RolloutRecord): string | null {
  const found = issuesOf(rollout)
  const messageOf = (code: RolloutIssue["code"]) => found.find((issue) => issue.code === code)?.message ?? null
  // The remaining turns would be another rollout than the one that was rewarded.
  if (rollout.expiredTurns > 0) return messageOf("expired")
  if (rollout.unfinishedTurns === rollout.turns) return messageOf("unfinished_turns")
  return messageOf("untrained_model")
}
