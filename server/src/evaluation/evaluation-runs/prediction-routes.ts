/** `/v2/…/predictions`: evaluation-store-objects 7. */
import { type Route, route } from "../../http/route.ts"
import { projectParams } from "../../wire/evaluation/call-write.ts"
import {
  callsDeletedAnswer,
  finished,
  ofRunListQuery,
  prediction,
  predictionCreateBody,
  predictionCreated,
  predictionDeleteBody,
  predictionDeleteQuery,
  predictionParams,
} from "../../wire/evaluation/evaluation-run.ts"
import type { EvaluationDependencies } from "../dependencies.ts"
import { lineTypes } from "../json-stream.ts"
import { projectNameOf } from "../object-families/family.ts"
import { projectForRead } from "../project-access.ts"
import { finishPrediction } from "./finish-prediction.ts"
import { createPrediction, findPrediction, isPrediction, listPredictions, predictionText } from "./predictions.ts"
import { answerLines, deleteOfKind, idsToDelete } from "./run-answers.ts"
import { readPredictionBody } from "./run-bodies.ts"

const shared = { access: "key", dialect: "reason", tag: "Predictions" } as const
const path = "/v2/:entity/:project/predictions"

export function predictionRoutes(dependencies: EvaluationDependencies): Route[] {
  const { database } = dependencies
  return [
    route({
      ...shared,
      method: "POST",
      path,
      summary: "Record what a model gave for its inputs",
      schemas: { params: projectParams },
      rawBody: true,
      bodyDocument: predictionCreateBody,
      response: predictionCreated,
      handle: async ({ body, params, principal }) =>
        createPrediction(dependencies, principal, projectNameOf(params), readPredictionBody(body)),
    }),
    route({
      ...shared,
      method: "GET",
      path,
      summary: "Predictions of a run or of the project as JSON Lines, oldest first",
      schemas: { params: projectParams, query: ofRunListQuery },
      response: prediction,
      answerTypes: lineTypes,
      handle: async (context) =>
        answerLines(dependencies, context, (project, asked, range) =>
          listPredictions(dependencies, project, asked, range),
        ),
    }),
    route({
      ...shared,
      method: "DELETE",
      path,
      summary: "Delete predictions",
      schemas: { params: projectParams, query: predictionDeleteQuery, body: predictionDeleteBody },
      response: callsDeletedAnswer,
      handle: async (context) => {
        const { query, body } = context
        const ids = idsToDelete("prediction_ids", query.prediction_ids, body?.prediction_ids)
        return deleteOfKind(dependencies, context, ids, isPrediction)
      },
    }),
    route({
      ...shared,
      method: "GET",
      path: `${path}/:prediction_id`,
      summary: "One prediction",
      schemas: { params: predictionParams },
      response: prediction,
      handle: async ({ params, principal, reply }) => {
        const project = await projectForRead(database, principal, projectNameOf(params))
        const found = await findPrediction(dependencies, project, params.prediction_id)
        reply.type("application/json").send(predictionText(found))
      },
    }),
    route({
      ...shared,
      method: "POST",
      path: `${path}/:prediction_id/finish`,
      summary: "Finish a prediction of a run: its scores are taken together",
      schemas: { params: predictionParams },
      response: finished,
      handle: async ({ params, principal }) => {
        await finishPrediction(dependencies, principal, projectNameOf(params), params.prediction_id)
        return { success: true }
      },
    }),
  ]
}
