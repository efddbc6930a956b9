/** `POST /graphql`, where W&B clients sign in (objects 15.2, 15.3) and keep runs (platform-wandb). */
import { baseAddress } from "../../http/base-address.ts"
import { type Route, route } from "../../http/route.ts"
import { graphqlAnswer, graphqlBody } from "../../wire/platform/graphql.ts"
import { answerGraphql } from "./graphql-answer.ts"
import { graphqlAccess, platformResolvers, platformSchema } from "./graphql-schema.ts"
import { runContext } from "../runs/run-context.ts"
import type { RunDependencies } from "../runs/run-dependencies.ts"

/** Config and summary of a run are one string each, whose values are counted with them (`run-document.ts`); the number of other values stays that of all bodies. */
const maximumBodyBytes = 8 * 1024 * 1024

export function graphqlRoutes(dependencies: RunDependencies): Route[] {
  return [
    route({
      method: "POST",
      path: "/graphql",
      access: { fields: graphqlAccess },
      dialect: "graphql",
      summary: "Viewer, teams, projects and runs, as W&B clients ask for them",
      tag: "Service",
      schemas: { body: graphqlBody },
      maximumBodyBytes,
      response: graphqlAnswer,
      handle: async ({ body, principal, request }) => {
        const context = runContext(dependencies, principal, baseAddress(request, /\/graphql\/?$/))
        const isShared = request.headers["x-wandb-use-async-filestream"] === "true"
        return answerGraphql(platformSchema, platformResolvers(context, { isShared }), body)
      },
    }),
  ]
}
