/** Bodies of models and evaluations, read so that attributes stay the text they came as (law 3), and checked. */
import { z } from "zod"
import { evaluationCreateBody, modelCreateBody } from "../../wire/objects/object-families.ts"
import { checkRowSize } from "../row-size.ts"
import { bodyTask } from "../payload/body-task.ts"
import { objectTextOrNull, readBody } from "../requests/request-text.ts"
import type { NewEvaluation } from "./evaluations.ts"
import { checkAttributes, checkSource } from "./family.ts"
import type { NewModel } from "./models.ts"
import { evaluationFieldNames, modelFieldNames } from "./reserved-names.ts"

const modelText = modelCreateBody.extend({ attributes: z.string().nullish() })
const evaluationText = evaluationCreateBody.extend({ eval_attributes: z.string().nullish() })

function readModel(bytes: Buffer): NewModel {
  const body = readBody(modelText, bytes, { attributes: objectTextOrNull(["body", "attributes"]) })
  const attributes = body.attributes ?? null
  checkSource("source_code", body.source_code)
  checkAttributesOf("attributes", attributes, modelFieldNames)
  return { ...body, attributes }
}

function readEvaluation(bytes: Buffer): NewEvaluation {
  const body = readBody(evaluationText, bytes, { eval_attributes: objectTextOrNull(["body", "eval_attributes"]) })
  const eval_attributes = body.eval_attributes ?? null
  checkAttributesOf("eval_attributes", eval_attributes, evaluationFieldNames)
  return { ...body, eval_attributes }
}

function checkAttributesOf(name: string, text: string | null, fieldNames: ReadonlySet<string>): void {
  if (text !== null) checkRowSize(name, text)
  checkAttributes(fieldNames, { name, text })
}

export const modelTask = bodyTask("model", readModel)
export const evaluationTask = bodyTask("evaluation", readEvaluation)
