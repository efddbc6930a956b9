/** `/v2/…/scores`: evaluation-store-objects 7. */
import { type Route, route } from "../../http/route.ts"
import { projectParams } from "../../wire/evaluation/call-write.ts"
import {
  callsDeletedAnswer,
  ofRunListQuery,
  score,
  scoreCreateBody,
  scoreCreated,
  scoreDeleteBody,
  scoreDeleteQuery,
  scoreParams,
} from "../../wire/evaluation/evaluation-run.ts"
import type { EvaluationDependencies } from "../dependencies.ts"
import { lineTypes } from "../json-stream.ts"
import { projectNameOf } from "../object-families/family.ts"
import { projectForRead } from "../project-access.ts"
import { answerLines, deleteOfKind, idsToDelete } from "./run-answers.ts"
import { readScoreBody } from "./run-bodies.ts"
import { createScore, isScore, listScores, readScore } from "./scores.ts"

const shared = { access: "key", dialect: "reason", tag: "Scores" } as const
const path = "/v2/:entity/:project/scores"

export function scoreRoutes(dependencies: EvaluationDependencies): Route[] {
  const { database } = dependencies
  return [
    route({
      ...shared,
      method: "POST",
      path,
      summary: "Score a prediction",
      schemas: { params: projectParams },
      rawBody: true,
      bodyDocument: scoreCreateBody,
      response: scoreCreated,
      handle: async ({ body, params, principal }) =>
        createScore(dependencies, principal, projectNameOf(params), readScoreBody(body)),
    }),
    route({
      ...shared,
      method: "GET",
      path,
      summary: "Scores of a run or of the project as JSON Lines, oldest first",
      schemas: { params: projectParams, query: ofRunListQuery },
      response: score,
      answerTypes: lineTypes,
      handle: async (context) =>
        answerLines(dependencies, context, (project, asked, range) => listScores(dependencies, project, asked, range)),
    }),
    route({
      ...shared,
      method: "DELETE",
      path,
      summary: "Delete scores",
      schemas: { params: projectParams, query: scoreDeleteQuery, body: scoreDeleteBody },
      response: callsDeletedAnswer,
      handle: async (context) => {
        const { query, body } = context
        return deleteOfKind(dependencies, context, idsToDelete("score_ids", query.score_ids, body?.score_ids), isScore)
      },
    }),
    route({
      ...shared,
      method: "GET",
      path: `${path}/:score_id`,
      summary: "One score",
      schemas: { params: scoreParams },
      response: score,
      handle: async ({ params, principal, reply }) => {
        const project = await projectForRead(database, principal, projectNameOf(params))
        reply.type("application/json").send(await readScore(dependencies, project, params.score_id))
      },
    }),
  ]
}
