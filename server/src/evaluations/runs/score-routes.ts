/** `/v2/…/scores`: evaluation-store-objects 7. */
import { type Route, route } from "../../http/route.ts"
import { projectParams } from "../../wire/calls/call-write.ts"
import { ofRunListQuery, score, scoreCreateBody, scoreCreated } from "../../wire/evaluations/evaluation-run.ts"
import type { CallDependencies } from "../../calls/dependencies.ts"
import { readForProject } from "../../objects/payload/read-body.ts"
import { projectNameOf } from "../../objects/families/family.ts"
import { type CallFamily, callFamilyRoutes, familyAccess, familyPath } from "./call-family.ts"
import { scoreTask } from "./run-bodies.ts"
import { createScore, isScore, listScores, readScore } from "./scores.ts"

const scores: CallFamily<typeof ofRunListQuery> = {
  name: "scores",
  idName: "score_id",
  tag: "Scores",
  response: score,
  listQuery: ofRunListQuery,
  isOne: isScore,
  read: readScore,
  list: listScores,
}

export function scoreRoutes(dependencies: CallDependencies): Route[] {
  return [
    route({
      ...familyAccess,
      tag: scores.tag,
      method: "POST",
      path: familyPath(scores.name),
      access: { right: "write", of: "project path.entity/project", ingest: true },
      summary: "Score a prediction",
      schemas: { params: projectParams },
      rawBody: true,
      hidesKey: true,
      bodyDocument: scoreCreateBody,
      response: scoreCreated,
      handle: async (context) => {
        const project = projectNameOf(context.params)
        const body = await readForProject(dependencies, project, scoreTask, context)
        return createScore(dependencies, context.principal, project, body)
      },
    }),
    ...callFamilyRoutes(dependencies, scores),
  ]
}
