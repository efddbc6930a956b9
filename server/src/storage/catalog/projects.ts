/** Projects: the second part of `<entity>/<project>`. */
import { isUuid } from "./identifiers.ts"
import type { CatalogDatabase } from "./open-catalog.ts"
import { isStorable } from "./storable-text.ts"

/** The project of this name, made when there is none. */
export async function ensureProject(database: CatalogDatabase, entityId: string, name: string): Promise<string> {
  const found = await findProject(database, entityId, name)
  if (found !== null) return found
  await database
    .insertInto("projects")
    .values({ entity_id: entityId, name })
    .onConflict((on) => on.columns(["entity_id", "name"]).doNothing())
    .execute()
  const made = await findProject(database, entityId, name)
  if (made === null) throw new Error(`project ${name} was neither found nor made`)
  return made
}

/**
 * Ids that were found. They never change, projects stay, and every request of the evaluation store
 * needs one: asked each time, the embedded catalog took a fifth of the main thread during ingest.
 */
const foundIds = new WeakMap<CatalogDatabase, Map<string, string>>()
const maximumFound = 10_000

/** null: none, also for a name that no text of PostgreSQL holds, as a ref inside a payload may have. */
export async function findProject(database: CatalogDatabase, entityId: string, name: string): Promise<string | null> {
  if (!isStorable(name)) return null
  const found = foundIds.get(database) ?? new Map<string, string>()
  foundIds.set(database, found)
  const key = `${entityId}/${name}`
  const known = found.get(key)
  if (known !== undefined) return known
  const row = await database
    .selectFrom("projects")
    .select("id")
    .where("entity_id", "=", entityId)
    .where("name", "=", name)
    .executeTakeFirst()
  if (row === undefined) return null
  if (found.size >= maximumFound) found.clear()
  found.set(key, row.id)
  return row.id
}

/**
 * How a project is named in refs that clients hash themselves (objects 10): text in base64 without
 * `/`, which the ASCII letters of an id never give.
 */
export function internalProjectId(projectId: string): string {
  return Buffer.from(`ProjectInternalId:${projectId}`).toString("base64")
}

/** `entity/project` of an {@link internalProjectId} in one of these entities; null: none. */
export async function findProjectName(
  database: CatalogDatabase,
  entityIds: readonly string[],
  internalId: string,
): Promise<string | null> {
  const id = Buffer.from(internalId, "base64")
    .toString("latin1")
    .replace(/^ProjectInternalId:/, "")
  if (!isUuid(id) || internalProjectId(id) !== internalId) return null
  const row = await database
    .selectFrom("projects")
    .innerJoin("entities", "entities.id", "projects.entity_id")
    .select(["entities.name as entity", "projects.name as project"])
    .where("projects.id", "=", id)
    .where("projects.entity_id", "in", entityIds)
    .executeTakeFirst()
  return row === undefined ? null : `${row.entity}/${row.project}`
}
