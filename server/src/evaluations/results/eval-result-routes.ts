/** `/v2/…/eval_results/query`: evaluation-store-objects 7. */
import { z } from "zod"
import { type Route, route, type RouteContext } from "../../http/route.ts"
import { parse } from "../../http/validation.ts"
import { projectParams } from "../../wire/calls/call-write.ts"
import {
  evalResults,
  type EvalResultsBody,
  evalResultsBody,
  evalResultsFilter,
} from "../../wire/evaluations/eval-results.ts"
import type { CallDependencies } from "../../calls/dependencies.ts"
import { sendStream } from "../../http/answers/json-stream.ts"
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
        const body = withExactFilters(context)
        const project = await existingProject(dependencies.database, principal, projectNameOf(params))
        await sendStream(reply, "application/json", queryResults(dependencies, principal, project, body))
      },
    }),
  ]
}

/** The request with the literals of its filters as they were spelled: whole numbers past 2^53 are compared exactly. */
function withExactFilters({
  body,
  request,
  exactBody,
}: Pick<RouteContext, "exactBody" | "request"> & { body: EvalResultsBody }): EvalResultsBody {
  if (body.filters == null || request.exactBody === null) return body
  const { filters } = exactBody() as { filters: unknown }
  return { ...body, filters: parse(z.array(evalResultsFilter), filters, "body") }
}
