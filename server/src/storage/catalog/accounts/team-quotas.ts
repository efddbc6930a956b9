/** Limits of each team, and how much of them it uses. */
import { sql } from "kysely"
import { HeddleError } from "../../../errors.ts"
import { type QuotaName, quotaNames } from "../../../wire/platform/quota.ts"
import type { CatalogDatabase } from "../open-catalog.ts"

/** Sets the quotas of teams without one of their own. Servers that share the catalog should set the same. */
export async function setQuotaDefaults(
  database: CatalogDatabase,
  defaults: Readonly<Record<QuotaName, number>>,
): Promise<void> {
  await database
    .insertInto("quota_defaults")
    .values(quotaNames.map((name) => ({ name, value: defaults[name] })))
    .onConflict((on) => on.column("name").doUpdateSet((row) => ({ value: row.ref("excluded.value") })))
    .execute()
}

/** null goes back to the default. */
export async function setTeamQuota(
  database: CatalogDatabase,
  entityId: string,
  name: QuotaName,
  value: number | null,
): Promise<void> {
  if (value === null) {
    await database.deleteFrom("team_quotas").where("entity_id", "=", entityId).where("name", "=", name).execute()
    return
  }
  await database
    .insertInto("team_quotas")
    .values({ entity_id: entityId, name, value })
    .onConflict((on) => on.columns(["entity_id", "name"]).doUpdateSet({ value }))
    .execute()
}

/** null: nothing limits it. */
export async function teamQuota(database: CatalogDatabase, entityId: string, name: QuotaName): Promise<number | null> {
  const { rows } = await sql<{ value: number | null }>`select team_quota(${entityId}, ${name}) as value`.execute(
    database,
  )
  return rows[0]?.value ?? null
}

export interface QuotaStanding {
  name: QuotaName
  limit: number
  isDefault: boolean
  /** 0 for `requests_per_minute`, of which no row tells. */
  used: number
}

export async function quotaStandings(database: CatalogDatabase, entityId: string): Promise<QuotaStanding[]> {
  const { rows } = await sql<QuotaStanding>`
    select d.name, coalesce(q.value, d.value) as "limit", q.value is null as "isDefault",
      case d.name ${sql.join(
        countedNames.map((name) => sql`when ${name} then ${counts[name](entityId)}`),
        sql` `,
      )} when 'stored_bytes' then (select stored_bytes from team_usage where entity_id = ${entityId}) end as used
    from quota_defaults d left join team_quotas q on q.name = d.name and q.entity_id = ${entityId}`.execute(database)
  const found = new Map(rows.map((row) => [row.name, { ...row, used: row.used ?? 0 }]))
  return quotaNames.flatMap((name) => found.get(name) ?? [])
}

/** Quotas that are counted in rows. */
export type CountedQuota = Exclude<QuotaName, "stored_bytes" | "requests_per_minute">

const counts: Readonly<Record<CountedQuota, (entityId: string) => ReturnType<typeof sql<number>>>> = {
  models: (entityId) => sql<number>`(select count(*) from models m join projects p on p.id = m.project_id
    where p.entity_id = ${entityId} and m.deleted_at is null)`,
  projects: (entityId) => sql<number>`(select count(*) from projects where entity_id = ${entityId})`,
  open_jobs: (entityId) => sql<number>`((select count(*) from training_jobs j join models m on m.id = j.model_id
      join projects p on p.id = m.project_id where j.status in ('queued', 'running', 'paused') and p.entity_id = ${entityId})
    + (select count(*) from execution_jobs j join projects p on p.id = j.project_id
      where j.status in ('queued', 'running') and p.entity_id = ${entityId}))`,
  api_keys: (entityId) => sql<number>`(select count(*) from api_keys k join users u on u.id = k.user_id
    where u.default_entity_id = ${entityId} and k.revoked_at is null and (k.expires_at is null or k.expires_at > now()))`,
}
const countedNames = Object.keys(counts) as CountedQuota[]

const wayOut: Readonly<Record<CountedQuota, string>> = {
  models: "Delete models",
  projects: "Use one of the projects that are there, delete one",
  open_jobs: "Send it again when one has ended",
  api_keys: "Revoke keys that nobody uses",
}

const jobRetryMs = 15_000

/**
 * Looks whether the team may have one more, and holds others who ask until the transaction ends, so that none is counted
 * too few. @throws {HeddleError} `quota_exceeded`; `rate_limit_exceeded` for jobs, of which there is room again by itself.
 */
export async function requireOneMore(
  transaction: CatalogDatabase,
  entityId: string,
  name: CountedQuota,
): Promise<void> {
  const team = await transaction
    .selectFrom("entities")
    .select("name")
    .where("id", "=", entityId)
    .forNoKeyUpdate()
    .executeTakeFirstOrThrow()
  const { rows } = await sql<{ limit: number | null; used: number }>`
    select team_quota(${entityId}, ${name}) as "limit", ${counts[name](entityId)} as used`.execute(transaction)
  const { limit, used } = rows[0] ?? { limit: null, used: 0 }
  if (limit === null || used < limit) return
  const quota = { team: team.name, name, limit, used }
  const what = name.replaceAll("_", " ")
  const message = `the team "${team.name}" has ${used} of at most ${limit} ${what}; none is left. ${wayOut[name]}, or ${askMore(team.name)}`
  if (name === "open_jobs") throw new HeddleError("rate_limit_exceeded", message, { retryAfterMs: jobRetryMs })
  throw new HeddleError("quota_exceeded", message, { extras: { quota } })
}

function askMore(team: string): string {
  return `ask an administrator for a larger quota (POST /v1/organization/teams/${team}/quotas)`
}

/** @throws {HeddleError} `quota_exceeded`. */
export function noRoom(team: string, limit: number, used: number, needed: number): HeddleError {
  const left = Math.max(0, limit - used)
  const message =
    `the team "${team}" stores ${formatted(used)} of at most ${formatted(limit)}; ${formatted(left)} are left` +
    `${needed === 0 ? "" : `, and this takes ${formatted(needed)}`}. ` +
    `Delete calls, files, models or checkpoints, or ${askMore(team)}`
  return new HeddleError("quota_exceeded", message, { extras: { quota: { team, name: "stored_bytes", limit, used } } })
}

function formatted(bytes: number): string {
  const units = ["bytes", "KiB", "MiB", "GiB", "TiB"]
  const power = bytes === 0 ? 0 : Math.min(units.length - 1, Math.floor(Math.log2(bytes) / 10))
  return power === 0 ? `${bytes} bytes` : `${(bytes / 1024 ** power).toFixed(1)} ${units[power]}`
}
