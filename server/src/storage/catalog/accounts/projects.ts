/** Projects: the second part of `<entity>/<project>`. */
import { sql } from "kysely"
import { HeddleError } from "../../../errors.ts"
import { isUuid } from "../identifiers.ts"
import type { CatalogDatabase } from "../open-catalog.ts"
import { inTransaction } from "../in-transaction.ts"
import { RememberedReads } from "../remembered-reads.ts"
import { isStorable, likePart } from "../storable-text.ts"
import { requireOneMore } from "./team-quotas.ts"
import { idListOf, listOf } from "../text-lists.ts"

/** The project of this name, made when there is none. @throws {HeddleError} `quota_exceeded`. */
export async function ensureProject(database: CatalogDatabase, entityId: string, name: string): Promise<string> {
  const found = await findProject(database, entityId, name)
  if (found !== null) return found
  await inTransaction(database, async (transaction) => {
    await requireOneMore(transaction, entityId, "projects")
    await transaction
      .insertInto("projects")
      .values({ entity_id: entityId, name })
      .onConflict((on) => on.doNothing())
      .execute()
  })
  const made = await findProject(database, entityId, name)
  // Somebody may be deleting it at this moment.
  if (made === null) throw noSuchProject()
  return made
}

/** The team of a project. @throws {HeddleError} `project_not_found`: it was deleted. */
export async function entityOf(database: CatalogDatabase, projectId: string): Promise<string> {
  const row = await database.selectFrom("projects").select("entity_id").where("id", "=", projectId).executeTakeFirst()
  if (row === undefined) throw noSuchProject()
  return row.entity_id
}

/** The same for a project that is not there, one that was deleted and another team's. */
export function noSuchProject(): HeddleError {
  return new HeddleError("project_not_found", "Project not found")
}

/**
 * Ids that were found. Every request of the evaluation store needs one: asked each time, the embedded catalog took a
 * fifth of the main thread during ingest. So another server may use a project some seconds longer that was deleted here.
 */
const foundIds = new RememberedReads<string>()

/** Call it once a deletion is committed: no later request of this server finds the project. */
export function forgetProjects(database: CatalogDatabase): void {
  foundIds.forget(database)
}

/** null: none, also for a name that no text of PostgreSQL holds, as a ref inside a payload may have. */
export async function findProject(database: CatalogDatabase, entityId: string, name: string): Promise<string | null> {
  const [id] = await findProjects(database, [{ entityId, name }])
  return id ?? null
}

export interface ProjectKey {
  entityId: string
  name: string
}

/** {@link findProject} for many, in their order: one query for all that are not known yet. */
export async function findProjects(database: CatalogDatabase, keys: readonly ProjectKey[]): Promise<(string | null)[]> {
  const ids = new Map(keys.map((key) => [textOf(key), foundIds.get(database, textOf(key))]))
  const unknown = keys.filter((key) => ids.get(textOf(key)) === undefined && isStorable(key.name))
  if (unknown.length > 0) {
    const remember = foundIds.reading(database)
    const rows = await database
      .selectFrom("projects")
      .select(["id", "entity_id", "name"])
      .where("entity_id", "in", [...new Set(unknown.map(({ entityId }) => entityId))])
      .where("name", "in", listOf([...new Set(unknown.map(({ name }) => name))]))
      .execute()
    for (const row of rows) {
      const key = textOf({ entityId: row.entity_id, name: row.name })
      ids.set(key, row.id)
      remember(key, row.id)
    }
  }
  return keys.map((key) => ids.get(textOf(key)) ?? null)
}

function textOf({ entityId, name }: ProjectKey): string {
  return `${entityId}/${name}`
}

export interface ProjectRecord {
  id: string
  entity: string
  name: string
  createdAt: Date
  /** Apart from the runs that have the names of its models. */
  hasRuns: boolean
}

export interface ProjectSelection {
  entityIds: readonly string[]
  /** The whole name in its entity; null or absent: any. */
  name?: string | null
  /** Part of `entity/name`, in any case; null: all. */
  query: string | null
  /** Strictly after this project; null begins with the first. */
  afterId: string | null
  limit: number
}

/** The newest first. */
export async function listProjects(database: CatalogDatabase, selection: ProjectSelection): Promise<ProjectRecord[]> {
  const { entityIds, name = null, query, afterId, limit } = selection
  if (entityIds.length === 0 || [name, query].some((text) => text !== null && !isStorable(text))) return []
  let rows = projectRecords(database, entityIds)
  if (name !== null) rows = rows.where("projects.name", "=", name)
  if (query !== null) {
    rows = rows.where(sql<boolean>`entities.name || '/' || projects.name ilike ${likePart(query)}`)
  }
  if (afterId !== null) {
    // Another team's is as one that is not there: else the list would tell that it is, and when it was made. One that was
    // deleted since it was listed still has its place.
    const after = database
      .selectFrom("all_projects")
      .select(["created_at", "id"])
      .where("id", "=", afterId)
      .where("entity_id", "in", entityIds)
    rows = rows.where(sql<boolean>`(projects.created_at, projects.id) < (${after})`)
  }
  const found = await rows.orderBy("projects.created_at", "desc").orderBy("projects.id", "desc").limit(limit).execute()
  return found.map(toProjectRecord)
}

/** A project of these entities by its id. */
export async function findProjectRecord(
  database: CatalogDatabase,
  entityIds: readonly string[],
  id: string,
): Promise<ProjectRecord | null> {
  if (!isUuid(id) || entityIds.length === 0) return null
  const row = await projectRecords(database, entityIds).where("projects.id", "=", id).executeTakeFirst()
  return row === undefined ? null : toProjectRecord(row)
}

const hasRuns = sql<boolean>`exists (select 1 from runs where runs.project_id = projects.id and not exists (
  select 1 from models where models.project_id = runs.project_id and models.name = runs.name and models.deleted_at is null))`

function projectRecords(database: CatalogDatabase, entityIds: readonly string[]) {
  return database
    .selectFrom("projects")
    .innerJoin("entities", "entities.id", "projects.entity_id")
    .select(["projects.id", "entities.name as entity", "projects.name", "projects.created_at", hasRuns.as("has_runs")])
    .where("projects.entity_id", "in", entityIds)
}

function toProjectRecord(row: {
  id: string
  entity: string
  name: string
  created_at: Date
  has_runs: boolean
}): ProjectRecord {
  return { id: row.id, entity: row.entity, name: row.name, createdAt: row.created_at, hasRuns: row.has_runs }
}

/**
 * How a project is named in refs that clients hash themselves (objects 10): text in base64 without
 * `/`, which the ASCII letters of an id never give.
 */
export function internalProjectId(projectId: string): string {
  return Buffer.from(`ProjectInternalId:${projectId}`).toString("base64")
}

/** The project that {@link internalProjectId} names, or null. */
export function idOfProject(internalId: string): string | null {
  const text = Buffer.from(internalId, "base64").toString("latin1")
  const id = text.replace(/^ProjectInternalId:/, "")
  return isUuid(id) && internalProjectId(id) === internalId ? id : null
}

/** `entity/project` of those {@link internalProjectId}s that are of one of these entities. */
export async function findProjectNames(
  database: CatalogDatabase,
  entityIds: readonly string[],
  internalIds: readonly string[],
): Promise<Map<string, string>> {
  const byId = new Map(
    internalIds.flatMap((internalId) => {
      const id = idOfProject(internalId)
      return id === null ? [] : [[id, internalId] as const]
    }),
  )
  if (byId.size === 0) return new Map()
  const rows = await database
    .selectFrom("projects")
    .innerJoin("entities", "entities.id", "projects.entity_id")
    .select(["projects.id as id", "entities.name as entity", "projects.name as project"])
    .where("projects.id", "in", idListOf([...byId.keys()]))
    .where("projects.entity_id", "in", entityIds)
    .execute()
  return new Map(rows.map(({ id, entity, project }) => [byId.get(id) as string, `${entity}/${project}`]))
}
