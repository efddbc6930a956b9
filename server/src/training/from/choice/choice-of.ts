import type { DropTally } from "../drop-tally.ts"
import type { RowPlan } from "../row-plan.ts"
import { BestAnswers } from "./best-answers.ts"
import { EveryRow } from "./every-row.ts"
import { Pairs } from "./pairs.ts"
import type { RowChoice } from "./row-choice.ts"
import { ScoredGroups } from "./scored-groups.ts"

/** The choice that a target makes. */
export function choiceOf({ kind, pairs, group }: RowPlan, drops: DropTally): RowChoice {
  if (pairs !== null) return new Pairs(pairs, drops)
  if (kind === "rl") return new ScoredGroups(drops)
  return group === null ? new EveryRow(drops) : new BestAnswers(drops)
}
