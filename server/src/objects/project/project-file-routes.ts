/** `/file/…` and `/files/…`: evaluation-store-calls 7. The npm client uses one of the two prefixes, Python's both. */
import type { FastifyReply } from "fastify"
import type { IncomingMessage } from "node:http"
import { HeddleError } from "../../errors.ts"
import { sendShownFile } from "../../http/answers/shown-file.ts"
import type { HeldBody } from "../../http/bodies/body-budget.ts"
import { readUpload } from "../../http/bodies/multipart-upload.ts"
import type { Principal } from "../../http/principal.ts"
import { type Route, route } from "../../http/route.ts"
import { parse } from "../../http/validation.ts"
import { digestOfSha256 } from "../../json/digests.ts"
import type { StoredBlob } from "../../storage/blobs/blob-store.ts"
import {
  addProjectFile,
  findProjectFile,
  type ProjectFile,
  projectFileBytes,
} from "../../storage/catalog/objects/project-files.ts"
import { usageOf } from "../../storage/team-usage.ts"
import {
  projectFileContent,
  projectFileContentBody,
  projectFileCreateBody,
  projectFileCreated,
  projectFileFields,
  projectFileStats,
  projectFileStatsBody,
  shownFileQuery,
} from "../../wire/objects/project-file.ts"
import type { StoreDependencies } from "../dependencies.ts"
import { checkDigest } from "../expected-digest.ts"
import { existingProject, ensureProject } from "../../access/project-access.ts"
import { RunningUploads } from "./running-uploads.ts"
import { discardBlob } from "./source-files.ts"

const shared = { method: "POST", dialect: "reason", tag: "Project files" } as const

/** Uploads go to disk as they come. */
const maximumFileBytes = 1024 ** 3

export function projectFileRoutes(dependencies: StoreDependencies): Route[] {
  const { database } = dependencies
  const uploads = new RunningUploads()
  return [
    ...["/file", "/files"].flatMap((prefix) => [
      createRoute(dependencies, `${prefix}/create`, uploads),
      contentRoute(dependencies, `${prefix}/content`, uploads),
    ]),
    shownRoute(dependencies, uploads),
    route({
      ...shared,
      path: "/files/query_stats",
      access: { right: "read", of: "project body.project_id" },
      summary: "How large the files of a project are together",
      schemas: { body: projectFileStatsBody },
      response: projectFileStats,
      handle: async ({ body, principal }) => {
        const project = await existingProject(database, principal, body.project_id)
        return { total_size_bytes: await projectFileBytes(database, project.id) }
      },
    }),
  ]
}

function createRoute(dependencies: StoreDependencies, path: string, uploads: RunningUploads): Route {
  return route({
    ...shared,
    path,
    access: { right: "write", of: "project body.project_id", ingest: true },
    summary: "Store a file under the digest of its content",
    schemas: {},
    streamsBody: true,
    bodyDocument: projectFileCreateBody,
    response: projectFileCreated,
    handle: ({ request, held, principal }) =>
      uploads.track(principal.userId, takeFile(dependencies, principal, { request: request.raw, held })),
  })
}

/**
 * weave 0.52.22 and 0.54.0 send the files of an object beside it, and `publish` returns when the object
 * is stored: a reader of the object may ask for files that are still on their way, and waits for them.
 */
function contentRoute(dependencies: StoreDependencies, path: string, uploads: RunningUploads): Route {
  return route({
    ...shared,
    path,
    access: { right: "read", of: "project body.project_id" },
    summary: "Read a file by its digest",
    schemas: { body: projectFileContentBody },
    response: projectFileContent,
    answerTypes: ["application/octet-stream"],
    isUncompressed: true,
    handle: async ({ body, principal, reply }) => {
      const { database, blobs } = dependencies
      const project = await existingProject(database, principal, body.project_id)
      const file = await uploads.find(principal.userId, () => findProjectFile(database, project.id, body.digest))
      return sendFile(blobs, body.digest, file, reply)
    },
  })
}

function shownRoute(dependencies: StoreDependencies, uploads: RunningUploads): Route {
  return route({
    ...shared,
    method: "GET",
    path: "/files/content",
    access: { right: "read", of: "project query.project_id" },
    summary: "Read a file as a picture, a player or a download of a page does",
    schemas: { query: shownFileQuery },
    response: projectFileContent,
    answerTypes: ["application/octet-stream"],
    isUncompressed: true,
    handle: async ({ query, principal, request, reply }) => {
      const { database, blobs } = dependencies
      const project = await existingProject(database, principal, query.project_id)
      const file = await uploads.find(principal.userId, () => findProjectFile(database, project.id, query.digest))
      if (file === null) throw notFound(query.digest)
      const { sha256, sizeBytes } = file
      return sendShownFile(request, reply, {
        type: query.type,
        name: query.name,
        sizeBytes,
        read: (part) => blobs.read(sha256, part),
      })
    },
  })
}

/** @throws {HeddleError} `not_found`. */
export async function sendProjectFile(
  { database, blobs }: StoreDependencies,
  projectId: string,
  digest: string,
  reply: FastifyReply,
): Promise<FastifyReply> {
  return sendFile(blobs, digest, await findProjectFile(database, projectId, digest), reply)
}

function sendFile(
  blobs: StoreDependencies["blobs"],
  digest: string,
  file: ProjectFile | null,
  reply: FastifyReply,
): FastifyReply {
  if (file === null) throw notFound(digest)
  return (
    reply
      .header("content-type", "application/octet-stream")
      .header("content-length", file.sizeBytes)
      // No browser may take a file for a page of this server.
      .header("content-disposition", "attachment")
      .send(blobs.read(file.sha256))
  )
}

function notFound(digest: string): HeddleError {
  return new HeddleError("not_found", `File ${digest} not found`)
}

async function takeFile(
  dependencies: StoreDependencies,
  principal: Principal,
  { request, held }: { request: IncomingMessage; held: HeldBody },
): Promise<{ digest: string }> {
  const { blobs } = dependencies
  const { stored, fields } = await readUpload(
    request,
    { maximumBytes: maximumFileBytes, held },
    {
      store: (content) => blobs.put(content),
      discard: ({ sha256 }) => discardBlob(dependencies, sha256),
    },
  )
  try {
    const digest = await keep(dependencies, principal, { stored, fields })
    blobs.release(stored.sha256)
    return { digest }
  } catch (error) {
    await discardBlob(dependencies, stored.sha256)
    throw error
  }
}

async function keep(
  { database }: StoreDependencies,
  principal: Principal,
  { stored, fields }: { stored: StoredBlob; fields: ReadonlyMap<string, string> },
): Promise<string> {
  const { project_id, expected_digest } = parse(projectFileFields, Object.fromEntries(fields), "body")
  const digest = digestOfSha256(Buffer.from(stored.sha256, "hex"))
  checkDigest("the file", expected_digest, digest)
  const project = await ensureProject(database, principal, project_id)
  await usageOf(database)?.requireRoom({ id: project.entityId, name: project.entity }, stored.sizeBytes)
  await addProjectFile(database, project.id, { digest, ...stored })
  return digest
}
