/** `/cost/…`: evaluation-store-objects 8. */
import { type Route, route } from "../../http/route.ts"
import { costCreateBody, costPage, costsCreated } from "../../wire/calls/cost.ts"
import { rowPurgeBody, rowQueryBody, rowsPurged } from "../../wire/queries/row-query.ts"
import { createCosts, purgeCosts, queryCosts } from "./project-prices.ts"
import type { CallDependencies } from "../dependencies.ts"

const shared = { method: "POST", dialect: "reason", tag: "Costs" } as const

export function costRoutes(dependencies: CallDependencies): Route[] {
  return [
    route({
      ...shared,
      path: "/cost/create",
      access: { right: "write", of: "project body.project_id" },
      summary: "Set what the tokens of models cost in a project",
      schemas: { body: costCreateBody },
      response: costsCreated,
      handle: async ({ body, principal }) => createCosts(dependencies, principal, body),
    }),
    route({
      ...shared,
      path: "/cost/query",
      access: { right: "read", of: "project body.project_id" },
      summary: "Find a project's prices",
      schemas: { body: rowQueryBody },
      response: costPage,
      handle: async ({ body, principal }) => queryCosts(dependencies, principal, body),
    }),
    route({
      ...shared,
      path: "/cost/purge",
      access: { right: "write", of: "project body.project_id" },
      summary: "Delete prices by id",
      schemas: { body: rowPurgeBody },
      response: rowsPurged,
      handle: async ({ body, principal }) => purgeCosts(dependencies, principal, body),
    }),
  ]
}
