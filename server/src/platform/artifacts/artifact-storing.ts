/** From the body of a request to a content that a project has: platform-wandb 9.1. */
import type { IncomingMessage } from "node:http"
import { createHash } from "node:crypto"
import { HeddleError } from "../../errors.ts"
import { bodyStream } from "../../http/bodies/body-stream.ts"
import type { StoredBlob } from "../../storage/blobs/blob-store.ts"
import { addContent } from "../../storage/catalog/artifacts/artifact-contents.ts"
import type { ArtifactRecord } from "../../storage/catalog/artifacts/artifacts.ts"
import { usageOf } from "../../storage/team-usage.ts"
import { dropBlobs, type RunDependencies } from "../runs/run-dependencies.ts"
import { teamOf } from "./artifact-access.ts"

export interface Storing {
  artifact: Pick<ArtifactRecord, "entity" | "entity_id">
  /** Base64 or hexadecimal MD5 that the content must have. */
  digest: string
  encoding: "base64" | "hex"
  maximumBytes: number
}

/**
 * Stores the body as a blob and has `keep` write the row that names it; returns its size. Without the row the blob goes,
 * and so does the one that `keep` says may have no name any more, if it has none.
 * @throws {HeddleError} `bad_request` when the body is not what was announced; then nothing is stored.
 */
export async function storeBody(
  dependencies: RunDependencies,
  request: IncomingMessage,
  { artifact, digest, encoding, maximumBytes }: Storing,
  keep: (blob: StoredBlob) => Promise<string | null>,
): Promise<number> {
  const { database } = dependencies
  const usage = usageOf(database)
  await usage?.requireRoom(teamOf(artifact), Number(request.headers["content-length"] ?? 0))
  const content = bodyStream(request, maximumBytes, { keepsNone: true })
  return storeContent(dependencies, content, { digest, encoding }, async (blob) => {
    await usage?.requireRoom(teamOf(artifact), blob.sizeBytes)
    return keep(blob)
  })
}

async function storeContent(
  dependencies: RunDependencies,
  content: AsyncIterable<Uint8Array>,
  { digest, encoding }: Pick<Storing, "digest" | "encoding">,
  keep: (blob: StoredBlob) => Promise<string | null>,
): Promise<number> {
  const { blobs } = dependencies
  const md5 = createHash("md5")
  const blob = await blobs.put(content, md5)
  let unnamed: string | null = blob.sha256
  try {
    const got = md5.digest(encoding)
    if (got !== digest) {
      throw new HeddleError("bad_request", `what came has the MD5 ${got}, and ${digest} was announced; send it again`)
    }
    unnamed = await keep(blob)
  } finally {
    blobs.release(blob.sha256)
    if (unnamed !== null) await dropBlobs(dependencies, [unnamed])
  }
  return blob.sizeBytes
}

/** Makes one content of the parts, which stay. `digest`: base64, of the whole. */
export async function joinParts(
  dependencies: RunDependencies,
  artifact: Pick<ArtifactRecord, "project_id">,
  digest: string,
  parts: readonly string[],
): Promise<void> {
  const { database, blobs } = dependencies
  async function* whole(): AsyncGenerator<Uint8Array> {
    for (const sha256 of parts) yield* blobs.readThrough(sha256)
  }
  await storeContent(dependencies, whole(), { digest, encoding: "base64" }, async ({ sha256, sizeBytes }) => {
    const isNew = await addContent(database, artifact.project_id, { digest, sha256, size_bytes: sizeBytes })
    return isNew ? null : sha256
  })
}
