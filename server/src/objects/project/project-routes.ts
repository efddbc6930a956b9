/** `/project/…`: evaluation-store-objects 10. */
import { type Route, route } from "../../http/route.ts"
import {
  ingestSamplingAnswer,
  projectBody,
  projectQuery,
  projectStatsAnswer,
  projectStatsBody,
  retentionAnswer,
  retentionBody,
  sensitiveDataAnswer,
} from "../../wire/objects/project.ts"
import type { StoreDependencies } from "../dependencies.ts"
import { existingProject } from "../../access/project-access.ts"
import { storedRetentionDays } from "../../storage/catalog/accounts/call-retention.ts"
import { changeRetention } from "./call-retention.ts"
import { projectStats } from "./project-stats.ts"

const shared = { method: "POST", dialect: "reason", tag: "Projects" } as const

export function projectRoutes(dependencies: StoreDependencies): Route[] {
  const { database } = dependencies
  return [
    route({
      ...shared,
      path: "/project/stats",
      access: { right: "read", of: "project body.project_id" },
      summary: "How many bytes a project holds",
      schemas: { body: projectStatsBody },
      response: projectStatsAnswer,
      handle: async ({ body, principal }) => projectStats(dependencies, principal, body),
    }),
    route({
      ...shared,
      path: "/project/ttl_settings/read",
      access: { right: "read", of: "project body.project_id" },
      summary: "How long calls are kept",
      schemas: { body: projectBody },
      response: retentionAnswer,
      handle: async ({ body, principal }) => {
        const { id } = await existingProject(database, principal, body.project_id)
        return { retention_days: await storedRetentionDays(database, id) }
      },
    }),
    route({
      ...shared,
      path: "/project/ttl_settings/update",
      access: { right: "write", of: "project body.project_id" },
      summary: "Limit how long calls are kept",
      schemas: { body: retentionBody },
      response: retentionAnswer,
      handle: async ({ body, principal }) => changeRetention(database, principal, body),
    }),
    route({
      ...shared,
      path: "/project/ingest_sampling_settings/read",
      access: { right: "read", of: "project body.project_id" },
      summary: "Which share of calls is stored: all",
      schemas: { body: projectBody },
      response: ingestSamplingAnswer,
      handle: async ({ body, principal }) => {
        await existingProject(database, principal, body.project_id)
        return { dry_run: false, sample_rate: 1 }
      },
    }),
    route({
      ...shared,
      method: "GET",
      path: "/project/sensitive_data_settings",
      access: { right: "read", of: "project query.project_id" },
      summary: "What is taken out of payloads: nothing",
      schemas: { query: projectQuery },
      response: sensitiveDataAnswer,
      handle: async ({ query, principal }) => {
        await existingProject(database, principal, query.project_id)
        return { policy: "off" }
      },
    }),
  ]
}
