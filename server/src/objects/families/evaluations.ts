/** `/v2/…/evaluations`: evaluation-store-objects 7. An evaluation names a dataset, scorers and its ops. */
import type { z } from "zod"
import type { Principal } from "../../http/principal.ts"
import { evaluation, type evaluationCreateBody } from "../../wire/objects/object-families.ts"
import type { StoreDependencies } from "../dependencies.ts"
import { checkObjectId } from "../object-classes.ts"
import { checkPublishable, type PublishedVersion, publishValue } from "../object-create.ts"
import {
  describedFields,
  type FamilyMember,
  type ObjectFamily,
  objectIdOf,
  refOf,
  textOr,
  withAttributes,
} from "./family.ts"
import { publishOp } from "./ops.ts"

export const evaluations: ObjectFamily = {
  name: "evaluations",
  noun: "an evaluation",
  tag: "Evaluations",
  selection: { kind: "object", baseObjectClass: "Evaluation" },
  hasSource: false,
  pagedOrder: [],
  response: evaluation,
  show: (member) => JSON.stringify(evaluationFields(member)),
}

function evaluationFields(member: FamilyMember) {
  const { val } = member
  const scorers: unknown[] = Array.isArray(val["scorers"]) ? val["scorers"] : []
  return {
    ...describedFields(member),
    dataset: textOr(val["dataset"], ""),
    scorers: scorers.filter((one) => typeof one === "string"),
    trials: Number.isSafeInteger(val["trials"]) ? val["trials"] : 1,
    evaluation_name: textOr(val["evaluation_name"], null),
    evaluate_op: textOr(val["evaluate"], null),
    predict_and_score_op: textOr(val["predict_and_score"], null),
    summarize_op: textOr(val["summarize"], null),
  }
}

/** Sources of the ops of an evaluation that was created without the SDK: each calls the SDK's own method. */
const methods = {
  evaluate: methodSource("evaluate(self: weave.Evaluation, model: weave.Model) -> dict", "evaluate(self, model)"),
  predict_and_score: methodSource(
    "predict_and_score(self: weave.Evaluation, model: weave.Model, example: dict) -> dict",
    "predict_and_score(self, model, example)",
  ),
  summarize: methodSource("summarize(self: weave.Evaluation, eval_table: list) -> dict", "summarize(self, eval_table)"),
}

function methodSource(signature: string, call: string): string {
  return `import weave\n\n\n@weave.op\nasync def ${signature}:\n    return await weave.Evaluation.${call}\n`
}

export interface NewEvaluation extends Omit<z.output<typeof evaluationCreateBody>, "eval_attributes"> {
  /** JSON of an object. */
  eval_attributes: string | null
}

/** Creates an evaluation from the result of `evaluationTask`. Stores full op refs; the reference server stores digests. */
export async function createEvaluation(
  dependencies: StoreDependencies,
  principal: Principal,
  projectName: string,
  made: NewEvaluation,
): Promise<PublishedVersion> {
  const objectId = objectIdOf(made.name)
  const opIds = Object.keys(methods).map((method) => `${objectId}.${method}`)
  for (const one of [objectId, ...opIds]) checkObjectId(one)
  const attributes = made.eval_attributes
  const evaluationId = { project_id: projectName, object_id: objectId }
  await checkPublishable(dependencies, principal, evaluationId, withAttributes(fieldsOf(made), attributes))
  const refs: Record<string, string> = {}
  for (const [method, source] of Object.entries(methods)) {
    const version = await publishOp(dependencies, principal, projectName, { objectId: `${objectId}.${method}`, source })
    refs[method] = refOf("op", projectName, version)
  }
  const text = withAttributes({ ...fieldsOf(made), ...refs }, attributes)
  return publishValue(dependencies, principal, evaluationId, text)
}

function fieldsOf({ name, description, dataset, scorers, trials, evaluation_name }: NewEvaluation) {
  return {
    _type: "Evaluation",
    name,
    description: description ?? null,
    dataset,
    scorers: scorers ?? [],
    preprocess_model_input: null,
    trials,
    metadata: null,
    evaluation_name: evaluation_name ?? null,
    _class_name: "Evaluation",
    _bases: ["Object", "BaseModel"],
  }
}
