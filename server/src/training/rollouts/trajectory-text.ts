/** A rollout as the JSON text of a trajectory, a turn at a time: its turns may be more than memory should hold. */
import type { CatalogDatabase } from "../../storage/catalog/open-catalog.ts"
import type { RolloutRecord } from "../../storage/catalog/training/rollouts.ts"
import { keepScope } from "../../work/work-scope.ts"
import { issuesOf } from "./rollout-issues.ts"
import { kindOf, trainedExchange, turnsOf } from "./rollout-source.ts"

export function trajectoryText(
  database: CatalogDatabase,
  rollout: RolloutRecord,
  reward: number,
  metrics: Readonly<Record<string, number>>,
): AsyncGenerator<string> {
  return keepScope(pieces(database, rollout, reward, metrics))
}

async function* pieces(
  database: CatalogDatabase,
  rollout: RolloutRecord,
  reward: number,
  metrics: Readonly<Record<string, number>>,
): AsyncGenerator<string> {
  const { rolloutId: rollout_id, groupId: rollout_group } = rollout
  const metadata = { rollout_id, rollout_group, issues: issuesOf(rollout).map(({ message }) => message) }
  yield `{"reward":${reward},"metrics":${JSON.stringify(metrics)},"metadata":${JSON.stringify(metadata)},"exchanges":{`
  for (const [place, kind] of (["chat_completions", "completions"] as const).entries()) {
    yield `${place === 0 ? "" : ","}"${kind}":[`
    let separator = ""
    for await (const { turn, exchange } of turnsOf(database, rollout.id)) {
      const trained = kindOf(turn) === kind ? trainedExchange(turn, exchange) : null
      if (trained === null) continue
      yield separator + JSON.stringify(trained)
      separator = ","
    }
    yield "]"
  }
  yield "}}"
}
