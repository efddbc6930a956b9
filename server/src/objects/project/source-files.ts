/** Source code kept as a file of a project, as the SDK keeps it. */
import { readFile } from "node:fs/promises"
import { contentDigest } from "../../json/digests.ts"
import { isBlobReferenced } from "../../storage/catalog/files/blob-references.ts"
import { addProjectFile, findProjectFile, findProjectFiles } from "../../storage/catalog/objects/project-files.ts"
import type { StoreDependencies } from "../dependencies.ts"

type Dependencies = Pick<StoreDependencies, "database" | "blobs">

/** More than any request could bring as source code; a larger file is none. */
const maximumSourceBytes = 32 * 1024 * 1024

/** Returns the digest of the file. What the project has already is not written again. */
export async function storeSource(
  { database, blobs }: Dependencies,
  projectId: string,
  source: string,
): Promise<string> {
  const content = Buffer.from(source)
  const digest = contentDigest(content)
  if ((await findProjectFile(database, projectId, digest)) !== null) return digest
  const stored = await blobs.put(only(content))
  try {
    await addProjectFile(database, projectId, { digest, ...stored })
    blobs.release(stored.sha256)
  } catch (error) {
    await discardBlob({ database, blobs }, stored.sha256)
    throw error
  }
  return digest
}

/** Reads source code of files, of which `digests` are all that will be asked for; null: no such file, or no source code. */
export async function sourceReader(
  { database, blobs }: Dependencies,
  projectId: string,
  digests: readonly string[],
): Promise<(digest: string) => Promise<string | null>> {
  const files = await findProjectFiles(database, projectId, digests)
  return async (digest) => {
    const file = files.get(digest)
    if (file === undefined || file.sizeBytes > maximumSourceBytes) return null
    return readFile(blobs.absolutePathOf(file.sha256), "utf8")
  }
}

/** Lets go of a held blob, and removes it when no row names it. */
export async function discardBlob({ database, blobs }: Dependencies, sha256: string): Promise<void> {
  blobs.release(sha256)
  await blobs.removeUnless(sha256, () => isBlobReferenced(database, sha256))
}

async function* only(content: Uint8Array): AsyncGenerator<Uint8Array> {
  yield content
}
