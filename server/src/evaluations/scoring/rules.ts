/** Rules that score new calls: made, read, changed and deleted. */
import { randomUUIDv7 } from "node:crypto"
import { HeddleError } from "../../errors.ts"
import type { Principal } from "../../http/principal.ts"
import { isSameJson } from "../../json/exact-json.ts"
import { ensureProject, existingProject, type ProjectAccess } from "../../access/project-access.ts"
import { publishValue } from "../../objects/object-create.ts"
import { formatRef } from "../../objects/refs/refs.ts"
import {
  countScoringRules,
  deleteScoringRule,
  findScoringRule,
  insertScoringRule,
  listScoringRules,
  type ScoringRuleRecord,
  updateScoringRule,
} from "../../storage/catalog/evaluations/scoring-rules.ts"
import type { RuleChangeBody, RuleCreateBody, RuleFailure, ScoringRule } from "../../wire/evaluations/scoring-rule.ts"
import type { ExecutionDependencies } from "../execution/dependencies.ts"
import { budgetOf, checkDefinition, readDefinition, type RuleDefinition } from "./rule-definition.ts"

/** The project is made when it is not there. The same rule again is the rule that is there. @throws {HeddleError} 400, 403, 404, 409, 422 */
export async function makeRule(
  dependencies: ExecutionDependencies,
  principal: Principal,
  body: RuleCreateBody,
): Promise<ScoringRule> {
  const { database } = dependencies
  const project = await ensureProject(database, principal, body.project_id)
  const { name } = body
  const definition: RuleDefinition = {
    filter: given(body.filter ?? {}),
    query: body.query ?? null,
    samplingRate: body.sampling_rate ?? 1,
    scorer: body.scorer,
    budget: budgetOf(body.daily_budget),
  }
  const isActive = body.active ?? true
  const there = await findScoringRule(database, project.id, { name })
  if (there !== null) return sameRule(project, there, definition, isActive)
  await requireRoom(dependencies, project)
  await checkDefinition(dependencies, principal, project, definition)
  const ruleRef = await publishRule(dependencies, principal, project, name, definition)
  const { userId, apiKeyId } = principal
  const isNew = await insertScoringRule(database, {
    id: randomUUIDv7(),
    projectId: project.id,
    name,
    source: "rule",
    ruleRef,
    definition: JSON.stringify(definition),
    isActive,
    stoppedReason: null,
    userId,
    apiKeyId,
  })
  const rule = await findScoringRule(database, project.id, { name })
  if (rule === null) throw notFound(name)
  return isNew ? toScoringRule(project, rule) : sameRule(project, rule, definition, isActive)
}

function sameRule(
  project: ProjectAccess,
  there: ScoringRuleRecord,
  definition: RuleDefinition,
  isActive: boolean,
): ScoringRule {
  const asStored = readDefinition(JSON.stringify(definition))
  if (there.isActive === isActive && isSameJson(readDefinition(there.definition), asStored))
    return toScoringRule(project, there)
  throw new HeddleError(
    "conflict",
    `the project has a rule called "${there.name}" that is another one; change it (PUT /scoring_rules/${there.id}) or choose another name`,
  )
}

async function requireRoom({ database, limits }: ExecutionDependencies, project: ProjectAccess): Promise<void> {
  const count = await countScoringRules(database, project.id)
  if (count < limits.scoring_rules) return
  throw new HeddleError(
    "quota_exceeded",
    `the project has ${count} scoring rules, which is as many as it may; delete one`,
  )
}

export async function readRule(
  { database }: Pick<ExecutionDependencies, "database">,
  principal: Principal,
  projectId: string,
  ruleId: string,
): Promise<ScoringRule> {
  const project = await existingProject(database, principal, projectId)
  return toScoringRule(project, await ruleOf({ database }, project, ruleId))
}

export async function listRules(
  { database }: Pick<ExecutionDependencies, "database">,
  principal: Principal,
  projectId: string,
): Promise<ScoringRule[]> {
  const project = await existingProject(database, principal, projectId)
  return (await listScoringRules(database, project.id)).map((rule) => toScoringRule(project, rule))
}

/** Fields that are absent stay. A rule that was stopped goes on, with the key of whoever changes it. */
export async function changeRule(
  dependencies: ExecutionDependencies,
  principal: Principal,
  ruleId: string,
  body: RuleChangeBody,
): Promise<ScoringRule> {
  const { database } = dependencies
  const project = await existingProject(database, principal, body.project_id)
  for (;;) {
    const there = await ruleOf({ database }, project, ruleId)
    if (await changeOnce(dependencies, principal, project, there, body)) break
  }
  return toScoringRule(project, await ruleOf({ database }, project, ruleId))
}

/** false: nothing was stored, as another request has changed or deleted it meanwhile. */
async function changeOnce(
  dependencies: ExecutionDependencies,
  principal: Principal,
  project: ProjectAccess,
  there: ScoringRuleRecord,
  body: RuleChangeBody,
): Promise<boolean> {
  const isMonitor = there.source === "monitor"
  if (isMonitor) refuseMonitorChange(there, body)
  const before = readDefinition(there.definition)
  const after: RuleDefinition = {
    filter: body.filter === undefined ? before.filter : given(body.filter ?? {}),
    query: body.query === undefined ? before.query : body.query,
    samplingRate: body.sampling_rate ?? before.samplingRate,
    scorer: body.scorer ?? before.scorer,
    budget: body.daily_budget === undefined ? before.budget : budgetOf(body.daily_budget),
  }
  if (!isMonitor) await checkDefinition(dependencies, principal, project, after)
  const { userId, apiKeyId } = principal
  const rule = {
    id: there.id,
    projectId: project.id,
    ruleRef: isMonitor ? there.ruleRef : await publishRule(dependencies, principal, project, there.name, after),
    definition: JSON.stringify(after),
    isActive: body.active ?? there.isActive,
    stoppedReason: isMonitor ? there.stoppedReason : null,
    userId,
    apiKeyId,
  }
  return updateScoringRule(dependencies.database, rule, there.updated_at)
}

export async function removeRule(
  { database }: Pick<ExecutionDependencies, "database">,
  principal: Principal,
  projectId: string,
  ruleId: string,
): Promise<void> {
  const project = await existingProject(database, principal, projectId)
  const rule = await ruleOf({ database }, project, ruleId)
  if (rule.source === "monitor") {
    throw new HeddleError(
      "invalid_request",
      `"${rule.name}" is a published monitor; delete the object of that name, or publish it with active = false`,
    )
  }
  await deleteScoringRule(database, project.id, ruleId)
}

function refuseMonitorChange({ name }: ScoringRuleRecord, body: RuleChangeBody): void {
  const others = Object.keys(body).filter((key) => key !== "project_id" && key !== "daily_budget")
  if (others.length === 0) return
  throw new HeddleError(
    "invalid_request",
    `"${name}" is a published monitor: publish it anew to change its ${others.join(", ")}; only daily_budget is set here`,
  )
}

async function ruleOf(
  { database }: Pick<ExecutionDependencies, "database">,
  project: ProjectAccess,
  id: string,
): Promise<ScoringRuleRecord> {
  const rule = await findScoringRule(database, project.id, { id })
  if (rule === null) throw notFound(id)
  return rule
}

function notFound(name: string): HeddleError {
  return new HeddleError("not_found", `Scoring rule ${name} not found`)
}

/** What a rule is, is an object too: the feedback of each version names it. */
async function publishRule(
  dependencies: ExecutionDependencies,
  principal: Principal,
  project: ProjectAccess,
  name: string,
  { filter, query, samplingRate, scorer }: RuleDefinition,
): Promise<string> {
  const value = {
    _type: "ScoringRule",
    _class_name: "ScoringRule",
    _bases: ["Object", "BaseModel"],
    name,
    description: null,
    filter,
    query,
    sampling_rate: samplingRate,
    scorer,
  }
  const obj = { project_id: project.name, object_id: name }
  const { digest } = await publishValue(dependencies, principal, obj, JSON.stringify(value))
  return formatRef(project.name, "object", name, digest)
}

/** Without what is null, as a client sends for "absent". */
function given(filter: RuleDefinition["filter"]): RuleDefinition["filter"] {
  return Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== null && value !== undefined))
}

function toScoringRule(project: ProjectAccess, rule: ScoringRuleRecord): ScoringRule {
  const { filter, query, samplingRate, scorer, budget } = readDefinition(rule.definition)
  const { day, judgeCalls, tokens } = rule.today
  return {
    id: rule.id,
    project_id: project.name,
    name: rule.name,
    source: rule.source,
    rule_ref: rule.ruleRef,
    filter: filter as Record<string, never>,
    query: query as Record<string, never> | null,
    sampling_rate: samplingRate,
    scorer,
    daily_budget: { judge_calls: budget.judgeCalls, tokens: budget.tokens },
    active: rule.isActive,
    state: rule.stoppedReason !== null ? "stopped" : rule.isActive ? "active" : "paused",
    stopped_reason: rule.stoppedReason,
    created_at: rule.created_at,
    created_by: rule.userId,
    updated_at: rule.updated_at,
    counters: rule.counters,
    lag_seconds: Math.max(0, rule.waitingSeconds ?? 0),
    today: {
      day,
      judge_calls: judgeCalls,
      tokens,
      judge_calls_left: left(budget.judgeCalls, judgeCalls),
      tokens_left: left(budget.tokens, tokens),
    },
    errors: (JSON.parse(rule.errors) as RuleFailure[]).toReversed(),
  }
}

function left(budget: number | null, used: number): number | null {
  return budget === null ? null : Math.max(0, budget - used)
}
