/** Bodies of runs, predictions and scores, read so that payloads stay the text they came as (law 3). */
import { z } from "zod"
import type { JsonCursor } from "../../json/json-cursor.ts"
import { predictionCreateBody, scoreCreateBody } from "../../wire/evaluations/evaluation-run.ts"
import { checkPayloadSize } from "../../labelling/feedback/payload-size.ts"
import { bodyTask } from "../../objects/payload/body-task.ts"
import { readBody } from "../../objects/requests/request-text.ts"
import type { NewPrediction } from "./predictions.ts"
import type { NewScore } from "./scores.ts"

const asText = (cursor: JsonCursor): string => cursor.value()
const objectText = z.string().refine((text) => text.startsWith("{"), "Input should be a valid dictionary")

const predictionText = predictionCreateBody.extend({ inputs: objectText, output: z.string() })
const scoreText = scoreCreateBody.extend({ value: z.string() })

function readPrediction(bytes: Buffer): NewPrediction {
  const body = readBody(predictionText, bytes, { inputs: asText, output: asText })
  return { ...body, evaluation_run_id: body.evaluation_run_id || null, genai_span_ref: body.genai_span_ref ?? null }
}

function readScore(bytes: Buffer): NewScore {
  const body = readBody(scoreText, bytes, { value: asText })
  checkPayloadSize(body.value)
  return { ...body, evaluation_run_id: body.evaluation_run_id || null }
}

const finishText = z.object({ summary: objectText.nullish() }).nullish()

/** JSON text of `summary`; null: none. */
function readFinish(bytes: Buffer): string | null {
  if (bytes.toString("latin1").trim() === "") return null
  const summary = (cursor: JsonCursor) =>
    cursor.kind() === "null" ? (JSON.parse(cursor.value()) as null) : cursor.value()
  return readBody(finishText, bytes, { summary })?.summary ?? null
}

export const predictionTask = bodyTask("evaluation run/prediction", readPrediction)
export const scoreTask = bodyTask("evaluation run/score", readScore)
export const finishTask = bodyTask("evaluation run/finish", readFinish)
