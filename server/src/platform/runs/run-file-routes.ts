/** Files of runs: stored and fetched at addresses that GraphQL hands out, and by name with a key (platform-wandb 8). */
import { createHash } from "node:crypto"
import { HeddleError } from "../../errors.ts"
import { sendShownFile } from "../../http/answers/shown-file.ts"
import { bodyStream } from "../../http/bodies/body-stream.ts"
import type { ByteRange } from "../../http/byte-range.ts"
import { type Route, route } from "../../http/route.ts"
import { findRunFile, putRunFile } from "../../storage/catalog/runs/run-files.ts"
import { findNamedRun, type RunRecord } from "../../storage/catalog/runs/runs.ts"
import { usageOf } from "../../storage/team-usage.ts"
import {
  runFileContent,
  runFileLinkParams,
  runFileParams,
  runFileStored,
  shownRunFileQuery,
} from "../../wire/platform/run.ts"
import { requireRun } from "./run-access.ts"
import { dropBlobs, type RunDependencies } from "./run-dependencies.ts"
import { accessOfUse, type RunFileUse } from "./run-file-links.ts"

const shared = { dialect: "graphql", tag: "Runs" } as const

export function runFileRoutes(dependencies: RunDependencies): Route[] {
  const { database } = dependencies
  return [
    route({
      ...shared,
      method: "PUT",
      path: "/files/upload/:token",
      access: "public",
      summary: "Store a file of a run at an address that createRunFiles gave",
      schemas: { params: runFileLinkParams },
      refusals: ["403", "404"],
      streamsBody: true,
      bodyDocument: runFileContent,
      bodyType: "application/octet-stream",
      response: runFileStored,
      handle: async ({ params, request }) => {
        const { run, name } = await linked(dependencies, params.token, "store")
        return { bytes: await storeFile(dependencies, run, name, request.raw) }
      },
    }),
    route({
      ...shared,
      method: "GET",
      path: "/files/direct/:token",
      access: "public",
      summary: "Fetch a file of a run at an address that its directUrl gave",
      schemas: { params: runFileLinkParams },
      refusals: ["404"],
      response: runFileContent,
      answerTypes: ["application/octet-stream"],
      isUncompressed: true,
      handle: async ({ params, request, reply }) => {
        const { run, name } = await linked(dependencies, params.token, "fetch")
        // A cache between would answer after the address has ended.
        reply.header("cache-control", "private, no-store")
        return sendShownFile(request, reply, { ...(await fileOf(dependencies, run.id, name)), type: undefined })
      },
    }),
    route({
      ...shared,
      method: "GET",
      path: "/files/:entity/:project/:run/*",
      access: { right: "read", of: "run path.entity/project/run" },
      summary: "Fetch a file of a run by its name",
      schemas: { params: runFileParams, query: shownRunFileQuery },
      refusals: ["404"],
      response: runFileContent,
      answerTypes: ["application/octet-stream"],
      isUncompressed: true,
      handle: async ({ params, query: { type }, principal, request, reply }) => {
        const { run } = await requireRun(database, principal, params)
        return sendShownFile(request, reply, { ...(await fileOf(dependencies, run.id, params["*"])), type })
      },
    }),
  ]
}

/** @throws {HeddleError} `not_found`. */
async function linked(
  { database, links, addresses }: RunDependencies,
  token: string,
  use: RunFileUse,
): Promise<{ run: RunRecord & { entity_id: string }; name: string }> {
  const { runId, name, apiKeyId } = links.linkOf(token, use, Date.now())
  const run = await findNamedRun(database, runId)
  if (run === null) throw new HeddleError("not_found", "the run of this file was deleted")
  await addresses.require({ apiKeyId, projectId: run.project_id }, accessOfUse[use], "ask for the file's address again")
  return { run, name }
}

async function storeFile(
  dependencies: RunDependencies,
  run: RunRecord & { entity_id: string },
  name: string,
  request: Parameters<typeof bodyStream>[0],
): Promise<number> {
  const { database, blobs, limits } = dependencies
  const team = { id: run.entity_id, name: run.entity }
  const usage = usageOf(database)
  await usage?.requireRoom(team, Number(request.headers["content-length"] ?? 0))
  const md5 = createHash("md5")
  const stored = await blobs.put(bodyStream(request, limits.run_file_bytes, { keepsNone: true }), md5)
  let unnamed: string | null = stored.sha256
  try {
    await usage?.requireRoom(team, stored.sizeBytes)
    const file = {
      name,
      sha256: stored.sha256,
      md5: md5.digest("base64"),
      size_bytes: stored.sizeBytes,
      mimetype: request.headers["content-type"] ?? "application/octet-stream",
    }
    unnamed = await putRunFile(database, run, file)
  } finally {
    blobs.release(stored.sha256)
    if (unnamed !== null) await dropBlobs(dependencies, [unnamed])
  }
  return stored.sizeBytes
}

/** @throws {HeddleError} `not_found`. */
async function fileOf({ database, blobs }: RunDependencies, runId: string, name: string) {
  const file = await findRunFile(database, runId, name)
  if (file === null) throw new HeddleError("not_found", `the run has no file "${name}"`)
  return { sizeBytes: file.size_bytes, read: (part: Partial<ByteRange>) => blobs.read(file.sha256, part) }
}
