/**
 * The usage ledger: one row per completion request for which the engine has begun to sample, whether
 * its answer came to its end or broke off.
 */
import { type Insertable, type RawBuilder, sql } from "kysely"
import type { CatalogDatabase } from "../open-catalog.ts"
import type { CompletionUsageTable } from "../schema.ts"

export type UsageRow = Insertable<CompletionUsageTable>

/** Many rows in one statement: requests that end together share its cost. A row that is there already stays as it is. */
export async function insertUsage(database: CatalogDatabase, rows: readonly UsageRow[]): Promise<void> {
  await database
    .insertInto("completion_usage")
    .values(rows)
    .onConflict((conflict) => conflict.column("id").doNothing())
    .execute()
}

/** Rows that one statement removes: others of the catalog are answered between two. */
const removedAtOnce = 5_000

/** Removes usage that is older, some at a time, until `signal` is given; returns how many rows. */
export async function removeUsage(database: CatalogDatabase, days: number, signal: AbortSignal): Promise<number> {
  let removed = 0
  for (let count = removedAtOnce; count === removedAtOnce && !signal.aborted; removed += count) {
    const old = sql`created_at < now() - make_interval(days => ${days})`
    const { numDeletedRows } = await database
      .deleteFrom("completion_usage")
      .where(sql<boolean>`ctid = any(array(select ctid from completion_usage where ${old} limit ${removedAtOnce}))`)
      .executeTakeFirst()
    count = Number(numDeletedRows)
  }
  return removed
}

export const usageGroups = ["project_id", "user_id", "api_key_id", "model"] as const
export type UsageGroup = (typeof usageGroups)[number]

export interface UsageSelection {
  entityIds: readonly string[]
  /** Unix seconds; start included, end not. */
  start: number
  end: number
  bucketSeconds: number
  groupBy: readonly UsageGroup[]
  /** `<team>/<project>`. */
  projects: readonly string[] | null
  models: readonly string[] | null
  userIds: readonly string[] | null
  apiKeyIds: readonly string[] | null
}

export interface UsageSum {
  /** Start of the bucket, Unix seconds, a multiple of the width. */
  bucket: number
  input_tokens: number
  input_cached_tokens: number
  output_tokens: number
  num_model_requests: number
  project_id: string | null
  user_id: string | null
  api_key_id: string | null
  model: string | null
}

/** Sums per bucket and group, buckets without requests left out. */
export async function sumUsage(database: CatalogDatabase, selection: UsageSelection): Promise<UsageSum[]> {
  const { bucketSeconds, groupBy } = selection
  const width = sql.lit(bucketSeconds)
  const bucket = sql<number>`(floor(extract(epoch from u.created_at) / ${width}) * ${width})::bigint`
  const columns = {
    project_id: sql<string>`e.name || '/' || p.name`,
    user_id: sql<string>`u.user_id`,
    api_key_id: sql<string>`u.api_key_id`,
    model: sql<string>`u.model`,
  }
  const groups = groupBy.map((name) => columns[name].as(name))
  const rows = await database
    .selectFrom("completion_usage as u")
    .innerJoin("projects as p", "p.id", "u.project_id")
    .innerJoin("entities as e", "e.id", "p.entity_id")
    .select([
      bucket.as("bucket"),
      sql<number>`sum(u.input_tokens)::bigint`.as("input_tokens"),
      sql<number>`sum(u.input_cached_tokens)::bigint`.as("input_cached_tokens"),
      sql<number>`sum(u.output_tokens)::bigint`.as("output_tokens"),
      sql<number>`count(*)::bigint`.as("num_model_requests"),
      ...groups,
    ])
    .where("p.entity_id", "in", selection.entityIds)
    .where("u.created_at", ">=", new Date(selection.start * 1000))
    .where("u.created_at", "<", new Date(selection.end * 1000))
    .where((eb) => eb.and(filters(selection)))
    .groupBy([bucket, ...groupBy.map((name) => columns[name])])
    .orderBy(bucket)
    .execute()
  const empty = { project_id: null, user_id: null, api_key_id: null, model: null }
  return rows.map((row) => ({ ...empty, ...row }))
}

function filters(selection: UsageSelection): RawBuilder<boolean>[] {
  const { projects, models, userIds, apiKeyIds } = selection
  return [
    ...(projects === null ? [] : [sql<boolean>`e.name || '/' || p.name = any(${projects})`]),
    ...(models === null ? [] : [sql<boolean>`u.model = any(${models})`]),
    ...(userIds === null ? [] : [sql<boolean>`u.user_id::text = any(${userIds})`]),
    ...(apiKeyIds === null ? [] : [sql<boolean>`u.api_key_id::text = any(${apiKeyIds})`]),
  ]
}
