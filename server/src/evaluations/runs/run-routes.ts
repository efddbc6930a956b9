/** `/v2/…/evaluation_runs`: evaluation-store-objects 7. */
import { type Route, route } from "../../http/route.ts"
import { projectParams } from "../../wire/calls/call-write.ts"
import {
  evaluationRun,
  evaluationRunCreateBody,
  evaluationRunCreated,
  evaluationRunFinishBody,
  evaluationRunListQuery,
  evaluationRunParams,
  finished,
} from "../../wire/evaluations/evaluation-run.ts"
import type { CallDependencies } from "../../calls/dependencies.ts"
import { readForProject } from "../../objects/payload/read-body.ts"
import { projectNameOf } from "../../objects/families/family.ts"
import { type CallFamily, callFamilyRoutes, familyAccess, familyPath } from "./call-family.ts"
import { finishRun } from "./finish-run.ts"
import { finishTask } from "./run-bodies.ts"
import { createRun, findRun, isRun, listRuns, runText } from "./runs.ts"

const runs: CallFamily<typeof evaluationRunListQuery> = {
  name: "evaluation_runs",
  idName: "evaluation_run_id",
  tag: "Evaluation runs",
  response: evaluationRun,
  listQuery: evaluationRunListQuery,
  isOne: isRun,
  read: async (dependencies, project, id) => runText(await findRun(dependencies, project, id)),
  list: listRuns,
}

export function runRoutes(dependencies: CallDependencies): Route[] {
  return [
    route({
      ...familyAccess,
      tag: runs.tag,
      method: "POST",
      path: familyPath(runs.name),
      access: { right: "write", of: "project path.entity/project", ingest: true },
      summary: "Start an evaluation run",
      schemas: { params: projectParams, body: evaluationRunCreateBody },
      hidesKey: true,
      response: evaluationRunCreated,
      handle: async ({ body, params, principal }) => createRun(dependencies, principal, projectNameOf(params), body),
    }),
    ...callFamilyRoutes(dependencies, runs),
    route({
      ...familyAccess,
      tag: runs.tag,
      method: "POST",
      path: `${familyPath(runs.name)}/:evaluation_run_id/finish`,
      access: { right: "write", of: "project path.entity/project", ingest: true },
      summary: "Finish an evaluation run with the means of its scores",
      schemas: { params: evaluationRunParams },
      rawBody: true,
      hidesKey: true,
      bodyDocument: evaluationRunFinishBody,
      response: finished,
      handle: async (context) => {
        const { params, principal } = context
        const summary = await readForProject(dependencies, projectNameOf(params), finishTask, context)
        await finishRun(dependencies, principal, projectNameOf(params), params.evaluation_run_id, summary)
        return { success: true }
      },
    }),
  ]
}
