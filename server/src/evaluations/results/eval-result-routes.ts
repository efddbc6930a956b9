/** `/v2/…/eval_results/query`: evaluation-store-objects 7. */
import { type Route, route } from "../../http/route.ts"
import { projectParams } from "../../wire/calls/call-write.ts"
import { evalResults, evalResultsBody } from "../../wire/evaluations/eval-results.ts"
import type { CallDependencies } from "../../calls/dependencies.ts"
import { sendStream } from "../../http/answers/json-stream.ts"
import { exactRequest } from "../../http/bodies/exact-request.ts"
import { projectNameOf } from "../../objects/families/family.ts"
import { existingProject } from "../../access/project-access.ts"
import { queryResults } from "./eval-results.ts"

export function evalResultRoutes(dependencies: CallDependencies): Route[] {
  return [
    route({
      dialect: "reason",
      tag: "Eval results",
      method: "POST",
      path: "/v2/:entity/:project/eval_results/query",
      access: { right: "read", of: "project path.entity/project" },
      summary: "The rows of evaluations side by side, with the trials of each, and statistics",
      schemas: { params: projectParams, body: evalResultsBody },
      response: evalResults,
      handle: async (context) => {
        const { params, principal, reply } = context
        const body = exactRequest(context)
        const project = await existingProject(dependencies.database, principal, projectNameOf(params))
        await sendStream(reply, "application/json", queryResults(dependencies, principal, project, body))
      },
    }),
  ]
}
