/**
 * A `weave.Monitor` that the SDK publishes is a rule (weave 0.54, `flow/monitor.py`): `activate()` and `deactivate()`
 * publish a version of the object, and its deletion ends the rule. What of it this server cannot do stops the rule and is
 * said there; the publication itself is never refused for it.
 */
import type { ZodError } from "zod"
import { isRefusal } from "../../errors.ts"
import type { Principal } from "../../http/principal.ts"
import { isJsonObject } from "../../json/parsed-json.ts"
import { derivedId } from "../../calls/write/derived-id.ts"
import { existingProject, type ProjectAccess } from "../../access/project-access.ts"
import { findProjectNames, internalProjectId, noSuchProject } from "../../storage/catalog/accounts/projects.ts"
import {
  countScoringRules,
  findScoringRule,
  insertScoringRule,
  type NewScoringRule,
  updateScoringRule,
} from "../../storage/catalog/evaluations/scoring-rules.ts"
import { query } from "../../wire/queries/query.ts"
import type { ExecutionDependencies } from "../execution/dependencies.ts"
import { publishedObject } from "../execution/published-object.ts"
import { budgetOf, checkDefinition, readDefinition, type RuleDefinition } from "./rule-definition.ts"

const monitorClasses = new Set<string | null>(["Monitor", "ClassifierMonitor"])
/** An entry of `op_names` that means turns of agents. */
const agentTurns = "weave.genai.turn_ended"

/** Whether an object of this class is a rule. */
export const isMonitor = (leafClass: string | null): boolean => monitorClasses.has(leafClass)

/** Call it when a version of a monitor was published. To do it again changes nothing. */
export async function takeMonitor(
  dependencies: ExecutionDependencies,
  principal: Principal,
  { projectId, objectId }: { projectId: string; objectId: string },
): Promise<void> {
  const { database } = dependencies
  const internalId = internalProjectId(projectId)
  const teams = principal.entities.map(({ id }) => id)
  const name = (await findProjectNames(database, teams, [internalId])).get(internalId)
  if (name === undefined) throw noSuchProject()
  const project = await existingProject(database, principal, name)
  while (!(await takeOnce(dependencies, principal, project, objectId)));
}

/** false: nothing was stored, as the rule was changed meanwhile, perhaps to a later version of the monitor. */
async function takeOnce(
  dependencies: ExecutionDependencies,
  principal: Principal,
  project: ProjectAccess,
  objectId: string,
): Promise<boolean> {
  const { database } = dependencies
  // Before the version: whoever takes a later one changes the rule, and this is done again.
  const there = await findScoringRule(database, project.id, { name: objectId })
  const { ref, value } = await publishedObject(database, project, objectId, "latest")
  const budget = there === null ? budgetOf(null) : readDefinition(there.definition).budget
  const parsedQuery = value["query"] == null ? null : query.safeParse(plain(value["query"]))
  const definition = definitionOf(value, parsedQuery?.data ?? null, budget)
  const stoppedReason =
    (await noRoom(dependencies, project, there)) ??
    unsupported(value, parsedQuery?.error ?? null, definition) ??
    (await checkDefinition(dependencies, principal, project, definition).then(
      () => null,
      (error: unknown) => reasonOf(error),
    ))
  const { userId, apiKeyId } = principal
  const rule: NewScoringRule = {
    id: there?.id ?? derivedId(project.id, "monitor", objectId),
    projectId: project.id,
    name: objectId,
    source: "monitor",
    ruleRef: ref,
    definition: JSON.stringify(definition),
    isActive: value["active"] === true,
    stoppedReason,
    userId,
    apiKeyId,
  }
  return there === null ? insertScoringRule(database, rule) : updateScoringRule(database, rule, there.updated_at)
}

/** Returns why the rule is one too many: as many as a project may have were made before it. `rule`: null while it is not there. */
async function noRoom(
  { database, limits }: ExecutionDependencies,
  project: ProjectAccess,
  rule: { id: string } | null,
): Promise<string | null> {
  if ((await countScoringRules(database, project.id, rule?.id)) < limits.scoring_rules) return null
  return `the project has ${limits.scoring_rules} scoring rules that are older, which is as many as it may; delete one, then publish the monitor again`
}

function definitionOf(
  value: Record<string, unknown>,
  parsedQuery: RuleDefinition["query"],
  budget: RuleDefinition["budget"],
): RuleDefinition {
  const { op_names, scorers, sampling_rate } = value
  const names = texts(op_names).filter((name) => name !== agentTurns)
  const rate = Number(JSON.isRawJSON(sampling_rate) ? (sampling_rate as { rawJSON: string }).rawJSON : sampling_rate)
  return {
    filter: names.length === 0 ? {} : { op_names: names },
    query: parsedQuery,
    samplingRate: rate >= 0 && rate <= 1 ? rate : 1,
    scorer: { kind: "published", scorer_refs: texts(scorers) },
    budget,
  }
}

/** Returns why the server cannot score as the monitor says; null: it can. */
function unsupported(
  value: Record<string, unknown>,
  fault: ZodError | null,
  { filter, scorer }: RuleDefinition,
): string | null {
  const names = texts(value["op_names"])
  if (names.includes(agentTurns) && filter.op_names === undefined)
    return `the monitor is about turns of agents ("${agentTurns}"), which this server does not score; name ops of calls`
  if (value["scorer_debounce_config"] != null)
    return "the monitor waits for the last of several messages (scorer_debounce_config), which this server does not; publish it without"
  if (fault !== null)
    return `the monitor's query cannot be read: ${fault.issues.map(({ path, message }) => `${path.join(".")}: ${message}`).join("; ")}`
  if (scorer.kind === "published" && scorer.scorer_refs.length === 0)
    return "the monitor names no published scorer; this server runs scorers of the class LLMAsAJudgeScorer"
  return null
}

function reasonOf(error: unknown): string {
  if (isRefusal(error)) return error.message
  throw error
}

function texts(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === "string") : []
}

/** A query as the API spells it: the SDK publishes operators by the names of their fields, such as `get_field_`. */
function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain)
  if (!isJsonObject(value)) return value
  const members = Object.entries(value).filter(([name]) => !name.startsWith("_"))
  return Object.fromEntries(
    members.map(([field, inner]) => {
      const name = operatorOf(field)
      return [name, name === "$literal" ? inner : plain(inner)]
    }),
  )
}

function operatorOf(field: string): string {
  if (!field.endsWith("_")) return field
  return `$${field.slice(0, -1).replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())}`
}
