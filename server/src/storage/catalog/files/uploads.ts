/** Files that people uploaded; the content lies in the blob store. */
import { usageOf } from "../../team-usage.ts"
import type { CatalogDatabase } from "../open-catalog.ts"
import { isUuid } from "../identifiers.ts"

export interface UploadRecord {
  id: string
  entityId: string
  filename: string
  sha256: string
  sizeBytes: number
  purpose: string
  createdAt: Date
}

export interface NewUpload {
  entityId: string
  filename: string
  sha256: string
  sizeBytes: number
  purpose: string
}

export async function createUpload(database: CatalogDatabase, upload: NewUpload): Promise<UploadRecord> {
  const row = await database
    .insertInto("uploads")
    .values({
      entity_id: upload.entityId,
      filename: upload.filename,
      sha256: upload.sha256,
      size_bytes: upload.sizeBytes,
      purpose: upload.purpose,
    })
    .returningAll()
    .executeTakeFirstOrThrow()
  usageOf(database)?.ofTeam(upload.entityId, upload.sizeBytes)
  return toRecord(row)
}

export async function findUpload(
  database: CatalogDatabase,
  entityIds: readonly string[],
  id: string,
): Promise<UploadRecord | null> {
  if (!isUuid(id)) return null
  const row = await database
    .selectFrom("uploads")
    .selectAll()
    .where("id", "=", id)
    .where("entity_id", "in", entityIds)
    .executeTakeFirst()
  return row === undefined ? null : toRecord(row)
}

export interface UploadRange {
  purpose: string | null
  /** Strictly after this upload in the given order. */
  after: UploadRecord | null
  order: "asc" | "desc"
  limit: number
}

/** In order of upload. */
export async function listUploads(
  database: CatalogDatabase,
  entityIds: readonly string[],
  range: UploadRange,
): Promise<UploadRecord[]> {
  const { purpose, after, order, limit } = range
  let query = database.selectFrom("uploads").selectAll().where("entity_id", "in", entityIds)
  if (purpose !== null) query = query.where("purpose", "=", purpose)
  if (after !== null) {
    const sign = order === "asc" ? ">" : "<"
    query = query.where("sequence", sign, ({ selectFrom }) =>
      selectFrom("uploads as cursor").select("cursor.sequence").where("cursor.id", "=", after.id),
    )
  }
  const rows = await query.orderBy("sequence", order).limit(limit).execute()
  return rows.map(toRecord)
}

/** The upload that was deleted now; null when there was none. */
export async function deleteUpload(
  database: CatalogDatabase,
  entityIds: readonly string[],
  id: string,
): Promise<UploadRecord | null> {
  if (!isUuid(id)) return null
  const row = await database
    .deleteFrom("uploads")
    .where("id", "=", id)
    .where("entity_id", "in", entityIds)
    .returningAll()
    .executeTakeFirst()
  return row === undefined ? null : toRecord(row)
}

interface UploadRow {
  id: string
  entity_id: string
  filename: string
  sha256: string
  size_bytes: number
  purpose: string
  created_at: Date
}

function toRecord(row: UploadRow): UploadRecord {
  const { id, filename, sha256, purpose } = row
  return {
    id,
    entityId: row.entity_id,
    filename,
    sha256,
    sizeBytes: row.size_bytes,
    purpose,
    createdAt: row.created_at,
  }
}
