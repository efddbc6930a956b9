import type { SignedAddresses } from "../../access/signed-addresses.ts"
import type { Limits } from "../../limits.ts"
import type { BlobStore } from "../../storage/blobs/blob-store.ts"
import { isBlobReferenced } from "../../storage/catalog/files/blob-references.ts"
import type { CatalogDatabase } from "../../storage/catalog/open-catalog.ts"
import type { TraceStore } from "../../storage/traces/store/trace-store.ts"
import type { ThreadPool } from "../../threads/thread-pool.ts"
import type { ArtifactLinks } from "../artifacts/artifact-links.ts"
import type { SentFiles } from "../artifacts/sent-files.ts"
import type { RunFileLinks } from "./run-file-links.ts"

export interface RunDependencies {
  database: CatalogDatabase
  traces: TraceStore
  blobs: BlobStore
  threads: ThreadPool
  links: RunFileLinks
  artifactLinks: ArtifactLinks
  sentFiles: SentFiles
  addresses: SignedAddresses
  limits: Pick<Limits, "run_row_bytes" | "run_document_values" | "run_file_bytes">
}

/** Takes contents away that no row names any more. */
export async function dropBlobs(
  { database, blobs }: Pick<RunDependencies, "database" | "blobs">,
  contents: readonly string[],
): Promise<void> {
  for (const sha256 of new Set(contents)) await blobs.removeUnless(sha256, () => isBlobReferenced(database, sha256))
}
