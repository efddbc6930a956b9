/** Changes to committed artifacts: names, notes, links, deletion. */
import { type RawBuilder, sql } from "kysely"
import { HeddleError } from "../../../errors.ts"
import { usageOf } from "../../team-usage.ts"
import { addMember, removeAliases, restoreLatest, setAliases } from "./artifact-aliases.ts"
import { dropContents } from "./artifact-contents.ts"
import { addTags, ensureCollection, type TimeToLive } from "./artifact-create.ts"
import { inProjectTurn } from "./artifact-lock.ts"
import { countTexts } from "./artifact-texts.ts"
import type { ArtifactRecord } from "./artifacts.ts"
import { type CollectionRecord, findCollection } from "./artifact-collections.ts"
import type { CatalogDatabase } from "../open-catalog.ts"
import { idListOf } from "../text-lists.ts"

/** An alias in a collection, which a version may be linked to in several projects of its team. */
export interface AliasChange {
  entity: string
  project: string
  collection: string
  alias: string
}

/**
 * Changes aliases in collections that the version is a member of. `check`: throws where the caller may not change the
 * collections of a project. @throws {HeddleError} `not_found` for another collection; then none is changed.
 */
export async function changeAliases(
  database: CatalogDatabase,
  artifact: ArtifactRecord,
  changes: readonly AliasChange[],
  change: "add" | "delete",
  check: (project: { project_id: string; entity: string; project: string }) => void,
): Promise<void> {
  await inProjectTurn(database, artifact.project_id, async (transaction) => {
    const rows = await transaction
      .selectFrom("artifact_memberships")
      .innerJoin("artifact_collections", "artifact_collections.id", "artifact_memberships.collection_id")
      .innerJoin("projects", "projects.id", "artifact_collections.project_id")
      .innerJoin("entities", "entities.id", "projects.entity_id")
      .select(["artifact_collections.id", "artifact_collections.project_id", "artifact_collections.name as collection"])
      .select(["projects.name as project", "entities.name as entity"])
      .where("artifact_memberships.artifact_id", "=", artifact.id)
      .execute()
    const nameOf = (one: Omit<AliasChange, "alias">) => JSON.stringify([one.entity, one.project, one.collection])
    const places = new Map(rows.map((row) => [nameOf(row), row]))
    for (const [name, ofCollection] of Map.groupBy(changes, nameOf)) {
      const found = places.get(name)
      if (found === undefined) throw noMemberOf(ofCollection[0] as AliasChange)
      check(found)
      const member = { collection_id: found.id, artifact_id: artifact.id }
      const aliases = ofCollection.map(({ alias }) => alias)
      await (change === "add" ? setAliases : removeAliases)(transaction, member, aliases)
    }
  })
}

function noMemberOf({ entity, project, collection }: AliasChange): HeddleError {
  const message = `the version is not in a collection "${collection}" of "${entity}/${project}"; link it to that first`
  return new HeddleError("not_found", message)
}

export interface ArtifactFields {
  description?: string
  metadata?: string
  ttl?: TimeToLive
  tagsToAdd: readonly string[]
  tagsToDelete: readonly string[]
  /** Aliases in its own collection; null: they stay as they are. */
  aliases: readonly string[] | null
}

export async function updateArtifact(
  database: CatalogDatabase,
  artifact: ArtifactRecord,
  { description, metadata, ttl, tagsToAdd, tagsToDelete, aliases }: ArtifactFields,
): Promise<void> {
  const more = await inProjectTurn(database, artifact.project_id, async (transaction) => {
    const added = await countTexts(transaction, artifact.id, async () => {
      await transaction
        .updateTable("artifacts")
        .set({
          ...(description === undefined ? {} : { description }),
          ...(metadata === undefined ? {} : { metadata }),
          ...ttl,
          updated_at: sql<Date>`now()`,
        })
        .where("id", "=", artifact.id)
        .execute()
      if (tagsToAdd.length > 0) await addTags(transaction, artifact.id, tagsToAdd)
      if (tagsToDelete.length > 0) await removeTags(transaction, artifact.id, tagsToDelete)
    })
    if (aliases === null) return added
    const member = { collection_id: artifact.collection_id, artifact_id: artifact.id }
    await transaction
      .deleteFrom("artifact_aliases")
      .where("artifact_id", "=", artifact.id)
      .where("collection_id", "=", artifact.collection_id)
      .execute()
    await setAliases(transaction, member, aliases)
    return added
  })
  usageOf(database)?.ofProject(artifact.project_id, more)
}

async function removeTags(transaction: CatalogDatabase, id: string, tags: readonly string[]): Promise<void> {
  await transaction
    .updateTable("artifacts")
    .set({
      tags: sql<string[]>`array(select tag from unnest(tags) as tag where tag <> all(${[...tags]}::text[]))`,
    })
    .where("id", "=", id)
    .execute()
}

/** SHA-256 of contents that nobody needs any more. `ids`: of one project. */
export async function deleteArtifacts(
  database: CatalogDatabase,
  projectId: string,
  ids: readonly string[],
): Promise<string[]> {
  return (await deleteArtifactsThat(database, projectId, ids, sql.lit(true))).dropped
}

export interface DeletedArtifacts {
  /** Number of artifacts. */
  count: number
  /** SHA-256 of contents that nobody needs any more. */
  dropped: string[]
}

/** Deletes those of the artifacts of which `condition` is true now, in the project's turn: the others may have changed since they were read. */
export async function deleteArtifactsThat(
  database: CatalogDatabase,
  projectId: string,
  candidates: readonly string[],
  condition: RawBuilder<boolean>,
): Promise<DeletedArtifacts> {
  if (candidates.length === 0) return { count: 0, dropped: [] }
  const { count, dropped, stored } = await inProjectTurn(database, projectId, async (transaction) => {
    const chosen = await transaction
      .selectFrom("artifacts")
      .select("id")
      .where("id", "in", idListOf(candidates))
      .where(condition)
      .forUpdate()
      .execute()
    const ids = chosen.map(({ id }) => id)
    if (ids.length === 0) return { count: 0, dropped: [], stored: 0 }
    const collections = await transaction
      .selectFrom("artifact_memberships")
      .select("collection_id")
      .where("artifact_id", "in", idListOf(ids))
      .distinct()
      .execute()
    const entries = await transaction
      .selectFrom("artifact_entries")
      .select("digest")
      .where("artifact_id", "in", idListOf(ids))
      .where("ref", "is", null)
      .distinct()
      .execute()
    const sent = await sentOf(transaction, ids)
    const gone = await transaction
      .deleteFrom("artifacts")
      .where("id", "in", idListOf(ids))
      .returning("stored_bytes")
      .execute()
    const contents = await dropContents(
      transaction,
      projectId,
      entries.map(({ digest }) => digest),
    )
    for (const { collection_id } of collections) await restoreLatest(transaction, collection_id)
    const bytes = gone.reduce((sum, row) => sum + row.stored_bytes, 0)
    return { count: gone.length, dropped: [...contents, ...sent], stored: bytes }
  })
  usageOf(database)?.ofProject(projectId, -stored - dropped.reduce((sum, { size_bytes }) => sum + size_bytes, 0))
  return { count, dropped: dropped.map(({ sha256 }) => sha256) }
}

/** Manifests and parts that were never committed. */
async function sentOf(
  database: CatalogDatabase,
  ids: readonly string[],
): Promise<{ sha256: string; size_bytes: number }[]> {
  const { rows } = await sql<{ sha256: string; size_bytes: number }>`
    select sha256, size_bytes from artifact_manifests
    where sha256 is not null and artifact_id = any(${[...ids]}::uuid[])
    union all
    select p.sha256, p.size_bytes from artifact_parts p join artifact_uploads u on u.id = p.upload_id
    where p.sha256 is not null and u.artifact_id = any(${[...ids]}::uuid[])`.execute(database)
  return rows
}

/** Deletes a collection; a sequence with its versions, which are gone from portfolios too. */
export async function deleteCollection(database: CatalogDatabase, collection: CollectionRecord): Promise<string[]> {
  const versions = await database
    .selectFrom("artifacts")
    .select("id")
    .where("collection_id", "=", collection.id)
    .execute()
  const dropped = await deleteArtifacts(
    database,
    collection.project_id,
    versions.map(({ id }) => id),
  )
  await database.deleteFrom("artifact_collections").where("id", "=", collection.id).execute()
  return dropped
}

export interface CollectionFields {
  name?: string
  description?: string
  type?: string
}

/** @throws {HeddleError} `conflict` when the name is another's. */
export async function updateCollection(
  database: CatalogDatabase,
  collection: CollectionRecord,
  fields: CollectionFields,
): Promise<void> {
  await inProjectTurn(database, collection.project_id, async (transaction) => {
    const { name } = fields
    if (name !== undefined && name !== collection.name) {
      const other = await findCollection(transaction, collection.project_id, name)
      if (other !== null) throw new HeddleError("conflict", `the project has a collection "${name}" already`)
    }
    await transaction
      .updateTable("artifact_collections")
      .set({ ...fields, updated_at: sql<Date>`now()` })
      .where("id", "=", collection.id)
      .execute()
  })
}

export async function changeCollectionTags(
  database: CatalogDatabase,
  collection: CollectionRecord,
  tags: readonly string[],
  change: "add" | "delete",
): Promise<void> {
  const given = sql`${[...tags]}::text[]`
  await database
    .updateTable("artifact_collections")
    .set({
      tags:
        change === "add"
          ? sql<string[]>`array(select distinct tag from unnest(tags || ${given}) as tag order by tag)`
          : sql<string[]>`array(select tag from unnest(tags) as tag where tag <> all(${given}))`,
    })
    .where("id", "=", collection.id)
    .execute()
}

/** Makes the version a member of a portfolio, which is made when there is none; returns the portfolio's id. */
export async function linkArtifact(
  database: CatalogDatabase,
  artifact: ArtifactRecord,
  { projectId, portfolio, aliases }: { projectId: string; portfolio: string; aliases: readonly string[] },
): Promise<string> {
  return inProjectTurn(database, projectId, async (transaction) => {
    const id = await ensureCollection(transaction, {
      projectId,
      name: portfolio,
      type: artifact.type,
      kind: "portfolio",
    })
    const member = { collection_id: id, artifact_id: artifact.id }
    await addMember(transaction, member)
    await setAliases(transaction, member, [...aliases, "latest"])
    return id
  })
}

/** false: it was no member. */
export async function unlinkArtifact(
  database: CatalogDatabase,
  artifact: ArtifactRecord,
  portfolio: CollectionRecord,
): Promise<boolean> {
  return inProjectTurn(database, portfolio.project_id, async (transaction) => {
    const { numDeletedRows } = await transaction
      .deleteFrom("artifact_memberships")
      .where("collection_id", "=", portfolio.id)
      .where("artifact_id", "=", artifact.id)
      .executeTakeFirst()
    await transaction
      .deleteFrom("artifact_aliases")
      .where("collection_id", "=", portfolio.id)
      .where("artifact_id", "=", artifact.id)
      .execute()
    await restoreLatest(transaction, portfolio.id)
    return Number(numDeletedRows) > 0
  })
}
