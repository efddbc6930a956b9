/** A judge that a rule describes itself: a model and a prompt, whose answer is a number and why. */
import { randomUUID } from "node:crypto"
import { HeddleError, invalid } from "../../errors.ts"
import type { Principal } from "../../http/principal.ts"
import { parseExact } from "../../json/exact-json.ts"
import { isJsonObject, tryParse } from "../../json/parsed-json.ts"
import type { ProjectAccess } from "../../access/project-access.ts"
import { ModelFailure } from "../../gateway/providers/model-failure.ts"
import type { CallRow } from "../../storage/traces/calls/call-row-reads.ts"
import type { JudgeScorer } from "../../wire/evaluations/scoring-rule.ts"
import type { ExecutionDependencies } from "../execution/dependencies.ts"
import { jsonAnswer } from "../execution/json-answer.ts"
import { admitModel } from "../execution/model-target.ts"
import { readPaid } from "../execution/paid-answer.ts"
import { isProviderModelName } from "../execution/providers/provider.ts"
import { fillTemplate, type TemplateVariables } from "../execution/template.ts"

export interface Judgement {
  /** JSON text. */
  output: string
  /** JSON text; null: the model does not tell. */
  usage: string | null
}

/** Room for a sentence and a number. */
const mostAnswerTokens = 600

/** @throws {HeddleError} 400, 403, 404: there is no such model for the project, or its bounds are the wrong way round. */
export async function checkJudge(
  dependencies: ExecutionDependencies,
  principal: Principal,
  project: ProjectAccess,
  scorer: JudgeScorer,
): Promise<void> {
  const { min, max } = scorer
  if (min != null && max != null && min >= max) {
    throw invalid(["body", "scorer", "min"], `${min} is not less than max, which is ${max}`)
  }
  try {
    const { chat } = await admitModel(dependencies, principal, project, judgeRequest(randomUUID(), scorer, "x"))
    await chat.release()
  } catch (error) {
    // The model is known; that it is away now says nothing about later.
    if (!(error instanceof HeddleError) || (error.status < 500 && error.status !== 429)) throw error
  }
}

/** @throws {HeddleError} {@link ModelFailure}; `UnusableAnswer`: it has no such score. */
export async function judge(
  dependencies: ExecutionDependencies,
  principal: Principal,
  project: ProjectAccess,
  { requestId, scorer, row }: { requestId: string; scorer: JudgeScorer; row: CallRow },
  signal: AbortSignal,
): Promise<Judgement> {
  const prompt = fillTemplate(scorer.prompt, variablesOf(row))
  const { chat } = await admitModel(dependencies, principal, project, judgeRequest(requestId, scorer, prompt))
  const { content, usage } = await chat.complete(signal)
  return { output: readPaid(usage, () => scoreIn(content, scorer)), usage }
}

/** The number in what a judge answered, and what it says for it, as JSON text. @throws {ModelFailure} there is none. */
function scoreIn(answer: string | null, { min, max }: JudgeScorer): string {
  if (answer === null || answer === "") throw new ModelFailure("the judge answered without a text")
  const value = tryParse(jsonAnswer(answer))
  const score = isJsonObject(value) ? value["score"] : undefined
  if (typeof score !== "number" || !Number.isFinite(score)) {
    throw new ModelFailure(`the judge's answer has no number under "score": ${answer.slice(0, 200)}`)
  }
  if ((min != null && score < min) || (max != null && score > max)) {
    throw new ModelFailure(`the judge's score ${score} is not within ${min ?? "any"} and ${max ?? "any"}`)
  }
  const reason = isJsonObject(value) && typeof value["reason"] === "string" ? { reason: value["reason"] } : {}
  return JSON.stringify({ score, ...reason })
}

/** Every input by its name, and all of them as `inputs`; the answer as `output`. */
function variablesOf({ inputs, output }: CallRow): TemplateVariables {
  const given = parseExact(inputs ?? "{}")
  return { ...(isJsonObject(given) ? given : {}), inputs: given, output: parseExact(output ?? "null") }
}

function judgeRequest(requestId: string, { model, min, max }: JudgeScorer, prompt: string) {
  const bounds = { ...(min == null ? {} : { minimum: min }), ...(max == null ? {} : { maximum: max }) }
  const schema = {
    type: "object",
    properties: { reason: { type: "string", maxLength: 300 }, score: { type: "number", ...bounds } },
    required: ["score"],
    additionalProperties: false,
  }
  const range = min == null && max == null ? "" : ` (${min ?? "any"} to ${max ?? "any"})`
  const form = `Answer with one JSON object: {"reason": why, in a sentence, "score": a number${range}}.`
  // Not every service outside knows schemas, so there the answer is only read.
  const held = isProviderModelName(model)
    ? {}
    : { response_format: { type: "json_schema", json_schema: { name: "score", schema, strict: true } } }
  const body = {
    model,
    messages: [{ role: "user", content: `${prompt}\n\n${form}` }],
    temperature: 0,
    max_tokens: mostAnswerTokens,
    ...held,
  }
  return { requestId, body, exactBody: body }
}
