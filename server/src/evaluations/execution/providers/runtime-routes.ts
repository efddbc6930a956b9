/** Custom runtimes: evaluation-store-calls 9. */
import { type Route, route } from "../../../http/route.ts"
import { existingProject } from "../../../access/project-access.ts"
import {
  providerKeyParams,
  providerKeys,
  runtime,
  runtimeBody,
  runtimeParams,
} from "../../../wire/evaluations/runtime.ts"
import type { ExecutionDependencies } from "../dependencies.ts"
import { keysOfTeam } from "../../../gateway/providers/provider-secrets.ts"
import { applyRuntime } from "./runtime.ts"

export function runtimeRoutes(dependencies: ExecutionDependencies): Route[] {
  return [
    route({
      method: "PUT",
      path: "/v2/:entity/:project/runtimes/:runtime_name",
      access: { right: "write", of: "project path.entity/project" },
      dialect: "reason",
      summary: "Make an OpenAI-compatible endpoint known under a name, with exactly these models",
      tag: "Custom Runtimes",
      schemas: { params: runtimeParams, body: runtimeBody },
      response: runtime,
      handle: async ({ params, body, principal }) => {
        const project = `${params.entity}/${params.project}`
        return applyRuntime(dependencies, principal, { project, name: params.runtime_name, body })
      },
    }),
    route({
      method: "GET",
      path: "/v2/:entity/:project/provider_keys",
      access: { right: "read", of: "project path.entity/project" },
      dialect: "reason",
      summary: "The names of the keys of services outside that a project may use, and where each may be sent",
      tag: "Custom Runtimes",
      schemas: { params: providerKeyParams },
      response: providerKeys,
      handle: async ({ params, principal }) => {
        await existingProject(dependencies.database, principal, `${params.entity}/${params.project}`)
        return { keys: keysOfTeam(dependencies.secrets, params.entity) }
      },
    }),
  ]
}
