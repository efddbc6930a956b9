/** Answers of `/v1/responses` that requests may go on from, until their time is over. */
import { sql } from "kysely"
import { usageOf } from "../../team-usage.ts"
import { isUuid } from "../identifiers.ts"
import type { CatalogDatabase } from "../open-catalog.ts"

/** The project of a response. */
export interface ResponsePlace {
  project_id: string
  project: string
  entity_id: string
  entity: string
}

interface ResponseTexts {
  /** JSON: all items before the answer. */
  input: string
  /** JSON. */
  answer: string
}

export interface StoredResponse extends ResponseTexts, ResponsePlace {}

export interface NewStoredResponse extends ResponseTexts {
  id: string
  projectId: string
  days: number
}

export async function insertStoredResponse(database: CatalogDatabase, response: NewStoredResponse): Promise<void> {
  const { id, projectId, input, answer, days } = response
  const size = Buffer.byteLength(input) + Buffer.byteLength(answer)
  await database
    .insertInto("stored_responses")
    .values({
      id,
      project_id: projectId,
      input,
      answer,
      size_bytes: size,
      expires_at: sql<Date>`now() + make_interval(days => ${days})`,
    })
    .execute()
  usageOf(database)?.ofProject(projectId, size)
}

/** null: there is none in these teams. */
export async function findStoredResponse(
  database: CatalogDatabase,
  entityIds: readonly string[],
  id: string,
): Promise<StoredResponse | null> {
  const row = await readableIn(database, entityIds)
    .innerJoin("entities as e", "e.id", "p.entity_id")
    .select(["r.input", "r.answer", "p.id as project_id", "p.name as project", "e.id as entity_id", "e.name as entity"])
    .where("r.id", "=", id)
    .executeTakeFirst()
  return row ?? null
}

/** Those of them that are in these teams, as JSON. */
export async function findStoredAnswers(
  database: CatalogDatabase,
  entityIds: readonly string[],
  ids: readonly string[],
): Promise<string[]> {
  const rows = await readableIn(database, entityIds).select("r.answer").where("r.id", "in", ids).execute()
  return rows.map(({ answer }) => answer)
}

/** Those of these teams whose time is not over. */
function readableIn(database: CatalogDatabase, entityIds: readonly string[]) {
  return database
    .selectFrom("stored_responses as r")
    .innerJoin("projects as p", "p.id", "r.project_id")
    .where("p.entity_id", "in", entityIds)
    .where("r.expires_at", ">", sql<Date>`now()`)
}

/** false: there was none that the caller may see. */
export async function deleteStoredResponse(
  database: CatalogDatabase,
  entityIds: readonly string[],
  id: string,
): Promise<boolean> {
  const row = await database
    .deleteFrom("stored_responses")
    .where("id", "=", id)
    .where("project_id", "in", (eb) => eb.selectFrom("projects").select("id").where("entity_id", "in", entityIds))
    .where("expires_at", ">", sql<Date>`now()`)
    .returning(["project_id", "size_bytes"])
    .executeTakeFirst()
  if (row === undefined) return false
  usageOf(database)?.ofProject(row.project_id, -row.size_bytes)
  return true
}

/** Keeps the newest `most` of a project. */
export async function removeOldestResponses(database: CatalogDatabase, projectId: string, most: number): Promise<void> {
  await removed(
    database,
    sql`id in (select id from stored_responses where project_id = ${projectId}
      order by created_at desc, id offset ${most})`,
  )
}

/** Returns how many responses were removed because their time was over. */
export function removeExpiredResponses(database: CatalogDatabase): Promise<number> {
  return removed(database, sql`expires_at <= now()`)
}

async function removed(database: CatalogDatabase, condition: ReturnType<typeof sql>): Promise<number> {
  const { rows } = await sql<{ project_id: string; bytes: number; count: number }>`
    with gone as (delete from stored_responses where ${condition} returning project_id, size_bytes)
    select project_id, sum(size_bytes)::bigint as bytes, count(*)::bigint as count from gone group by project_id`.execute(
    database,
  )
  for (const { project_id, bytes } of rows) usageOf(database)?.ofProject(project_id, -bytes)
  return rows.reduce((total, { count }) => total + count, 0)
}

/** null: it is not there, or of none of these teams. */
export async function findResponsePlace(
  database: CatalogDatabase,
  projectId: string,
  entityIds: readonly string[],
): Promise<ResponsePlace | null> {
  if (!isUuid(projectId)) return null
  const row = await database
    .selectFrom("projects as p")
    .innerJoin("entities as e", "e.id", "p.entity_id")
    .select(["p.id as project_id", "p.name as project", "e.id as entity_id", "e.name as entity"])
    .where("p.id", "=", projectId)
    .where("p.entity_id", "in", entityIds)
    .executeTakeFirst()
  return row ?? null
}
