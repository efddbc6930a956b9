/** Collections that versions of artifacts are found in, and their types: platform-wandb 9. */
import { type Selectable, sql } from "kysely"
import { isUuid } from "../identifiers.ts"
import { inOrder } from "../in-order.ts"
import { withinTime } from "../list-filter.ts"
import type { CatalogDatabase } from "../open-catalog.ts"
import { isStorable } from "../storable-text.ts"
import { idListOf } from "../text-lists.ts"
import type { ArtifactPage } from "./artifacts.ts"
import type { ArtifactCollectionTable } from "./artifacts-schema.ts"
import { collectionCondition } from "./collection-filter.ts"
import { isLive } from "./live-artifacts.ts"

export interface CollectionRecord extends Omit<Selectable<ArtifactCollectionTable>, "next_version"> {
  entity: string
  entity_id: string
  project: string
}

const collectionColumns = [
  "artifact_collections.id",
  "artifact_collections.project_id",
  "artifact_collections.kind",
  "artifact_collections.type",
  "artifact_collections.name",
  "artifact_collections.description",
  "artifact_collections.tags",
  "artifact_collections.created_at",
  "artifact_collections.updated_at",
] as const

/** Portfolios, and sequences that have a version: a first version that was never committed makes none. */
const isVisible = sql<boolean>`(artifact_collections.kind = 'portfolio' or exists (select 1 from artifacts
  where artifacts.collection_id = artifact_collections.id and ${isLive}))`

export function namedCollections(database: CatalogDatabase) {
  return database
    .selectFrom("artifact_collections")
    .innerJoin("projects", "projects.id", "artifact_collections.project_id")
    .innerJoin("entities", "entities.id", "projects.entity_id")
    .select(collectionColumns)
    .select(["entities.name as entity", "entities.id as entity_id", "projects.name as project"])
}

export async function findCollection(
  database: CatalogDatabase,
  projectId: string,
  name: string,
): Promise<CollectionRecord | null> {
  if (!isStorable(name)) return null
  const row = await namedCollections(database)
    .where("artifact_collections.project_id", "=", projectId)
    .where("artifact_collections.name", "=", name)
    .executeTakeFirst()
  return row ?? null
}

export async function findCollectionById(
  database: CatalogDatabase,
  entityIds: readonly string[],
  id: string,
): Promise<CollectionRecord | null> {
  if (!isUuid(id) || entityIds.length === 0) return null
  const row = await namedCollections(database)
    .where("artifact_collections.id", "=", id)
    .where("entities.id", "in", entityIds)
    .executeTakeFirst()
  return row ?? null
}

export interface CollectionSelection extends ArtifactPage {
  projectId: string
  /** null: of any type. */
  type: string | null
  /** As the client wrote it; null: all. */
  filter: unknown
}

/** The collections of a project with the bytes of their long texts, by name. @throws {HeddleError} `bad_query`, as {@link countCollections}. */
export async function listCollections(
  database: CatalogDatabase,
  { projectId, type, filter, skip, limit }: CollectionSelection,
): Promise<{ id: string; bytes: number }[]> {
  return withinTime(database, (transaction) => {
    let rows = transaction
      .selectFrom("artifact_collections")
      .select(["artifact_collections.id", bytesOfCollection])
      .where("artifact_collections.project_id", "=", projectId)
    if (type !== null) rows = rows.where("artifact_collections.type", "=", type)
    if (filter !== null) rows = rows.where(collectionCondition(filter))
    return rows
      .where(isVisible)
      .orderBy(sql`artifact_collections.name collate "C"`)
      .offset(skip)
      .limit(limit)
      .execute()
  })
}

const bytesOfCollection = sql<number>`coalesce(octet_length(artifact_collections.description), 0)
  + octet_length(artifact_collections.tags::text)`.as("bytes")

/** Collections by their ids, in that order. */
export async function collectionsOf(database: CatalogDatabase, ids: readonly string[]): Promise<CollectionRecord[]> {
  if (ids.length === 0) return []
  const rows = await namedCollections(database).where("artifact_collections.id", "in", idListOf(ids)).execute()
  return inOrder(ids, rows)
}

export async function countCollections(
  database: CatalogDatabase,
  { projectId, type, filter }: Pick<CollectionSelection, "projectId" | "type" | "filter">,
): Promise<number> {
  const { count } = await withinTime(database, (transaction) => {
    let rows = transaction
      .selectFrom("artifact_collections")
      .select(({ fn }) => fn.countAll<number>().as("count"))
      .where("artifact_collections.project_id", "=", projectId)
      .where(isVisible)
    if (type !== null) rows = rows.where("artifact_collections.type", "=", type)
    if (filter !== null) rows = rows.where(collectionCondition(filter))
    return rows.executeTakeFirstOrThrow()
  })
  return count
}

export interface TypeRecord {
  name: string
  created_at: Date
}

/** The types of what the project has, by name. `name` null: all. */
export async function listTypes(
  database: CatalogDatabase,
  projectId: string,
  name: string | null,
): Promise<TypeRecord[]> {
  let rows = database
    .selectFrom("artifact_collections")
    .select(["type as name", sql<Date>`min(created_at)`.as("created_at")])
    .where("project_id", "=", projectId)
    .groupBy("type")
    .orderBy("type")
  if (name !== null) rows = rows.where("type", "=", name)
  return rows.execute()
}
