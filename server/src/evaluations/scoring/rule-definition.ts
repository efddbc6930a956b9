/** What a rule does: as it is stored, and what is wrong with one. */
import { HeddleError, invalid } from "../../errors.ts"
import type { Principal } from "../../http/principal.ts"
import { parseExact } from "../../json/exact-json.ts"
import type { ProjectAccess } from "../../access/project-access.ts"
import { checkSchema } from "../../objects/schemas/user-schemas.ts"
import { matchingAmong } from "../../storage/traces/calls/matching-calls.ts"
import { matchPattern } from "../../storage/traces/query/pattern-match.ts"
import type { CallsFilter } from "../../wire/calls/call-read.ts"
import type { DailyBudget, RuleScorer } from "../../wire/evaluations/scoring-rule.ts"
import type { Query } from "../../wire/queries/query.ts"
import type { ExecutionDependencies } from "../execution/dependencies.ts"
import { readScorers } from "../execution/scorer.ts"
import { checkJudge } from "./judge.ts"
import { fieldPath } from "./field-value.ts"

export interface RuleDefinition {
  filter: CallsFilter
  /** Numbers of its literals, and those that the scorer compares with, are in the spelling in which they came. */
  query: Query | null
  samplingRate: number
  scorer: RuleScorer
  budget: { judgeCalls: number | null; tokens: number | null }
}

/** Of a rule that asks models and names no budget. */
const usualJudgeCalls = 1_000

export function budgetOf(budget: DailyBudget | null | undefined): RuleDefinition["budget"] {
  if (budget == null) return { judgeCalls: usualJudgeCalls, tokens: null }
  return { judgeCalls: budget.judge_calls ?? null, tokens: budget.tokens ?? null }
}

/** @throws {HeddleError} 400, 403, 404, 422 that names what cannot work; whether a model answers is not tried. */
export async function checkDefinition(
  dependencies: ExecutionDependencies,
  principal: Principal,
  project: ProjectAccess,
  definition: RuleDefinition,
): Promise<void> {
  await checkFilter(dependencies, project, definition)
  await checkScorer(dependencies, principal, project, definition.scorer)
}

const noCall = "00000000-0000-7000-8000-000000000000"

/** The store itself says what it cannot compute. */
async function checkFilter(
  { traces }: ExecutionDependencies,
  project: ProjectAccess,
  { filter, query }: RuleDefinition,
): Promise<void> {
  const calls = { projectId: project.id, projectName: project.name, retentionDays: null, filter, query }
  await matchingAmong(traces, calls, [noCall])
}

async function checkScorer(
  dependencies: ExecutionDependencies,
  principal: Principal,
  project: ProjectAccess,
  scorer: RuleScorer,
): Promise<void> {
  if ("field" in scorer && scorer.field != null) fieldPath(scorer.field)
  switch (scorer.kind) {
    case "judge":
      return checkJudge(dependencies, principal, project, scorer)
    case "published":
      await readScorers(dependencies, principal, scorer.scorer_refs)
      return
    case "regex":
      await matchPattern(dependencies.traces, scorer.pattern, [""])
      return
    case "json_schema":
      return checkSchema(dependencies, { schema: JSON.stringify(scorer.schema), name: "scorer.schema" })
    case "length":
      if (scorer.min != null && scorer.max != null && scorer.min > scorer.max) {
        throw invalid(
          ["body", "scorer", "min"],
          `${scorer.min} is more than max, which is ${scorer.max}: no text has that`,
        )
      }
      return
    case "contains":
    case "equals":
    case "value":
      return
  }
}

/** @throws {HeddleError} `internal_error`: not what this server stored. */
export function readDefinition(text: string): RuleDefinition {
  try {
    return parseExact(text) as RuleDefinition
  } catch (cause) {
    throw new HeddleError("internal_error", "the stored rule cannot be read", { cause })
  }
}
