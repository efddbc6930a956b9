/** Source code kept as a file of a project, as the SDK keeps it. */
import { contentDigest } from "../../json/digests.ts"
import { isBlobReferenced } from "../../storage/catalog/blob-references.ts"
import { addProjectFile, findProjectFile } from "../../storage/catalog/project-files.ts"
import type { EvaluationDependencies } from "../dependencies.ts"

type Dependencies = Pick<EvaluationDependencies, "database" | "blobs">

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

/** null: no such file, or one that is no source code. */
export async function readSource(
  { database, blobs }: Dependencies,
  projectId: string,
  digest: string,
): Promise<string | null> {
  const file = await findProjectFile(database, projectId, digest)
  if (file === null || file.sizeBytes > maximumSourceBytes) return null
  const chunks: Buffer[] = []
  for await (const chunk of blobs.read(file.sha256)) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString("utf8")
}

/** Lets go of a held blob, and removes it when no row names it. */
export async function discardBlob({ database, blobs }: Dependencies, sha256: string): Promise<void> {
  blobs.release(sha256)
  await blobs.removeUnless(sha256, () => isBlobReferenced(database, sha256))
}

async function* only(content: Uint8Array): AsyncGenerator<Uint8Array> {
  yield content
}
