/** `/v1/files`: uploads in the shape of OpenAI's files API. The data of SFT jobs comes this way. */
import { requireRight, teamIds } from "../access/can.ts"
import { HeddleError } from "../errors.ts"
import { readUpload } from "../http/bodies/multipart-upload.ts"
import type { Principal } from "../http/principal.ts"
import { type Route, type RouteContext, route } from "../http/route.ts"
import type { BlobStore, StoredBlob } from "../storage/blobs/blob-store.ts"
import { audited } from "../storage/catalog/accounts/audit-logs.ts"
import { isBlobReferenced } from "../storage/catalog/files/blob-references.ts"
import type { CatalogDatabase } from "../storage/catalog/open-catalog.ts"
import {
  createUpload,
  deleteUpload,
  findUpload,
  listUploads,
  type UploadRecord,
} from "../storage/catalog/files/uploads.ts"
import { usageOf } from "../storage/team-usage.ts"
import { createFileBody, deletedFile, type File, file, filePage, fileParams, fileQuery } from "../wire/platform/file.ts"

export interface FileDependencies {
  database: CatalogDatabase
  blobs: BlobStore
  maximumFileBytes: number
}

const shared = { dialect: "openai", tag: "Files" } as const

export function fileRoutes(dependencies: FileDependencies): Route[] {
  const { database, blobs } = dependencies
  return [
    route({
      ...shared,
      method: "POST",
      path: "/v1/files",
      access: { right: "write", of: "upload body.file", train: true },
      summary: "Upload a file, such as the rows of an SFT job (JSON Lines)",
      schemas: {},
      streamsBody: true,
      bodyDocument: createFileBody,
      response: file,
      handle: async (context) => toWireFile(await takeUpload(dependencies, context)),
    }),
    route({
      ...shared,
      method: "GET",
      path: "/v1/files",
      access: { right: "read", of: "teams" },
      summary: "List uploaded files",
      schemas: { query: fileQuery },
      response: filePage,
      handle: async ({ query, principal }) => {
        const after = query.after === undefined ? null : await fileOf(database, principal, query.after)
        const range = { purpose: query.purpose ?? null, after, order: query.order, limit: query.limit + 1 }
        const rows = await listUploads(database, teamIds(principal), range)
        const data = rows.slice(0, query.limit).map(toWireFile)
        const ends = { first_id: data[0]?.id ?? "", last_id: data.at(-1)?.id ?? "" }
        return { object: "list", data, ...ends, has_more: rows.length > query.limit }
      },
    }),
    route({
      ...shared,
      method: "GET",
      path: "/v1/files/:file_id",
      access: { right: "read", of: "upload path.file_id" },
      summary: "Read what is known of a file",
      schemas: { params: fileParams },
      response: file,
      handle: async ({ params, principal }) => toWireFile(await fileOf(database, principal, params.file_id)),
    }),
    route({
      ...shared,
      method: "GET",
      path: "/v1/files/:file_id/content",
      access: { right: "read", of: "upload path.file_id" },
      summary: "Download a file",
      schemas: { params: fileParams },
      response: createFileBody.shape.file,
      answerTypes: ["application/octet-stream"],
      isUncompressed: true,
      handle: async ({ params, principal, reply }) => {
        const upload = await fileOf(database, principal, params.file_id)
        // As an attachment: a browser must never show what somebody uploaded as a page of ours.
        return reply
          .header("content-type", "application/octet-stream")
          .header("content-length", upload.sizeBytes)
          .header("content-disposition", `attachment; filename*=UTF-8''${encodeURIComponent(upload.filename)}`)
          .send(blobs.read(upload.sha256))
      },
    }),
    route({
      ...shared,
      method: "DELETE",
      path: "/v1/files/:file_id",
      access: { right: "write", of: "upload path.file_id" },
      summary: "Delete a file; jobs made from it keep their data",
      schemas: { params: fileParams },
      response: deletedFile,
      handle: async ({ params, principal }) => {
        const upload = await audited(database, principal, async (transaction, record) => {
          const gone = await deleteUpload(transaction, teamIds(principal), uuidOf(params.file_id))
          if (gone === null) throw noSuchFile(params.file_id)
          const team = principal.entities.find(({ id }) => id === gone.entityId)?.name ?? null
          requireRight(principal, principal.right, { id: null, entityId: gone.entityId, name: team ?? "" })
          const details = { filename: gone.filename, bytes: gone.sizeBytes }
          await record({ type: "file.deleted", team, resourceId: idOf(gone), details })
          return gone
        })
        usageOf(database)?.ofTeam(upload.entityId, -upload.sizeBytes)
        await blobs.removeUnless(upload.sha256, () => isBlobReferenced(database, upload.sha256))
        return { id: idOf(upload), object: "file", deleted: true }
      },
    }),
  ]
}

async function takeUpload(
  { database, blobs, maximumFileBytes }: FileDependencies,
  { request, held, principal }: Pick<RouteContext, "request" | "held" | "principal">,
): Promise<UploadRecord> {
  const { id: entityId, name } = principal.defaultEntity
  requireRight(principal, principal.right, { id: null, entityId, name })
  const usage = usageOf(database)
  await usage?.requireRoom(principal.defaultEntity)
  const discard = async ({ sha256 }: StoredBlob) => {
    blobs.release(sha256)
    await blobs.removeUnless(sha256, () => isBlobReferenced(database, sha256))
  }
  const store = (content: AsyncIterable<Uint8Array>) => blobs.put(content)
  const { stored, filename, fields } = await readUpload(
    request.raw,
    { maximumBytes: maximumFileBytes, held },
    { store, discard },
  )
  try {
    await usage?.requireRoom(principal.defaultEntity, stored.sizeBytes)
    const upload = await createUpload(database, {
      entityId: principal.defaultEntity.id,
      filename: clipped(filename, 255) || "file",
      purpose: clipped(fields.get("purpose") ?? "", 64) || "fine-tune",
      ...stored,
    })
    blobs.release(stored.sha256)
    return upload
  } catch (error) {
    await discard(stored)
    throw error
  }
}

/** The name is only ever shown; control characters have no business in it. */
function clipped(text: string, length: number): string {
  return text
    .replaceAll(/\p{Cc}/gu, "")
    .slice(0, length)
    .toWellFormed()
}

async function fileOf(database: CatalogDatabase, principal: Principal, id: string): Promise<UploadRecord> {
  const upload = await findUpload(database, teamIds(principal), uuidOf(id))
  if (upload === null) throw noSuchFile(id)
  return upload
}

function noSuchFile(id: string): HeddleError {
  return new HeddleError(
    "not_found",
    `no file "${id}": it was deleted, never uploaded, or belongs to a team you are not in`,
  )
}

function idOf(upload: UploadRecord): string {
  return `file-${upload.id}`
}

function uuidOf(fileId: string): string {
  return fileId.replace(/^file-/, "")
}

function toWireFile(upload: UploadRecord): File {
  return {
    id: idOf(upload),
    object: "file",
    bytes: upload.sizeBytes,
    created_at: Math.floor(upload.createdAt.getTime() / 1000),
    filename: upload.filename,
    purpose: upload.purpose,
    status: "processed",
  }
}
