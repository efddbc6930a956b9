/** A project's own prices: evaluation-store-objects 8. */
import { randomUUIDv7 } from "node:crypto"
import type { z } from "zod"
import { invalid } from "../../errors.ts"
import type { Principal } from "../../http/principal.ts"
import { type AuditEntry, auditedAround, manyDeleted } from "../../storage/catalog/accounts/audit-logs.ts"
import { usageOf } from "../../storage/team-usage.ts"
import { isoTimeOf, microsecondsOf } from "../../storage/traces/query/sql-time.ts"
import {
  deleteTokenPrices,
  insertTokenPrices,
  selectTokenPrices,
  type TokenPriceRow,
} from "../../storage/traces/token-prices.ts"
import {
  type CostCreateBody,
  type CostInput,
  type costPage,
  type costsCreated,
  costRow,
} from "../../wire/calls/cost.ts"
import type { RowPurgeBody, RowQueryBody } from "../../wire/queries/row-query.ts"
import type { CallDependencies } from "../dependencies.ts"
import { checkRange } from "../../objects/requests/list-range.ts"
import { existingProject, ensureProject } from "../../access/project-access.ts"
import { idsToPurge } from "../../objects/requests/purge-ids.ts"

export async function createCosts(
  { database, traces }: CallDependencies,
  principal: Principal,
  { project_id, costs }: CostCreateBody,
): Promise<z.infer<typeof costsCreated>> {
  const now = isoTimeOf(BigInt(Date.now()) * 1000n)
  const rows = Object.entries(costs).map(([model, cost]) => toRow(model, cost, principal.userId, now))
  const project = await ensureProject(database, principal, project_id)
  await insertTokenPrices(traces, project.id, rows)
  return { ids: rows.map(({ id, llm_id }) => [id, llm_id]) }
}

function toRow(model: string, cost: CostInput, userId: string, now: string): TokenPriceRow {
  return {
    id: randomUUIDv7(),
    llm_id: model,
    provider_id: cost.provider_id || "default",
    effective_date: cost.effective_date == null ? now : effectiveDate(cost.effective_date, model),
    prompt_token_cost: cost.prompt_token_cost,
    completion_token_cost: cost.completion_token_cost,
    cache_read_input_token_cost: cost.cache_read_input_token_cost ?? 0,
    cache_creation_input_token_cost: cost.cache_creation_input_token_cost ?? 0,
    prompt_token_cost_unit: cost.prompt_token_cost_unit ?? "USD",
    completion_token_cost_unit: cost.completion_token_cost_unit ?? "USD",
    created_by: userId,
    created_at: now,
  }
}

/** Range of the store's time type. */
const [earliest, latest] = [microsecondsOf("1900-01-01") ?? 0n, microsecondsOf("2262-01-01") ?? 0n]

function effectiveDate(text: string, model: string): string {
  const moment = microsecondsOf(text)
  if (moment !== null && moment >= earliest && moment < latest) return isoTimeOf(moment)
  const message = `"${text}" is not a time from 1900 to 2261 in ISO 8601, such as 2026-01-31T00:00:00Z`
  throw invalid(["body", "costs", model, "effective_date"], message)
}

const costFields = Object.keys(costRow.shape)

export async function queryCosts(
  { database, traces }: CallDependencies,
  principal: Principal,
  body: RowQueryBody,
): Promise<z.infer<typeof costPage>> {
  const range = checkRange(body)
  const project = await existingProject(database, principal, body.project_id)
  const fields = body.fields?.length ? [...new Set(body.fields)] : costFields
  const where = body.query?.$expr ?? null
  return {
    results: await selectTokenPrices(traces, project.id, { fields, where, sortBy: body.sort_by ?? null, ...range }),
  }
}

export async function purgeCosts(
  { database, traces }: CallDependencies,
  principal: Principal,
  { project_id, query }: RowPurgeBody,
): Promise<Record<string, never>> {
  const ids = idsToPurge(query.$expr, "costs", { in: true })
  const project = await existingProject(database, principal, project_id)
  const details = manyDeleted(ids)
  const entry: AuditEntry = { type: "cost.deleted", team: project.entity, resourceId: project.name, details }
  const isChanged = await auditedAround(database, principal, entry, () => deleteTokenPrices(traces, project.id, ids))
  if (isChanged) usageOf(database)?.changed(project.entityId)
  return {}
}
