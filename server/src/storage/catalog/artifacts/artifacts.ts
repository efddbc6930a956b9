/** Versions of artifacts, and the collections that they are found in: platform-wandb 9. */
import { type Selectable, sql } from "kysely"
import { collectionCondition } from "./collection-filter.ts"
import type { ArtifactCollectionTable, ArtifactTable } from "./artifacts-schema.ts"
import { isUuid } from "../identifiers.ts"
import { withinTime } from "../list-filter.ts"
import type { CatalogDatabase } from "../open-catalog.ts"
import { isStorable } from "../storable-text.ts"
import { idListOf } from "../text-lists.ts"

/** An artifact with the names by which it is known. */
export interface ArtifactRecord extends Omit<Selectable<ArtifactTable>, "aliases" | "stored_bytes" | "user_id"> {
  entity: string
  entity_id: string
  project: string
  collection: string
  type: string
  /** Until it is committed: what it is to be called then. The column is `aliases`. */
  pending_aliases: string[]
}

export interface CollectionRecord extends Omit<Selectable<ArtifactCollectionTable>, "next_version"> {
  entity: string
  entity_id: string
  project: string
}

/** A version as one collection has it. */
export interface MembershipRecord {
  id: string
  collection_id: string
  artifact_id: string
  version: number
  created_at: Date
}

const artifactColumns = [
  "artifacts.id",
  "artifacts.project_id",
  "artifacts.collection_id",
  "artifacts.state",
  "artifacts.version",
  "artifacts.digest",
  "artifacts.description",
  "artifacts.metadata",
  "artifacts.tags",
  "artifacts.ttl_seconds",
  "artifacts.ttl_is_inherited",
  "artifacts.history_step",
  "artifacts.run_id",
  "artifacts.distributed_id",
  "artifacts.checkpoint_id",
  "artifacts.size_bytes",
  "artifacts.file_count",
  "artifacts.created_at",
  "artifacts.updated_at",
] as const

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

/**
 * 1,000 years; a longer life counts as so long. PostgreSQL has no time behind the year 294276, and a statement that meets one
 * fails, whatever else it reads.
 */
const longestLifeSeconds = 1_000 * 366 * 24 * 60 * 60

/** SQL: when an artifact with a time to live ends. */
export const artifactEnd = sql<Date>`artifacts.created_at
  + least(artifacts.ttl_seconds, ${sql.lit(longestLifeSeconds)}) * interval '1 second'`

/** Artifacts that readers see: committed, not expired, and no checkpoint that was deleted. */
export const isLive = sql<boolean>`artifacts.state = 'committed' and (artifacts.ttl_seconds is null
  or ${artifactEnd} > now())
  and (artifacts.checkpoint_id is null or exists (select 1 from checkpoints live
    where live.id = artifacts.checkpoint_id and live.deleted_at is null))`

/** Portfolios, and sequences that have a version: a first version that was never committed makes none. */
const isVisible = sql<boolean>`(artifact_collections.kind = 'portfolio' or exists (select 1 from artifacts
  where artifacts.collection_id = artifact_collections.id and ${isLive}))`

export function namedArtifacts(database: CatalogDatabase) {
  return database
    .selectFrom("artifacts")
    .innerJoin("artifact_collections as source", "source.id", "artifacts.collection_id")
    .innerJoin("projects", "projects.id", "artifacts.project_id")
    .innerJoin("entities", "entities.id", "projects.entity_id")
    .select(artifactColumns)
    .select(["entities.name as entity", "entities.id as entity_id", "projects.name as project"])
    .select(["source.name as collection", "source.type as type", "artifacts.aliases as pending_aliases"])
}

export function namedCollections(database: CatalogDatabase) {
  return database
    .selectFrom("artifact_collections")
    .innerJoin("projects", "projects.id", "artifact_collections.project_id")
    .innerJoin("entities", "entities.id", "projects.entity_id")
    .select(collectionColumns)
    .select(["entities.name as entity", "entities.id as entity_id", "projects.name as project"])
}

/** Committed or not, of one of these entities. */
export async function findArtifact(
  database: CatalogDatabase,
  entityIds: readonly string[],
  id: string,
): Promise<ArtifactRecord | null> {
  if (!isUuid(id) || entityIds.length === 0) return null
  const row = await namedArtifacts(database)
    .where("artifacts.id", "=", id)
    .where("entities.id", "in", entityIds)
    .where(sql<boolean>`(artifacts.state = 'pending' or (${isLive}))`)
    .executeTakeFirst()
  return row ?? null
}

/** Finds an artifact of any team: for callers that have checked access already, such as by a signed address. */
export async function findAnyArtifact(database: CatalogDatabase, id: string): Promise<ArtifactRecord | null> {
  const row = await namedArtifacts(database).where("artifacts.id", "=", id).executeTakeFirst()
  return row ?? null
}

export type PendingArtifact = Pick<ArtifactRecord, "id" | "project_id" | "entity" | "entity_id">

/** For each of the ids, in order: the artifact of any team, if it is not committed yet; else null. */
export async function findPendingArtifacts(
  database: CatalogDatabase,
  ids: readonly string[],
): Promise<(PendingArtifact | null)[]> {
  const found = await database
    .selectFrom("artifacts")
    .innerJoin("projects", "projects.id", "artifacts.project_id")
    .innerJoin("entities", "entities.id", "projects.entity_id")
    .select(["artifacts.id", "artifacts.project_id", "entities.name as entity", "entities.id as entity_id"])
    .where(sql<boolean>`artifacts.id = any(${ids}::uuid[])`)
    .where("artifacts.state", "=", "pending")
    .execute()
  const byId = new Map(found.map((artifact) => [artifact.id, artifact]))
  return ids.map((id) => byId.get(id) ?? null)
}

/** Artifacts by their ids, in any order. */
export async function artifactsOf(database: CatalogDatabase, ids: readonly string[]): Promise<ArtifactRecord[]> {
  if (ids.length === 0) return []
  return namedArtifacts(database).where("artifacts.id", "in", idListOf(ids)).where(isLive).execute()
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

/** `vN`: the version of this number. Anything else is an alias. */
const versionName = /^v(\d{1,9})$/

function memberships(database: CatalogDatabase) {
  return database
    .selectFrom("artifact_memberships")
    .innerJoin("artifacts", "artifacts.id", "artifact_memberships.artifact_id")
    .select(["artifact_memberships.id", "artifact_memberships.collection_id", "artifact_memberships.artifact_id"])
    .select(["artifact_memberships.version", "artifact_memberships.created_at"])
    .where(isLive)
}

/** `alias`: one that the collection has, or `vN`. */
export async function findMembership(
  database: CatalogDatabase,
  collectionId: string,
  alias: string,
): Promise<MembershipRecord | null> {
  if (!isStorable(alias)) return null
  const version = versionName.exec(alias)?.[1]
  const rows = memberships(database).where("artifact_memberships.collection_id", "=", collectionId)
  if (version !== undefined) {
    return (await rows.where("artifact_memberships.version", "=", Number(version)).executeTakeFirst()) ?? null
  }
  const row = await rows
    .innerJoin("artifact_aliases", (join) =>
      join
        .onRef("artifact_aliases.artifact_id", "=", "artifact_memberships.artifact_id")
        .onRef("artifact_aliases.collection_id", "=", "artifact_memberships.collection_id"),
    )
    .where("artifact_aliases.alias", "=", alias)
    .executeTakeFirst()
  if (row !== undefined || alias !== "latest") return row ?? null
  // Its version's time may be over, and the version not yet removed, which gives `latest` to the highest that is left.
  const isGiven = sql<boolean>`exists (select 1 from artifact_aliases a where a.collection_id = ${collectionId} and a.alias = ${alias})`
  return (await rows.where(isGiven).orderBy("artifact_memberships.version", "desc").executeTakeFirst()) ?? null
}

/** A version by the names of its collection, of one of these entities. */
export async function findNamedArtifact(
  database: CatalogDatabase,
  projectId: string,
  { collection, alias }: { collection: string; alias: string },
): Promise<{ artifact: ArtifactRecord; collection: CollectionRecord; membership: MembershipRecord } | null> {
  const found = await findCollection(database, projectId, collection)
  const membership = found === null ? null : await findMembership(database, found.id, alias)
  const artifact = membership === null ? undefined : (await artifactsOf(database, [membership.artifact_id]))[0]
  if (found === null || membership === null || artifact === undefined) return null
  return { artifact, collection: found, membership }
}

/** All that a version is a member of, its own sequence first. */
export async function membershipsOf(database: CatalogDatabase, artifactId: string): Promise<MembershipRecord[]> {
  return memberships(database)
    .where("artifact_memberships.artifact_id", "=", artifactId)
    .orderBy("artifact_memberships.created_at")
    .execute()
}

export interface ArtifactPage {
  skip: number
  limit: number
}

/** The newest first. `tag` null: of any. */
export async function listVersions(
  database: CatalogDatabase,
  collectionId: string,
  tag: string | null,
  { skip, limit }: ArtifactPage,
): Promise<MembershipRecord[]> {
  let rows = memberships(database).where("artifact_memberships.collection_id", "=", collectionId)
  if (tag !== null) rows = rows.where(sql<boolean>`${tag} = any(artifacts.tags)`)
  return rows.orderBy("artifact_memberships.version", "desc").offset(skip).limit(limit).execute()
}

export async function countVersions(
  database: CatalogDatabase,
  collectionId: string,
  tag: string | null,
): Promise<number> {
  let rows = database
    .selectFrom("artifact_memberships")
    .innerJoin("artifacts", "artifacts.id", "artifact_memberships.artifact_id")
    .select(({ fn }) => fn.countAll<number>().as("count"))
    .where("artifact_memberships.collection_id", "=", collectionId)
    .where(isLive)
  if (tag !== null) rows = rows.where(sql<boolean>`${tag} = any(artifacts.tags)`)
  return (await rows.executeTakeFirstOrThrow()).count
}

export interface CollectionSelection extends ArtifactPage {
  projectId: string
  /** null: of any type. */
  type: string | null
  /** As the client wrote it; null: all. */
  filter: unknown
}

/** The collections of a project, by name. @throws {HeddleError} `bad_query`, as {@link countCollections}. */
export async function listCollections(
  database: CatalogDatabase,
  { projectId, type, filter, skip, limit }: CollectionSelection,
): Promise<CollectionRecord[]> {
  return withinTime(database, (transaction) => {
    let rows = namedCollections(transaction).where("artifact_collections.project_id", "=", projectId)
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

export interface AliasRecord {
  id: string
  alias: string
  artifact_id: string
  collection_id: string
  collection: string
  kind: CollectionRecord["kind"]
  project_id: string
  project: string
  entity: string
}

/** Aliases of these versions, in all collections. */
export async function aliasesOf(database: CatalogDatabase, artifactIds: readonly string[]): Promise<AliasRecord[]> {
  if (artifactIds.length === 0) return []
  return namedAliases(database)
    .where("artifact_aliases.artifact_id", "in", idListOf(artifactIds))
    .orderBy("artifact_aliases.alias")
    .execute()
}

/** Strictly after the alias `after`; null begins with the first. */
export async function listAliases(
  database: CatalogDatabase,
  collectionId: string,
  after: string | null,
  limit: number,
): Promise<AliasRecord[]> {
  let rows = namedAliases(database).where("artifact_aliases.collection_id", "=", collectionId)
  if (after !== null) rows = rows.where(sql<boolean>`artifact_aliases.alias collate "C" > ${after}`)
  return rows
    .orderBy(sql`artifact_aliases.alias collate "C"`)
    .limit(limit)
    .execute()
}

function namedAliases(database: CatalogDatabase) {
  return database
    .selectFrom("artifact_aliases")
    .innerJoin("artifact_collections", "artifact_collections.id", "artifact_aliases.collection_id")
    .innerJoin("projects", "projects.id", "artifact_collections.project_id")
    .innerJoin("entities", "entities.id", "projects.entity_id")
    .select(["artifact_aliases.id", "artifact_aliases.alias", "artifact_aliases.artifact_id"])
    .select(["artifact_collections.id as collection_id", "artifact_collections.name as collection"])
    .select(["artifact_collections.kind", "artifact_collections.project_id"])
    .select(["projects.name as project", "entities.name as entity"])
}

/** The version that the client gave this id of its own; null: none of these entities. */
export async function findByClientId(
  database: CatalogDatabase,
  entityIds: readonly string[],
  clientId: string,
): Promise<ArtifactRecord | null> {
  if (!isStorable(clientId) || entityIds.length === 0) return null
  const row = await namedArtifacts(database)
    .innerJoin("artifact_clients", "artifact_clients.artifact_id", "artifacts.id")
    .where("artifact_clients.client_id", "=", clientId)
    .where("entities.id", "in", entityIds)
    .where(sql<boolean>`(artifacts.state = 'pending' or (${isLive}))`)
    .orderBy("artifacts.created_at", "desc")
    .executeTakeFirst()
  return row ?? null
}

/** The newest committed version of a sequence. */
export async function latestArtifact(
  database: CatalogDatabase,
  collectionId: string,
): Promise<{ id: string; version: number } | null> {
  const row = await database
    .selectFrom("artifacts")
    .select(["artifacts.id", sql<number>`artifacts.version`.as("version")])
    .where("artifacts.collection_id", "=", collectionId)
    .where(isLive)
    .orderBy("artifacts.version", "desc")
    .executeTakeFirst()
  return row ?? null
}
