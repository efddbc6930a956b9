/** `POST /graphql`, where W&B clients sign in: objects 15.2, 15.3. */
import { type Route, route } from "../http/route.ts"
import type { CatalogDatabase } from "../storage/catalog/open-catalog.ts"
import { graphqlAnswer, graphqlBody } from "../wire/platform/graphql.ts"
import { answerGraphql } from "./graphql-answer.ts"
import { platformResolvers, platformSchema } from "./graphql-schema.ts"

export function graphqlRoutes(database: CatalogDatabase): Route[] {
  return [
    route({
      method: "POST",
      path: "/graphql",
      access: "key",
      dialect: "graphql",
      summary: "Viewer, default entity and projects, as W&B clients ask for them",
      tag: "Service",
      schemas: { body: graphqlBody },
      response: graphqlAnswer,
      handle: async ({ body, principal }) =>
        answerGraphql(platformSchema, platformResolvers(database, principal), body),
    }),
  ]
}
