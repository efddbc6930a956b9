/** Commits an artifact by the manifests that were sent for it: platform-wandb 9.2. */
import { createReadStream } from "node:fs"
import { buffer } from "node:stream/consumers"
import { HeddleError } from "../../errors.ts"
import { type Commit, commitArtifact, type CommittedArtifact } from "../../storage/catalog/artifacts/artifact-commit.ts"
import {
  type ArtifactContent,
  type Birth,
  contentsOfBirths,
  findContent,
} from "../../storage/catalog/artifacts/artifact-contents.ts"
import { type ManifestRecord, manifestsOf } from "../../storage/catalog/artifacts/artifact-manifests.ts"
import { aliasesOf } from "../../storage/catalog/artifacts/artifact-aliases.ts"
import { type ArtifactRecord, findArtifact } from "../../storage/catalog/artifacts/artifacts.ts"
import { noteWork } from "../../storage/catalog/artifacts/pending-artifacts.ts"
import type { CatalogDatabase } from "../../storage/catalog/open-catalog.ts"
import { findModelByName } from "../../storage/catalog/training/models.ts"
import { inTurn } from "../../storage/in-turn.ts"
import {
  adoptIfPossible,
  adoptVersion,
  commitAdopted,
  type FindFile,
  listCheckpoints,
} from "../../storage/lora-artifacts.ts"
import { usageOf } from "../../storage/team-usage.ts"
import { noLookups } from "../../threads/thread-task.ts"
import type { RunContext } from "../runs/run-context.ts"
import { dropBlobs } from "../runs/run-dependencies.ts"
import { requireArtifact, teamOf } from "./artifact-access.ts"
import { ownEntities } from "./artifact-node.ts"
import { manifestTask } from "./manifest-task.ts"

/** Of a manifest, and of all patches of one artifact together: hundreds of thousands of files. */
export const maximumManifestBytes = 128 * 1024 * 1024

/** The most bytes that the handler of a reference may add to one entry. */
const mostExtraBytes = 64 * 1024

/**
 * Commits the artifact. One that is committed already is returned as it is stored, so a client may commit again, also
 * while its first request is at work: what was sent is gone behind that one.
 * @throws {HeddleError} when what was sent is not what was announced; then nothing is committed.
 */
export async function commitPending(context: RunContext, id: string): Promise<ArtifactRecord> {
  const { entity_id } = await requireArtifact(context, id)
  // One of a team at a time: each holds its manifests in memory.
  return inTurn(context.database, `commit in ${entity_id}`, () => commit(context, id))
}

async function commit(context: RunContext, id: string): Promise<ArtifactRecord> {
  const artifact = await requireArtifact(context, id)
  const { database, blobs } = context
  if (artifact.state === "committed") {
    await adoptIfModel(context, artifact, adoptIfPossible)
    return artifact
  }
  await noteWork(database, [artifact])
  await usageOf(database)?.requireRoom(teamOf(artifact))
  const { entries, births, baseId, isWhole } = await sentContents(context, artifact)
  const foreign = await contentsOfBirths(database, {
    projectId: artifact.project_id,
    entityIds: ownEntities(context),
    births,
  })
  const held = await holdAll(context, foreign)
  try {
    const sent = { artifact, entries, baseId, isWhole, foreign: held }
    const committed = await commitWithCheckpoint(context, artifact, sent)
    await dropBlobs(context, committed.dropped)
    // Its model may have been registered meanwhile.
    await adoptIfModel(context, committed.artifact, adoptIfPossible)
    return committed.artifact
  } finally {
    for (const { sha256 } of held) blobs.release(sha256)
  }
}

/** Commits a version of an artifact that has a model's name as a checkpoint of that: both, or neither. */
async function commitWithCheckpoint(
  context: RunContext,
  artifact: ArtifactRecord,
  sent: Commit,
): Promise<CommittedArtifact> {
  const { database } = context
  const { id, type, project_id, collection, pending_aliases: aliases } = artifact
  if (type === "lora") await listCheckpoints(context, project_id)
  const model = type === "lora" ? await findModelByName(database, project_id, collection) : null
  if (model === null) return commitArtifact(database, sent)
  const version = { id, project_id, aliases }
  return commitAdopted(context, version, {
    modelId: model.id,
    find: filesIn(database, project_id, sent.entries),
    store: (adopt) => commitArtifact(database, { ...sent, adopt }),
  })
}

/** Looks files up in the lists of entries, which are read on this thread: adapters have few files. */
function filesIn(database: CatalogDatabase, projectId: string, entries: readonly string[]): FindFile {
  const digests = new Map(
    entries
      .flatMap((list) => JSON.parse(list) as { path: string; digest: string; ref: string | null }[])
      .flatMap(({ path, digest, ref }) => (ref === null ? [[path, digest] as const] : [])),
  )
  return async (path) => {
    const digest = digests.get(path)
    return digest === undefined ? null : findContent(database, projectId, digest)
  }
}

/**
 * Makes a committed `lora` version a checkpoint of the model that has its artifact's name, unless it is a checkpoint already.
 * `adopt`: what to do with one that cannot be.
 */
export async function adoptIfModel(
  context: RunContext,
  artifact: ArtifactRecord,
  adopt: typeof adoptVersion = adoptVersion,
): Promise<void> {
  if (artifact.type !== "lora" || artifact.checkpoint_id !== null) return
  const { database } = context
  const { id, project_id } = artifact
  const model = await findModelByName(database, project_id, artifact.collection)
  if (model === null) return
  const aliases = (await aliasesOf(database, [id]))
    .filter(({ collection_id }) => collection_id === artifact.collection_id)
    .map(({ alias }) => alias)
  await adopt(context, { id, project_id, aliases }, model.id)
}

/** Holds the contents whose blobs are still stored, and returns them; the caller must release each. */
async function holdAll({ blobs }: RunContext, contents: readonly ArtifactContent[]): Promise<ArtifactContent[]> {
  const held: ArtifactContent[] = []
  for (const content of contents) if (await blobs.hold(content.sha256)) held.push(content)
  return held
}

interface SentContents {
  entries: string[]
  births: Birth[]
  baseId: string | null
  isWhole: boolean
}

async function sentContents(context: RunContext, artifact: ArtifactRecord): Promise<SentContents> {
  const manifests = await manifestsOf(context.database, artifact.id)
  const patches = manifests.filter(({ type, sha256 }) => type === "PATCH" && sha256 !== null)
  const single = manifests.findLast(({ type }) => type !== "PATCH")
  const used = single === undefined ? patches : [single]
  if (used.length === 0) {
    throw new HeddleError("invalid_request", "no manifest was sent for this artifact; log the artifact again")
  }
  const bytes = used.reduce((sum, { size_bytes }) => sum + size_bytes, 0)
  if (bytes > maximumManifestBytes) {
    const most = `${maximumManifestBytes / 1024 ** 2} MiB`
    throw new HeddleError(
      "payload_too_large",
      `the manifests of this artifact have ${bytes} bytes together, more than ${most}; log its files as several artifacts`,
    )
  }
  const read: Awaited<ReturnType<typeof readSent>>[] = []
  for (const manifest of used) read.push(await readSent(context, manifest))
  const sent: SentContents = {
    entries: read.flatMap(({ lists }) => lists),
    births: read.flatMap(({ births }) => births),
    baseId: null,
    isWhole: single?.type === "FULL",
  }
  if (single?.type === "INCREMENTAL" && single.base_id !== null) {
    const base = await findArtifact(context.database, ownEntities(context), single.base_id)
    if (base === null || base.project_id !== artifact.project_id || base.state !== "committed") {
      throw new HeddleError("invalid_request", "the version that this one adds to was deleted; log the artifact whole")
    }
    sent.baseId = base.id
  }
  return sent
}

async function readSent(
  { blobs, threads }: RunContext,
  { sha256 }: ManifestRecord,
): Promise<{ lists: string[]; births: Birth[] }> {
  if (sha256 === null) {
    throw new HeddleError("invalid_request", "the manifest of this artifact was not stored; log the artifact again")
  }
  const bytes = await buffer(createReadStream(blobs.absolutePathOf(sha256)))
  const read = await threads.run(
    manifestTask,
    { bytes, extraBytes: mostExtraBytes },
    { bytes: bytes.length, answer: noLookups },
  )
  const lists = Buffer.from(read.lists).toString("utf8")
  return {
    lists: lists === "" ? [] : lists.split("\n"),
    births: JSON.parse(Buffer.from(read.births).toString("utf8")) as Birth[],
  }
}
