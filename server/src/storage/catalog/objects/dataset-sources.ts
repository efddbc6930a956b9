/** Links from rows of datasets to what they came from: evaluation-store-objects 10. */
import { sql } from "kysely"
import type { DatasetSourceTable, SourceKind } from "./dataset-sources-schema.ts"
import { inOrder } from "../in-order.ts"
import { inTransaction } from "../in-transaction.ts"
import type { CatalogDatabase } from "../open-catalog.ts"
import { idListOf, listOf } from "../text-lists.ts"
import { usageOf } from "../../team-usage.ts"

export type DatasetSourceLink = Omit<DatasetSourceTable, "project_id">
export type NewDatasetSourceLink = Omit<DatasetSourceLink, "created_at" | "updated_at" | "deleted_at">

const columns = [
  "id",
  "dataset_object_id",
  "row_digest",
  "source_kind",
  "source_id",
  "source_trace_id",
  "source_display_name",
  "source_started_at",
  "link_metadata",
  "added_by",
  "created_at",
  "updated_at",
  "deleted_at",
] as const

/** Makes links, or brings them up to date and back. Ids are different. Returns those that were not there before. */
export async function putLinks(
  database: CatalogDatabase,
  projectId: string,
  links: readonly NewDatasetSourceLink[],
): Promise<Set<string>> {
  if (links.length === 0) return new Set()
  const now = new Date()
  // In one order always: two requests with the same links wait for each other, and not for ever.
  const rows = links
    .toSorted((one, other) => (one.id < other.id ? -1 : 1))
    .map((link) => ({ ...link, project_id: projectId, created_at: now, updated_at: now, deleted_at: null }))
  const { created, replaced } = await inTransaction(database, async (transaction) => {
    const made = await transaction
      .insertInto("dataset_sources")
      .values(rows)
      .onConflict((on) => on.columns(["project_id", "id"]).doNothing())
      .returning("id")
      .execute()
    const ids = new Set(made.map(({ id }) => id))
    const known = rows.filter(({ id }) => !ids.has(id))
    return { created: ids, replaced: known.length === 0 ? 0 : await replaceLinks(transaction, projectId, known) }
  })
  const given = rows.reduce((sum, { link_metadata }) => sum + Buffer.byteLength(link_metadata ?? ""), 0)
  usageOf(database)?.ofProject(projectId, given - replaced)
  return created
}

/** Returns the bytes of metadata that the links had before. `rows`: by id. */
async function replaceLinks(
  transaction: CatalogDatabase,
  projectId: string,
  rows: readonly DatasetSourceTable[],
): Promise<number> {
  const before = await lockedLinks(
    transaction,
    projectId,
    rows.map(({ id }) => id),
  )
  await transaction
    .insertInto("dataset_sources")
    .values([...rows])
    .onConflict((on) =>
      on.columns(["project_id", "id"]).doUpdateSet(({ ref }) => ({
        source_display_name: ref("excluded.source_display_name"),
        source_started_at: ref("excluded.source_started_at"),
        link_metadata: ref("excluded.link_metadata"),
        added_by: ref("excluded.added_by"),
        updated_at: ref("excluded.updated_at"),
        deleted_at: null,
      })),
    )
    .execute()
  return before.reduce((sum, { bytes }) => sum + bytes, 0)
}

const metadataBytes = sql<number>`coalesce(octet_length(link_metadata), 0)`

/** Links that nobody else changes until the transaction ends, and the bytes of their metadata. */
function lockedLinks(
  transaction: CatalogDatabase,
  projectId: string,
  ids: readonly string[],
): Promise<{ id: string; bytes: number }[]> {
  return transaction
    .selectFrom("dataset_sources")
    .select(["id", metadataBytes.as("bytes")])
    .where("project_id", "=", projectId)
    .where("id", "in", ids)
    .orderBy("id")
    .forUpdate()
    .execute()
}

/** All of them or none, with their metadata; ids are different. Returns which were live, or null when one was never there. */
export async function deleteLinks(
  database: CatalogDatabase,
  projectId: string,
  ids: readonly string[],
): Promise<Set<string> | null> {
  if (ids.length === 0) return new Set()
  const gone = await inTransaction(database, async (transaction) => {
    const known = await lockedLinks(transaction, projectId, ids)
    if (known.length < ids.length) return null
    const now = new Date()
    const deleted = await transaction
      .updateTable("dataset_sources")
      .set({ deleted_at: now, updated_at: now, link_metadata: null })
      .where("project_id", "=", projectId)
      .where("id", "in", ids)
      .where("deleted_at", "is", null)
      .returning("id")
      .execute()
    return { ids: new Set(deleted.map(({ id }) => id)), bytes: known.reduce((sum, { bytes }) => sum + bytes, 0) }
  })
  if (gone === null) return null
  usageOf(database)?.ofProject(projectId, -gone.bytes)
  return gone.ids
}

export interface LinkQuery {
  datasetObjectId: string
  /** null: of all. */
  rowDigests: readonly string[] | null
  sourceKinds: readonly SourceKind[] | null
  withDeleted: boolean
  limit: number | null
  offset: number
}

/** A link, and the size of its metadata, which may have megabytes. */
export interface ListedLink {
  id: string
  size_bytes: number
}

/** Links by row digest, kind, source and trace. */
export async function listLinks(
  database: CatalogDatabase,
  projectId: string,
  { datasetObjectId, rowDigests, sourceKinds, withDeleted, limit, offset }: LinkQuery,
): Promise<ListedLink[]> {
  if (rowDigests?.length === 0 || sourceKinds?.length === 0) return []
  let query = database
    .selectFrom("dataset_sources")
    .select(["id", metadataBytes.as("size_bytes")])
    .where("project_id", "=", projectId)
    .where("dataset_object_id", "=", datasetObjectId)
    .orderBy("row_digest")
    .orderBy("source_kind")
    .orderBy("source_id")
    .orderBy("source_trace_id")
    .offset(offset)
  if (rowDigests !== null) query = query.where("row_digest", "in", listOf(rowDigests))
  if (sourceKinds !== null) query = query.where("source_kind", "in", sourceKinds)
  if (!withDeleted) query = query.where("deleted_at", "is", null)
  return (limit === null ? query : query.limit(limit)).execute()
}

/** Those of these links that are there, deleted ones included, in this order. */
export async function findLinks(
  database: CatalogDatabase,
  projectId: string,
  ids: readonly string[],
): Promise<DatasetSourceLink[]> {
  if (ids.length === 0) return []
  const rows = await database
    .selectFrom("dataset_sources")
    .select(columns)
    .where("project_id", "=", projectId)
    .where("id", "in", idListOf(ids))
    .execute()
  return inOrder(ids, rows)
}

export interface SourceKey {
  source_kind: SourceKind
  source_id: string
  source_trace_id: string
}

export interface SourceMembership extends SourceKey {
  dataset_object_id: string
  /** The first ones in order. */
  row_digests: string[]
  row_count: number
  first_seen_at: Date
}

/** The datasets that the sources are in, by kind, source, trace and dataset. */
export async function findMemberships(
  database: CatalogDatabase,
  projectId: string,
  sources: readonly SourceKey[],
  { withDeleted, mostRows }: { withDeleted: boolean; mostRows: number },
): Promise<SourceMembership[]> {
  const sourcesJson = JSON.stringify(sources)
  const { rows } = await sql<SourceMembership>`
    select source_kind, source_id, source_trace_id, dataset_object_id,
      (array_agg(row_digest order by row_digest))[1:${sql.lit(mostRows)}] as row_digests,
      count(*)::integer as row_count,
      min(created_at) as first_seen_at
    from dataset_sources
    where project_id = ${projectId} and (deleted_at is null or ${withDeleted})
      and (source_kind, source_id, source_trace_id) in (
        select source_kind, source_id, source_trace_id
        from json_to_recordset(${sourcesJson}::json) as wanted (source_kind text, source_id text, source_trace_id text)
      )
    group by source_kind, source_id, source_trace_id, dataset_object_id
    order by source_kind, source_id, source_trace_id, dataset_object_id`.execute(database)
  return rows
}
