/**
 * What requests that store or fetch files have to know and write, shared by those that wait at the same time: a client
 * sends thousands of small files of one artifact with one key.
 */
import { addSentContents, type KeptAs, type SentContent } from "../../storage/catalog/artifacts/artifact-contents.ts"
import { findPendingArtifacts, type PendingArtifact } from "../../storage/catalog/artifacts/artifacts.ts"
import { noteWork } from "../../storage/catalog/artifacts/pending-artifacts.ts"
import type { CatalogDatabase } from "../../storage/catalog/open-catalog.ts"
import { BatchedLookup } from "../../work/batched-lookup.ts"
import { GroupCommit } from "../../work/group-commit.ts"

const contentsPerInsert = 500

export class SentFiles {
  readonly #artifacts: BatchedLookup<string, PendingArtifact | null>
  readonly #contents: GroupCommit<SentContent, KeptAs>

  constructor(database: CatalogDatabase) {
    this.#artifacts = new BatchedLookup(async (ids) => {
      const found = await findPendingArtifacts(database, ids)
      await noteWork(
        database,
        found.filter((artifact) => artifact !== null),
      )
      return found
    })
    this.#contents = new GroupCommit((contents) => addSentContents(database, contents), contentsPerInsert)
  }

  /** The artifact, of any team, that something is sent for; null: it is committed, or was deleted. */
  pendingArtifact(id: string): Promise<PendingArtifact | null> {
    return this.#artifacts.get(id, id)
  }

  /** Resolves once the content's row is stored, if the artifact asked for it. */
  add(content: SentContent): Promise<KeptAs> {
    return this.#contents.add(content)
  }
}
