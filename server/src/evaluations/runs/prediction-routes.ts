/** `/v2/…/predictions`: evaluation-store-objects 7. */
import { type Route, route } from "../../http/route.ts"
import { projectParams } from "../../wire/calls/call-write.ts"
import {
  finished,
  ofRunListQuery,
  prediction,
  predictionCreateBody,
  predictionCreated,
  predictionParams,
} from "../../wire/evaluations/evaluation-run.ts"
import type { CallDependencies } from "../../calls/dependencies.ts"
import { readForProject } from "../../objects/payload/read-body.ts"
import { projectNameOf } from "../../objects/families/family.ts"
import { type CallFamily, callFamilyRoutes, familyAccess, familyPath } from "./call-family.ts"
import { finishPrediction } from "./finish-prediction.ts"
import { createPrediction, findPrediction, isPrediction, listPredictions, predictionText } from "./predictions.ts"
import { predictionTask } from "./run-bodies.ts"

const predictions: CallFamily<typeof ofRunListQuery> = {
  name: "predictions",
  idName: "prediction_id",
  tag: "Predictions",
  response: prediction,
  listQuery: ofRunListQuery,
  isOne: isPrediction,
  read: async (dependencies, project, id) => predictionText(await findPrediction(dependencies, project, id)),
  list: listPredictions,
}

export function predictionRoutes(dependencies: CallDependencies): Route[] {
  return [
    route({
      ...familyAccess,
      tag: predictions.tag,
      method: "POST",
      path: familyPath(predictions.name),
      access: { right: "write", of: "project path.entity/project", ingest: true },
      summary: "Record a model's output for its inputs",
      schemas: { params: projectParams },
      rawBody: true,
      hidesKey: true,
      bodyDocument: predictionCreateBody,
      response: predictionCreated,
      handle: async (context) => {
        const project = projectNameOf(context.params)
        const body = await readForProject(dependencies, project, predictionTask, context)
        return createPrediction(dependencies, context.principal, project, body)
      },
    }),
    ...callFamilyRoutes(dependencies, predictions),
    route({
      ...familyAccess,
      tag: predictions.tag,
      method: "POST",
      path: `${familyPath(predictions.name)}/:prediction_id/finish`,
      access: { right: "write", of: "project path.entity/project", ingest: true },
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
