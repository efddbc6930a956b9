/** Custom runtimes: evaluation-store-calls 9. */
import { type Route, route } from "../../../http/route.ts"
import { runtime, runtimeBody, runtimeParams } from "../../../wire/evaluation/runtime.ts"
import type { ExecutionDependencies } from "../dependencies.ts"
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
  ]
}
