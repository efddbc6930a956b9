/** The manifest of a committed version, as the client reads it: platform-wandb 9.2. */
import { type EntryRecord, listEntries } from "../../storage/catalog/artifacts/artifact-entries.ts"
import type { ArtifactRecord } from "../../storage/catalog/artifacts/artifacts.ts"
import type { CatalogDatabase } from "../../storage/catalog/open-catalog.ts"
import { globalId } from "../runs/run-ids.ts"

const entriesAtOnce = 2000

/** Its text, piece by piece. Every file comes with this version: so its address holds as long as the version does. */
export async function* manifestText(
  database: CatalogDatabase,
  { id }: Pick<ArtifactRecord, "id">,
): AsyncGenerator<string> {
  const birth = globalId("Artifact", id)
  yield '{"version":1,"storagePolicy":"wandb-storage-policy-v1","storagePolicyConfig":{"storageLayout":"V2"},"contents":{'
  let after: string | null = null
  for (;;) {
    const entries: EntryRecord[] = await listEntries(database, id, {
      paths: null,
      filesOnly: false,
      after,
      limit: entriesAtOnce,
    })
    const texts = entries.map((entry) => `${JSON.stringify(entry.path)}:${entryText(entry, birth)}`)
    if (texts.length > 0) yield (after === null ? "" : ",") + texts.join(",")
    after = entries.at(-1)?.path ?? null
    if (entries.length < entriesAtOnce) break
  }
  yield "}}"
}

function entryText({ digest, size_bytes, ref, extra }: EntryRecord, birth: string): string {
  const fields = ref === null ? { digest, size: size_bytes, birthArtifactID: birth } : { digest, size: size_bytes, ref }
  const text = JSON.stringify(fields)
  return extra === null ? text : `${text.slice(0, -1)},"extra":${extra}}`
}
