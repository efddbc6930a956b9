/** Commits an artifact by the manifests that were sent for it: platform-wandb 9.2. */
import { createReadStream } from "node:fs"
import { buffer } from "node:stream/consumers"
import { HeddleError } from "../../errors.ts"
import { deleteArtifacts } from "../../storage/catalog/artifacts/artifact-changes.ts"
import { commitArtifact } from "../../storage/catalog/artifacts/artifact-commit.ts"
import {
  type ArtifactContent,
  type Birth,
  contentsOfBirths,
  findContent,
} from "../../storage/catalog/artifacts/artifact-contents.ts"
import { type ManifestRecord, manifestsOf } from "../../storage/catalog/artifacts/artifact-manifests.ts"
import { aliasesOf } from "../../storage/catalog/artifacts/artifact-aliases.ts"
import { type ArtifactRecord, findArtifact } from "../../storage/catalog/artifacts/artifacts.ts"
import { findModelByName } from "../../storage/catalog/training/models.ts"
import { inTurn } from "../../storage/in-turn.ts"
import { adoptVersion, checkAdoptable, listCheckpoints } from "../../storage/lora-artifacts.ts"
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
  if (artifact.state === "committed") return artifact
  const { database, blobs } = context
  await usageOf(database)?.requireRoom(teamOf(artifact))
  const { entries, births, baseId, isWhole } = await sentContents(context, artifact)
  await checkModel(context, artifact, entries)
  const foreign = await contentsOfBirths(database, {
    projectId: artifact.project_id,
    entityIds: ownEntities(context),
    births,
  })
  const held = await holdAll(context, foreign)
  try {
    const committed = await commitArtifact(database, { artifact, entries, baseId, isWhole, foreign: held })
    await dropBlobs(context, committed.dropped)
    return await adopted(context, committed.artifact)
  } finally {
    for (const { sha256 } of held) blobs.release(sha256)
  }
}

/** Makes the version a checkpoint if its artifact has a model's name. One that cannot become it is deleted. */
async function adopted(context: RunContext, artifact: ArtifactRecord): Promise<ArtifactRecord> {
  const { database } = context
  try {
    await adoptIfModel(context, artifact)
  } catch (error) {
    await dropBlobs(context, await deleteArtifacts(database, artifact.project_id, [artifact.id]))
    throw error
  }
  return artifact
}

/**
 * Refuses a version that its model could not adopt, before the commit takes aliases away from other versions.
 * Reads the entries on this thread: adapters have few files.
 */
async function checkModel(context: RunContext, artifact: ArtifactRecord, entries: readonly string[]): Promise<void> {
  if (artifact.type !== "lora") return
  const { database } = context
  const { id, project_id, collection, pending_aliases: aliases } = artifact
  await listCheckpoints(context, project_id)
  const model = await findModelByName(database, project_id, collection)
  if (model === null) return
  const digests = new Map(
    entries
      .flatMap((list) => JSON.parse(list) as { path: string; digest: string; ref: string | null }[])
      .flatMap(({ path, digest, ref }) => (ref === null ? [[path, digest] as const] : [])),
  )
  const find = async (path: string) => {
    const digest = digests.get(path)
    return digest === undefined ? null : findContent(database, project_id, digest)
  }
  await checkAdoptable(context, { id, aliases }, { modelId: model.id, find })
}

/** Makes a `lora` version a checkpoint of the model that has its artifact's name, unless it is a checkpoint already. */
export async function adoptIfModel(context: RunContext, artifact: ArtifactRecord): Promise<void> {
  if (artifact.type !== "lora" || artifact.checkpoint_id !== null) return
  const { database } = context
  const { id, project_id } = artifact
  const model = await findModelByName(database, project_id, artifact.collection)
  if (model === null) return
  const aliases = (await aliasesOf(database, [id]))
    .filter(({ collection_id }) => collection_id === artifact.collection_id)
    .map(({ alias }) => alias)
  await adoptVersion(context, { id, project_id, aliases }, model.id)
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
