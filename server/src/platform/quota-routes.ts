/** Limits and use of teams: members see their own teams, an administrator sees and changes all. */
import type { Principal } from "../http/principal.ts"
import type { RequestRates } from "../http/requests/request-rates.ts"
import { type Route, route } from "../http/route.ts"
import type { TeamRecord } from "../storage/catalog/accounts/accounts.ts"
import { audited } from "../storage/catalog/accounts/audit-logs.ts"
import { quotaStandings, setTeamQuota } from "../storage/catalog/accounts/team-quotas.ts"
import { usageOf } from "../storage/team-usage.ts"
import { listOf, teamParams } from "../wire/platform/account.ts"
import { quotaNames, type TeamQuotas, teamQuotas, updateQuotasBody } from "../wire/platform/quota.ts"
import type { AccountDependencies } from "./api-key-routes.ts"
import { visibleTeam } from "./visible-team.ts"

export interface QuotaDependencies extends AccountDependencies {
  rates: RequestRates
}

const shared = { dialect: "openai", tag: "Accounts" } as const
const ofTeam = "/v1/organization/teams/:team/quotas"

export function quotaRoutes(dependencies: QuotaDependencies): Route[] {
  const { database, invalidate } = dependencies
  return [
    route({
      ...shared,
      method: "GET",
      path: "/v1/organization/quotas",
      access: { right: "read", of: "teams" },
      summary: "What your teams may hold, and what is used and left of it",
      schemas: {},
      response: listOf(teamQuotas),
      handle: async ({ principal }) => ({
        object: "list",
        data: await Promise.all(principal.entities.map((team) => readQuotas(dependencies, principal, team))),
      }),
    }),
    route({
      ...shared,
      method: "GET",
      path: ofTeam,
      access: { right: "read", of: "team path.team" },
      summary: "What a team may hold, and what is used and left of it",
      schemas: { params: teamParams },
      response: teamQuotas,
      handle: async ({ params, principal }) =>
        readQuotas(dependencies, principal, await visibleTeam(database, principal, params.team)),
    }),
    route({
      ...shared,
      access: "admin",
      method: "POST",
      path: ofTeam,
      summary: "Change what a team may hold; null goes back to the default",
      schemas: { params: teamParams, body: updateQuotasBody },
      response: teamQuotas,
      handle: async ({ params, body, principal }) => {
        const team = await visibleTeam(database, principal, params.team)
        await audited(database, principal, async (transaction, record) => {
          for (const name of quotaNames) {
            const value = body[name]
            if (value !== undefined) await setTeamQuota(transaction, team.id, name, value)
          }
          await record({ type: "quotas.updated", team: team.name, resourceId: team.id, details: body })
        })
        usageOf(database)?.forget(team.id)
        invalidate()
        return readQuotas(dependencies, principal, team)
      },
    }),
  ]
}

async function readQuotas(
  { database, rates }: QuotaDependencies,
  principal: Principal,
  { id, name: team }: TeamRecord,
): Promise<TeamQuotas> {
  await usageOf(database)?.flush()
  const isOwn = id === principal.defaultEntity.id
  const usedByKey = (limit: number) => (isOwn ? rates.used(principal.apiKeyId, limit) : null)
  const quotas = (await quotaStandings(database, id)).map(({ name, limit, isDefault, used: counted }) => {
    const used = name === "requests_per_minute" ? usedByKey(limit) : Math.max(0, counted)
    return { name, limit, used, left: used === null ? null : Math.max(0, limit - used), is_default: isDefault }
  })
  return { object: "organization.team.quotas", team, quotas }
}
