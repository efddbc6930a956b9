/** `GET /v1/organization/audit_logs`: who changed what. Only for administrators. */
import { HeddleError } from "../errors.ts"
import { type Route, route } from "../http/route.ts"
import {
  type AuditFilter,
  auditLogExists,
  type AuditRecord,
  listAuditLogs,
} from "../storage/catalog/accounts/audit-logs.ts"
import type { CatalogDatabase } from "../storage/catalog/open-catalog.ts"
import { type AuditLog, auditLogPage, auditLogQuery } from "../wire/platform/audit-log.ts"
import type { z } from "zod"

const prefix = "audit_log-"

export function auditLogRoutes(database: CatalogDatabase): Route[] {
  return [
    route({
      method: "GET",
      path: "/v1/organization/audit_logs",
      access: "admin",
      dialect: "openai",
      tag: "Accounts",
      summary: "Who changed keys, users, teams and quotas, and who deleted what; newest first",
      schemas: { query: auditLogQuery },
      response: auditLogPage,
      handle: async ({ query }) => {
        const after = query.after?.replace(prefix, "") ?? null
        if (after !== null && !(await auditLogExists(database, after))) {
          throw new HeddleError("not_found", `after: there is no entry "${query.after}", or it is no longer kept`)
        }
        const rows = await listAuditLogs(database, filterOf(query), { after, limit: query.limit + 1 })
        const data = rows.slice(0, query.limit).map(toWireEntry)
        const ends = { first_id: data[0]?.id ?? null, last_id: data.at(-1)?.id ?? null }
        return { object: "list", data, ...ends, has_more: rows.length > query.limit }
      },
    }),
  ]
}

function filterOf(query: z.output<typeof auditLogQuery>): AuditFilter {
  return {
    types: query["event_types[]"] ?? [],
    actorIds: query["actor_ids[]"] ?? [],
    resourceIds: query["resource_ids[]"] ?? [],
    teams: query["teams[]"] ?? [],
    from: query["effective_at[gte]"] ?? next(query["effective_at[gt]"]),
    before: query["effective_at[lt]"] ?? next(query["effective_at[lte]"]),
  }
}

/** Times are in whole seconds: after one, and not later than one, both mean the next. */
function next(seconds: number | undefined): number | null {
  return seconds === undefined ? null : seconds + 1
}

function toWireEntry(record: AuditRecord): AuditLog {
  return {
    id: prefix + record.id,
    object: "organization.audit_log",
    type: record.type,
    effective_at: Math.floor(record.createdAt.getTime() / 1000),
    outcome: record.outcome,
    actor: actorOf(record),
    request_id: record.requestId,
    team: record.team,
    [record.type]: { id: record.resourceId, ...record.details },
  }
}

function actorOf({ userId, username, apiKeyId }: AuditRecord): AuditLog["actor"] {
  if (userId === null || username === null || apiKeyId === null) return { type: "server" }
  return { type: "api_key", api_key: { id: apiKeyId, type: "user", user: { id: userId, username } } }
}
