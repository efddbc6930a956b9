/** Projects: the second part of `<entity>/<project>`. */
import { isUuid } from "./identifiers.ts"
import type { CatalogDatabase } from "./open-catalog.ts"

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

export async function findProject(database: CatalogDatabase, entityId: string, name: string): Promise<string | null> {
  const row = await database
    .selectFrom("projects")
    .select("id")
    .where("entity_id", "=", entityId)
    .where("name", "=", name)
    .executeTakeFirst()
  return row?.id ?? null
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
