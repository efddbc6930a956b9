/** Rollouts as they are listed and read. */
import { sql } from "kysely"
import { usageOf } from "../../team-usage.ts"
import { inTransaction } from "../in-transaction.ts"
import { isUuid } from "../identifiers.ts"
import { isoText } from "../iso-time.ts"
import type { CatalogDatabase } from "../open-catalog.ts"
import { isStorable } from "../storable-text.ts"
import { highestStep } from "./checkpoints.ts"
import type { RolloutTurnTable } from "./rollouts-schema.ts"

export interface RolloutPlace {
  /** Id in the catalog. */
  id: string
  rolloutId: string
  projectId: string
  project: string
  entityId: string
  entity: string
  /** null: it is not deleted; else how many turns it had. */
  deletedTurns: number | null
}

/** Rollouts with this id in these teams, the oldest first; `projectId` null: in any project. */
export async function findRollouts(
  database: CatalogDatabase,
  entityIds: readonly string[],
  rolloutId: string,
  projectId: string | null,
): Promise<RolloutPlace[]> {
  if (entityIds.length === 0) return []
  let query = database
    .selectFrom("rollouts as r")
    .innerJoin("projects as p", "p.id", "r.project_id")
    .innerJoin("entities as e", "e.id", "p.entity_id")
    .select([
      "r.id",
      "r.rollout_id as rolloutId",
      "p.id as projectId",
      "p.name as project",
      "e.id as entityId",
      "e.name as entity",
      "r.deleted_turns as deletedTurns",
    ])
    .where("r.rollout_id", "=", rolloutId)
    .where("e.id", "in", entityIds)
  if (projectId !== null) query = query.where("p.id", "=", projectId)
  return query
    .orderBy(sql`r.deleted_at desc nulls first`)
    .limit(20)
    .execute()
}

export interface RolloutModel {
  /** `<entity>/<project>/<name>`; null: a base model, or one that was deleted with its project. */
  path: string | null
  baseModel: string
  modelId: string | null
  step: number | null
  turns: number
}

export interface RolloutRecord {
  id: string
  rolloutId: string
  sequence: number
  groupId: string | null
  reward: number | null
  rewardedAt: string | null
  createdAt: string
  lastTurnAt: string
  expiresAt: string
  turns: number
  unfinishedTurns: number
  /** Turns whose content is gone, or whose time is over. */
  expiredTurns: number
  groups: number
  promptTokens: number
  completionTokens: number
  models: RolloutModel[]
}

/** Absent members do not narrow the list. */
export interface RolloutFilter {
  id?: string | undefined
  /** As clients name them. */
  rolloutIds?: readonly string[] | undefined
  groupId?: string | undefined
  modelId?: string | undefined
  step?: number | undefined
  isRewarded?: boolean | undefined
  since?: Date | undefined
  until?: Date | undefined
}

export interface RolloutPage {
  /** Strictly after this one; null: from the first. */
  afterSequence: number | null
  order: "asc" | "desc"
  limit: number
}

export async function listRollouts(
  database: CatalogDatabase,
  projectId: string,
  { id, rolloutIds, groupId, modelId, step, isRewarded, since, until }: RolloutFilter,
  page: RolloutPage,
): Promise<RolloutRecord[]> {
  if (modelId !== undefined && !isUuid(modelId)) return []
  if ((groupId !== undefined && !isStorable(groupId)) || (step !== undefined && step > highestStep)) return []
  const order = page.order === "asc" ? sql`asc` : sql`desc`
  const isLater = page.order === "asc" ? sql`r.sequence >` : sql`r.sequence <`
  const conditions = [
    sql`r.project_id = ${projectId}`,
    sql`r.deleted_at is null`,
    ...(id === undefined ? [] : [sql`r.id = ${id}`]),
    ...(rolloutIds === undefined ? [] : [sql`r.rollout_id = any(${rolloutIds.filter(isStorable)}::text[])`]),
    ...(groupId === undefined ? [] : [sql`r.group_id = ${groupId}`]),
    ...(isRewarded === undefined ? [] : [isRewarded ? sql`r.reward is not null` : sql`r.reward is null`]),
    ...(since === undefined ? [] : [sql`r.created_at >= ${since}`]),
    ...(until === undefined ? [] : [sql`r.created_at < ${until}`]),
    ...(page.afterSequence === null ? [] : [sql`${isLater} ${page.afterSequence}`]),
    ...(modelId === undefined && step === undefined
      ? []
      : [
          sql`exists (select 1 from rollout_turns t where t.rollout = r.id
            ${modelId === undefined ? sql`` : sql`and t.model_id = ${modelId}`}
            ${step === undefined ? sql`` : sql`and t.step = ${step}`})`,
        ]),
  ]
  const { rows } = await sql<RolloutRecord>`
    select r.id, r.rollout_id as "rolloutId", r.sequence, r.group_id as "groupId", r.reward,
      ${isoText("r.rewarded_at")} as "rewardedAt", ${isoText("r.created_at")} as "createdAt",
      ${isoText("r.last_turn_at")} as "lastTurnAt", ${isoText("r.expires_at")} as "expiresAt",
      t.turns, t.unfinished as "unfinishedTurns", t.expired as "expiredTurns", t.groups,
      t.prompt_tokens as "promptTokens", t.completion_tokens as "completionTokens",
      coalesce(m.models, '[]'::json) as models
    from rollouts r
    cross join lateral (
      select count(*) as turns, count(*) filter (where not is_finished) as unfinished,
        count(*) filter (where content is null or r.expires_at <= now()) as expired,
        count(distinct group_id) as groups,
        coalesce(sum(prompt_tokens), 0)::bigint as prompt_tokens,
        coalesce(sum(completion_tokens), 0)::bigint as completion_tokens
      from rollout_turns where rollout = r.id) t
    cross join lateral (
      select json_agg(json_build_object('path', e.name || '/' || p.name || '/' || k.name, 'baseModel', a.base_model,
        'modelId', a.model_id, 'step', a.step, 'turns', a.turns) order by a.first) as models
      from (select base_model, model_id, step, count(*) as turns, min(sequence) as first
        from rollout_turns where rollout = r.id group by base_model, model_id, step) a
      left join models k on k.id = a.model_id
      left join projects p on p.id = k.project_id
      left join entities e on e.id = p.entity_id) m
    where ${sql.join(conditions, sql` and `)}
    order by r.sequence ${order}
    limit ${page.limit}`.execute(database)
  return rows
}

export interface TurnRecord extends Pick<
  RolloutTurnTable,
  | "id"
  | "protocol"
  | "model"
  | "model_id"
  | "step"
  | "base_model"
  | "group_id"
  | "trace_id"
  | "span_id"
  | "call_id"
  | "is_finished"
  | "extends"
  | "prompt_tokens"
  | "completion_tokens"
> {
  sequence: number
  startedAt: string
  endedAt: string
  /** As {@link RolloutModel.path}. */
  modelPath: string | null
  /** Compressed; null: it is gone. */
  content: Buffer | null
}

/** Contents of one page; the first comes however large it is. */
const mostPageBytes = 4 * 1024 * 1024

/** Turns in the order in which they were answered. `hasMore`: there are more behind these. */
export async function listTurns(
  database: CatalogDatabase,
  rollout: string,
  afterSequence: number | null,
  limit: number,
): Promise<{ turns: TurnRecord[]; hasMore: boolean }> {
  const sizes = await database
    .selectFrom("rollout_turns")
    .select(["sequence", "size_bytes as size"])
    .where("rollout", "=", rollout)
    .where("sequence", ">", afterSequence ?? -1)
    .orderBy("sequence")
    .limit(limit + 1)
    .execute()
  let bytes = 0
  const fitting = sizes.slice(0, limit).filter(({ size }, place) => (bytes += size) <= mostPageBytes || place === 0)
  const last = fitting.at(-1)
  if (last === undefined) return { turns: [], hasMore: false }
  const turns = await database
    .selectFrom("rollout_turns as t")
    .innerJoin("rollouts as r", "r.id", "t.rollout")
    .leftJoin("models as m", "m.id", "t.model_id")
    .leftJoin("projects as p", "p.id", "m.project_id")
    .leftJoin("entities as e", "e.id", "p.entity_id")
    .select([
      "t.id",
      "t.sequence",
      "t.protocol",
      "t.model",
      "t.model_id",
      "t.step",
      "t.base_model",
      "t.group_id",
      "t.trace_id",
      "t.span_id",
      "t.call_id",
      "t.is_finished",
      "t.extends",
      "t.prompt_tokens",
      "t.completion_tokens",
      isoText<string>("t.started_at").as("startedAt"),
      isoText<string>("t.ended_at").as("endedAt"),
      sql<string | null>`e.name || '/' || p.name || '/' || m.name`.as("modelPath"),
      sql<Buffer | null>`case when r.expires_at > now() then t.content end`.as("content"),
    ])
    .where("t.rollout", "=", rollout)
    .where("t.sequence", ">", afterSequence ?? -1)
    .where("t.sequence", "<=", last.sequence)
    .orderBy("t.sequence")
    .execute()
  return { turns, hasMore: fitting.length < sizes.length }
}

/** null: the rollout has no such turn. */
export async function sequenceOfTurn(database: CatalogDatabase, rollout: string, id: string): Promise<number | null> {
  if (!isStorable(id)) return null
  const row = await database
    .selectFrom("rollout_turns")
    .select("sequence")
    .where("rollout", "=", rollout)
    .where("id", "=", id)
    .executeTakeFirst()
  return row?.sequence ?? null
}

interface DeletedRollout {
  /** Those that it had. */
  turns: number
  /** What it took, which is given back. */
  bytes: number
  /** false: another request has deleted it. */
  isNew: boolean
}

/** Removes turns and rewards; the row stays, so that the same request again says the same. */
export async function deleteRollout(database: CatalogDatabase, { id }: RolloutPlace): Promise<DeletedRollout> {
  return inTransaction(database, async (transaction) => {
    // The lock waits for a turn or a reward that is being stored, and for another deletion.
    const locked = await transaction
      .selectFrom("rollouts")
      .select(["size_bytes as bytes", "deleted_turns as turns"])
      .where("id", "=", id)
      .forUpdate()
      .executeTakeFirst()
    if (locked === undefined || locked.turns !== null) return { turns: locked?.turns ?? 0, bytes: 0, isNew: false }
    await transaction.deleteFrom("rollout_rewards").where("rollout", "=", id).execute()
    const { numDeletedRows } = await transaction
      .deleteFrom("rollout_turns")
      .where("rollout", "=", id)
      .executeTakeFirstOrThrow()
    const turns = Number(numDeletedRows)
    await transaction
      .updateTable("rollouts")
      .set({
        deleted_at: sql<Date>`now()`,
        deleted_turns: turns,
        size_bytes: 0,
        reward: null,
        rewarded_at: null,
        group_id: null,
      })
      .where("id", "=", id)
      .execute()
    return { turns, bytes: locked.bytes, isNew: true }
  })
}

const rolloutsAtOnce = 100

/** Removes the contents of turns whose time is over. Returns of how many rollouts. */
export async function expireRollouts(database: CatalogDatabase, signal: AbortSignal): Promise<number> {
  let expired = 0
  for (let count = rolloutsAtOnce; count === rolloutsAtOnce && !signal.aborted; expired += count) {
    const gone = await inTransaction(database, async (transaction) => {
      const { rows } = await sql<{ id: string; projectId: string; bytes: number }>`
        select id, project_id as "projectId", size_bytes as bytes from rollouts
        where expires_at <= now() and size_bytes > 0 limit ${rolloutsAtOnce} for update skip locked`.execute(
        transaction,
      )
      const ids = rows.map(({ id }) => id)
      if (ids.length === 0) return rows
      await transaction.updateTable("rollout_turns").set({ content: null }).where("rollout", "in", ids).execute()
      await transaction.updateTable("rollouts").set({ size_bytes: 0 }).where("id", "in", ids).execute()
      return rows
    })
    for (const { projectId, bytes } of gone) usageOf(database)?.ofProject(projectId, -bytes)
    count = gone.length
  }
  return expired
}
