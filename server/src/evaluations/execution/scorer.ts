/** Scorers that the server can run: objects of the class `LLMAsAJudgeScorer` (weave 0.54, `scorers/llm_as_a_judge_scorer.py`). */
import { HeddleError } from "../../errors.ts"
import type { Principal } from "../../http/principal.ts"
import { isJsonObject } from "../../json/parsed-json.ts"
import type { ProjectAccess } from "../../access/project-access.ts"
import { refPrefix } from "../../objects/refs/refs.ts"
import type { ExecutionDependencies } from "./dependencies.ts"
import { readPublished } from "./published-object.ts"
import {
  naming,
  notRunnable,
  predict,
  type Prediction,
  readStructuredModel,
  type StructuredModel,
  structuredModel,
} from "./structured-model.ts"
import { fillMessage, fillTemplate, type TemplateVariables } from "./template.ts"

const scorerClass = "LLMAsAJudgeScorer"

export interface Scorer {
  /** As the request named it; the version that it meant then is in `pinnedRef`. */
  ref: string
  pinnedRef: string
  name: string
  model: StructuredModel
  /** A text, or the messages of a prompt. */
  prompt: string | readonly unknown[]
  /** Name in the prompt → name of the input. */
  columns: Readonly<Record<string, unknown>>
}

/** @throws {HeddleError} 400, 403, 404 that names the ref. */
function readScorer(dependencies: ExecutionDependencies, principal: Principal, ref: string): Promise<Scorer> {
  return naming(ref, async () => {
    const { database } = dependencies
    const object = await readPublished(database, principal, ref)
    if (object.leafClass !== scorerClass) {
      throw notRunnable("scorer", object.kind === "op" ? "an op" : `of the class ${object.leafClass ?? "none"}`)
    }
    const { model, scoring_prompt, column_map } = object.value
    return {
      ref,
      pinnedRef: object.ref,
      name: object.name,
      model: await modelOf(dependencies, principal, model),
      prompt: await promptOf(dependencies, principal, scoring_prompt),
      columns: isJsonObject(column_map) ? column_map : {},
    }
  })
}

/** Each version once, however many of the refs name it. @throws {HeddleError} 400, 403, 404 that names the ref. */
export async function readScorers(
  dependencies: ExecutionDependencies,
  principal: Principal,
  refs: readonly string[],
): Promise<Scorer[]> {
  const scorers = new Map<string, Scorer>()
  for (const ref of refs) {
    const scorer = await readScorer(dependencies, principal, ref)
    if (!scorers.has(scorer.pinnedRef)) scorers.set(scorer.pinnedRef, scorer)
  }
  return [...scorers.values()]
}

async function modelOf(
  dependencies: ExecutionDependencies,
  principal: Principal,
  model: unknown,
): Promise<StructuredModel> {
  if (typeof model === "string") return (await readStructuredModel(dependencies, principal, model)).model
  if (isJsonObject(model)) return structuredModel(model)
  throw new HeddleError("invalid_request", "the scorer has no model")
}

async function promptOf({ database }: ExecutionDependencies, principal: Principal, prompt: unknown) {
  const value =
    typeof prompt === "string" && prompt.startsWith(refPrefix)
      ? (await readPublished(database, principal, prompt)).value
      : prompt
  if (typeof value === "string") return value
  if (isJsonObject(value) && Array.isArray(value["messages"])) return value["messages"] as unknown[]
  throw new HeddleError("invalid_request", "the scorer's scoring_prompt is neither a text nor a prompt with messages")
}

export interface ScoredThing {
  requestId: string
  /** Inputs of the scored call, as `parseExact` returns them. */
  inputs: TemplateVariables
  output: unknown
}

/** @throws {HeddleError} {@link ModelFailure} */
export async function score(
  dependencies: ExecutionDependencies,
  principal: Principal,
  project: ProjectAccess,
  scorer: Scorer,
  { requestId, inputs, output }: ScoredThing,
  signal: AbortSignal,
): Promise<Prediction> {
  const variables = { ...inputs, ...renamed(scorer.columns, inputs), output }
  const { prompt } = scorer
  const messages =
    typeof prompt === "string"
      ? [{ role: "user", content: fillTemplate(prompt, variables) }]
      : prompt.map((message) => fillMessage(message, variables))
  return predict(dependencies, principal, project, scorer.model, { requestId, messages, variables: {} }, signal)
}

function renamed(columns: Scorer["columns"], inputs: TemplateVariables): TemplateVariables {
  const found = Object.entries(columns).flatMap(([name, column]) =>
    typeof column === "string" && Object.hasOwn(inputs, column) ? [[name, inputs[column]] as const] : [],
  )
  return Object.fromEntries(found)
}
