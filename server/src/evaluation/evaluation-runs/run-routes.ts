/** `/v2/…/evaluation_runs`: evaluation-store-objects 7. */
import { type Route, route } from "../../http/route.ts"
import { projectParams } from "../../wire/evaluation/call-write.ts"
import {
  callsDeletedAnswer,
  evaluationRun,
  evaluationRunCreateBody,
  evaluationRunCreated,
  evaluationRunDeleteBody,
  evaluationRunDeleteQuery,
  evaluationRunFinishBody,
  evaluationRunListQuery,
  evaluationRunParams,
  finished,
} from "../../wire/evaluation/evaluation-run.ts"
import type { EvaluationDependencies } from "../dependencies.ts"
import { lineTypes } from "../json-stream.ts"
import { projectNameOf } from "../object-families/family.ts"
import { projectForRead } from "../project-access.ts"
import { finishRun } from "./finish-run.ts"
import { answerLines, deleteOfKind, idsToDelete } from "./run-answers.ts"
import { readFinishBody } from "./run-bodies.ts"
import { createRun, findRun, isRun, listRuns, runText } from "./runs.ts"

const shared = { access: "key", dialect: "reason", tag: "Evaluation runs" } as const
const path = "/v2/:entity/:project/evaluation_runs"

export function runRoutes(dependencies: EvaluationDependencies): Route[] {
  const { database } = dependencies
  return [
    route({
      ...shared,
      method: "POST",
      path,
      summary: "Start an evaluation run",
      schemas: { params: projectParams, body: evaluationRunCreateBody },
      response: evaluationRunCreated,
      handle: async ({ body, params, principal }) => createRun(dependencies, principal, projectNameOf(params), body),
    }),
    route({
      ...shared,
      method: "GET",
      path,
      summary: "Evaluation runs as JSON Lines, oldest first, also those that SDKs recorded",
      schemas: { params: projectParams, query: evaluationRunListQuery },
      response: evaluationRun,
      answerTypes: lineTypes,
      handle: async (context) =>
        answerLines(dependencies, context, (project, asked, range) => listRuns(dependencies, project, asked, range)),
    }),
    route({
      ...shared,
      method: "DELETE",
      path,
      summary: "Delete evaluation runs with their predictions and scores",
      schemas: { params: projectParams, query: evaluationRunDeleteQuery, body: evaluationRunDeleteBody },
      response: callsDeletedAnswer,
      handle: async (context) => {
        const { query, body } = context
        const ids = idsToDelete("evaluation_run_ids", query.evaluation_run_ids, body?.evaluation_run_ids)
        return deleteOfKind(dependencies, context, ids, isRun)
      },
    }),
    route({
      ...shared,
      method: "GET",
      path: `${path}/:evaluation_run_id`,
      summary: "One evaluation run",
      schemas: { params: evaluationRunParams },
      response: evaluationRun,
      handle: async ({ params, principal, reply }) => {
        const project = await projectForRead(database, principal, projectNameOf(params))
        const text = runText(await findRun(dependencies, project, params.evaluation_run_id))
        reply.type("application/json").send(text)
      },
    }),
    route({
      ...shared,
      method: "POST",
      path: `${path}/:evaluation_run_id/finish`,
      summary: "Finish an evaluation run with the means of its scores",
      schemas: { params: evaluationRunParams },
      rawBody: true,
      bodyDocument: evaluationRunFinishBody,
      response: finished,
      handle: async ({ body, params, principal }) => {
        const summary = readFinishBody(body)
        await finishRun(dependencies, principal, projectNameOf(params), params.evaluation_run_id, summary)
        return { success: true }
      },
    }),
  ]
}
