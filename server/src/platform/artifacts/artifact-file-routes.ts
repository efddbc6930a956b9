/** Files of artifacts: stored and fetched at addresses that GraphQL hands out, and by digest with a key. */
import type { FastifyReply } from "fastify"
import path from "node:path"
import { Readable } from "node:stream"
import { type Holder, ownTeam } from "../../access/can.ts"
import { HeddleError } from "../../errors.ts"
import { sendShownFile } from "../../http/answers/shown-file.ts"
import type { ByteRange } from "../../http/byte-range.ts"
import { type Route, route } from "../../http/route.ts"
import { findStoredFile, type StoredFile } from "../../storage/catalog/artifacts/artifact-entries.ts"
import { findManifest, storeManifest } from "../../storage/catalog/artifacts/artifact-manifests.ts"
import { findPart, findUpload, storePart } from "../../storage/catalog/artifacts/artifact-uploads.ts"
import { findAnyArtifact, findArtifact, type PendingArtifact } from "../../storage/catalog/artifacts/artifacts.ts"
import {
  artifactContent,
  artifactFileParams,
  artifactLinkParams,
  artifactStored,
  fullArtifactFileParams,
  namedArtifactFileParams,
  shownArtifactFileQuery,
} from "../../wire/platform/artifact.ts"
import type { RunDependencies } from "../runs/run-dependencies.ts"
import { accessOfUse } from "../runs/run-file-links.ts"
import { localId } from "../runs/run-ids.ts"
import type { ArtifactLink } from "./artifact-links.ts"
import { manifestText } from "./artifact-manifest.ts"
import { maximumManifestBytes } from "./artifact-committing.ts"
import { storeBody } from "./artifact-storing.ts"

const shared = { dialect: "graphql", tag: "Artifacts" } as const
const download = {
  ...shared,
  method: "GET",
  refusals: ["404"],
  response: artifactContent,
  answerTypes: ["application/octet-stream"],
  isUncompressed: true,
} as const

export function artifactFileRoutes(dependencies: RunDependencies): Route[] {
  const { database, limits } = dependencies
  const access = { right: "read", of: "artifact path.birth" } as const
  const byKey = { ...download, access, summary: "Fetch a file of an artifact by its digest" } as const
  const fileByDigest = async (
    principal: Pick<Holder, "entities">,
    params: { entity: string; birth: string; digest: string },
  ) => {
    const id = localId("Artifact", params.birth)
    const team = ownTeam(principal, params.entity)
    const artifact = id === null || team === undefined ? null : await findArtifact(database, [team.id], id)
    const digest = Buffer.from(params.digest, "hex").toString("base64")
    return artifact === null ? null : findStoredFile(database, artifact.id, digest)
  }
  return [
    route({
      ...shared,
      method: "PUT",
      path: "/artifactsV2/upload/:token",
      access: "public",
      summary: "Store a file of an artifact, its manifest or a part of a file, at an address that GraphQL gave",
      schemas: { params: artifactLinkParams },
      refusals: ["403", "404"],
      streamsBody: true,
      bodyDocument: artifactContent,
      bodyType: "application/octet-stream",
      response: artifactStored,
      handle: async ({ params, request, reply }) => {
        const link = await linked(dependencies, params.token, true)
        if (link.use === "manifest") return { bytes: await putManifest(dependencies, link, request.raw) }
        if (link.use === "part") return { bytes: await putPart(dependencies, link, request.raw, reply) }
        const artifact = await pendingArtifact(dependencies, link.id)
        const storing = {
          artifact,
          digest: link.what,
          encoding: "base64",
          maximumBytes: limits.run_file_bytes,
        } as const
        const bytes = await storeBody(dependencies, request.raw, storing, async ({ sha256, sizeBytes }) => {
          const { id, project_id } = artifact
          const content = { artifact_id: id, project_id, digest: link.what, sha256, size_bytes: sizeBytes }
          const kept = await dependencies.sentFiles.add(content)
          if (kept === "unasked") throw linkEnded()
          return kept === "added" ? null : sha256
        })
        return { bytes }
      },
    }),
    route({
      ...download,
      path: "/artifactsV2/direct/:token",
      access: "public",
      summary: "Fetch a file of an artifact, or its manifest, at an address that its directUrl gave",
      schemas: { params: artifactLinkParams },
      handle: async ({ params, reply }) => {
        const link = await linked(dependencies, params.token, false)
        // A cache between would answer after the address has ended.
        reply.header("cache-control", "private, no-store")
        if (link.use === "contents") return sendManifest(dependencies, link.id, reply)
        return sendFile(dependencies, await findStoredFile(database, link.id, link.what), reply)
      },
    }),
    route({
      ...byKey,
      path: "/artifactsV2/:region/:entity/:birth/:digest",
      schemas: { params: artifactFileParams, query: shownArtifactFileQuery },
      handle: async ({ params, query: { type }, principal, request, reply }) => {
        const { sha256, size_bytes: sizeBytes } = existing(await fileByDigest(principal, params))
        const read = (part: Partial<ByteRange>) => dependencies.blobs.read(sha256, part)
        return sendShownFile(request, reply, { sizeBytes, type, read })
      },
    }),
    route({
      ...byKey,
      path: "/artifactsV2/:region/:entity/:project/:collection/:birth/:digest/:file",
      schemas: { params: namedArtifactFileParams },
      handle: async ({ params, principal, reply }) =>
        sendFile(dependencies, await fileByDigest(principal, params), reply),
    }),
    route({
      ...byKey,
      path: "/artifactsV2/:region/:entity/:project/:collection/:artifact/:birth/:digest/:file",
      schemas: { params: fullArtifactFileParams },
      handle: async ({ params, principal, reply }) =>
        sendFile(dependencies, await fileByDigest(principal, params), reply),
    }),
  ]
}

/** @throws {HeddleError} `not_found`. */
async function linked(
  { artifactLinks, addresses }: RunDependencies,
  token: string,
  stores: boolean,
): Promise<ArtifactLink> {
  const link = artifactLinks.linkOf(token, stores, Date.now())
  await addresses.require(link, accessOfUse[stores ? "store" : "fetch"], "ask for the file's address again")
  return link
}

function linkEnded(): HeddleError {
  return new HeddleError(
    "not_found",
    "the artifact of this address was committed or deleted; ask for the address again",
  )
}

/** @throws {HeddleError} `not_found`: nothing is added to what is committed. */
async function pendingArtifact({ sentFiles }: RunDependencies, id: string): Promise<PendingArtifact> {
  const artifact = await sentFiles.pendingArtifact(id)
  if (artifact === null) throw linkEnded()
  return artifact
}

async function putManifest(
  dependencies: RunDependencies,
  { id, what }: ArtifactLink,
  request: Parameters<typeof storeBody>[1],
): Promise<number> {
  const { database } = dependencies
  const manifest = await findManifest(database, id)
  if (manifest === null || what === "") throw linkEnded()
  const artifact = await pendingArtifact(dependencies, manifest.artifact_id)
  const storing = { artifact, digest: what, encoding: "base64", maximumBytes: maximumManifestBytes } as const
  return storeBody(dependencies, request, storing, ({ sha256, sizeBytes }) =>
    storeManifest(database, artifact.project_id, manifest, { sha256, size_bytes: sizeBytes }),
  )
}

async function putPart(
  dependencies: RunDependencies,
  { id, what }: ArtifactLink,
  request: Parameters<typeof storeBody>[1],
  reply: FastifyReply,
): Promise<number> {
  const { database, limits } = dependencies
  const upload = await findUpload(database, id)
  const part = upload === null ? null : await findPart(database, id, Number(what))
  if (upload === null || part === null) throw linkEnded()
  const artifact = await pendingArtifact(dependencies, upload.artifact_id)
  const storing = { artifact, digest: part.md5, encoding: "hex", maximumBytes: limits.run_file_bytes } as const
  // The client tells the tags of all parts when it completes the file.
  reply.header("etag", `"${part.md5}"`)
  return storeBody(dependencies, request, storing, ({ sha256, sizeBytes }) =>
    storePart(database, upload, part, { sha256, size_bytes: sizeBytes }),
  )
}

/** @throws {HeddleError} `not_found`. */
function existing(file: StoredFile | null): StoredFile {
  if (file !== null) return file
  throw new HeddleError("not_found", "no such file: its artifact was deleted, or you are not in its team")
}

function sendFile({ blobs }: RunDependencies, file: StoredFile | null, reply: FastifyReply): FastifyReply {
  const { dir, base } = path.parse(blobs.absolutePathOf(existing(file).sha256))
  // As an attachment: a browser must never show what somebody uploaded as a page of ours.
  return reply
    .header("content-type", "application/octet-stream")
    .header("content-disposition", "attachment")
    .sendFile(base, dir, { contentType: false, cacheControl: false, immutable: false })
}

async function sendManifest(dependencies: RunDependencies, id: string, reply: FastifyReply): Promise<FastifyReply> {
  const artifact = await findAnyArtifact(dependencies.database, id)
  if (artifact?.state !== "committed") {
    throw new HeddleError("not_found", "the artifact of this manifest was deleted")
  }
  return reply
    .header("content-type", "application/json")
    .header("content-disposition", "attachment")
    .send(Readable.from(manifestText(dependencies.database, artifact)))
}
