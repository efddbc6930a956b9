/** Versions of artifacts, and where collections have them: platform-wandb 9. */
import { type Selectable, sql } from "kysely"
import { type CollectionRecord, findCollection } from "./artifact-collections.ts"
import type { ArtifactTable } from "./artifacts-schema.ts"
import { isLive } from "./live-artifacts.ts"
import { isUuid } from "../identifiers.ts"
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

/** A version as one collection has it. */
export interface MembershipRecord {
  id: string
  collection_id: string
  artifact_id: string
  version: number
  created_at: Date
  /** Of the long texts of its artifact. */
  bytes: number
}

/** Of the long texts of an artifact. */
export const textBytesOfArtifact = sql<number>`(coalesce(octet_length(artifacts.metadata), 0)
  + coalesce(octet_length(artifacts.description), 0) + octet_length(artifacts.tags::text))`
export const bytesOfArtifact = textBytesOfArtifact.as("bytes")

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

export type PendingArtifact = Pick<ArtifactRecord, "id" | "project_id" | "updated_at" | "entity" | "entity_id">

/** For each of the ids, in order: the artifact of any team, if it is not committed yet; else null. */
export async function findPendingArtifacts(
  database: CatalogDatabase,
  ids: readonly string[],
): Promise<(PendingArtifact | null)[]> {
  const found = await database
    .selectFrom("artifacts")
    .innerJoin("projects", "projects.id", "artifacts.project_id")
    .innerJoin("entities", "entities.id", "projects.entity_id")
    .select(["artifacts.id", "artifacts.project_id", "artifacts.updated_at"])
    .select(["entities.name as entity", "entities.id as entity_id"])
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

/** `vN`: the version of this number. Anything else is an alias. */
const versionName = /^v(\d{1,9})$/

function memberships(database: CatalogDatabase) {
  return database
    .selectFrom("artifact_memberships")
    .innerJoin("artifacts", "artifacts.id", "artifact_memberships.artifact_id")
    .select(["artifact_memberships.id", "artifact_memberships.collection_id", "artifact_memberships.artifact_id"])
    .select(["artifact_memberships.version", "artifact_memberships.created_at", bytesOfArtifact])
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
