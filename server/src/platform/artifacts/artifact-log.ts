/** Mutations by which a client logs an artifact, in the order in which it sends them: platform-wandb 9.2. */
import { ensureProjectWithoutRoom } from "../../access/project-access.ts"
import { HeddleError } from "../../errors.ts"
import { claimFiles } from "../../storage/catalog/artifacts/artifact-contents.ts"
import { createArtifact, type TimeToLive } from "../../storage/catalog/artifacts/artifact-create.ts"
import {
  ensureManifest,
  findManifest,
  type ManifestRecord,
  updateManifest,
} from "../../storage/catalog/artifacts/artifact-manifests.ts"
import { ensureUpload, findUpload, partsOf, removeUpload } from "../../storage/catalog/artifacts/artifact-uploads.ts"
import type { ArtifactRecord } from "../../storage/catalog/artifacts/artifacts.ts"
import { findProject } from "../../storage/catalog/accounts/projects.ts"
import { findRun } from "../../storage/catalog/runs/runs.ts"
import { isStorable } from "../../storage/catalog/storable-text.ts"
import { listCheckpoints } from "../../storage/lora-artifacts.ts"
import { usageOf } from "../../storage/team-usage.ts"
import {
  artifactIdInput,
  completeUploadInput,
  createArtifactInput,
  createFilesInput,
  createManifestInput,
  updateManifestInput,
} from "../../wire/platform/artifact-inputs.ts"
import { checkedInput, checkedProjectName } from "../runs/checked-input.ts"
import { defaultProject } from "../runs/run-access.ts"
import type { RunContext } from "../runs/run-context.ts"
import { dropBlobs } from "../runs/run-dependencies.ts"
import { globalId, localId } from "../runs/run-ids.ts"
import { requireEntity, requirePending, teamOf } from "./artifact-access.ts"
import { adoptIfModel, commitPending } from "./artifact-committing.ts"
import { addressOf, storagePath } from "./artifact-files.ts"
import { describeArtifact } from "./artifact-node.ts"
import { joinParts } from "./artifact-storing.ts"

interface Given {
  input?: unknown
}

export function artifactLogMutations(context: RunContext) {
  const { database } = context
  return {
    createArtifact: async ({ input }: Given) => ({ artifact: describeArtifact(context, await create(context, input)) }),
    createArtifactManifest: async ({ input }: Given) => {
      const given = checkedInput("createArtifactManifest", createManifestInput, input)
      const artifact = await requirePending(context, given.artifactID)
      const manifest = await ensureManifest(database, {
        artifact_id: artifact.id,
        type: given.type ?? "FULL",
        base_id: localId("Artifact", given.baseArtifactID),
        digest: given.digest,
      })
      return { artifactManifest: describeManifest(context, artifact.project_id, manifest) }
    },
    updateArtifactManifest: async ({ input }: Given) => {
      const given = checkedInput("updateArtifactManifest", updateManifestInput, input)
      const { id, projectId } = await requireManifest(context, given.artifactManifestID)
      const base = localId("Artifact", given.baseArtifactID)
      const updated = await updateManifest(database, id, {
        ...(given.digest ? { digest: given.digest } : {}),
        ...(base === null ? {} : { base_id: base }),
      })
      if (updated === null) throw noSuchManifest(given.artifactManifestID)
      return { artifactManifest: describeManifest(context, projectId, updated) }
    },
    createArtifactFiles: async ({ input }: Given) => {
      const { artifactFiles } = checkedInput("createArtifactFiles", createFilesInput, input)
      return { files: { edges: await requestedFiles(context, artifactFiles) } }
    },
    completeMultipartUploadArtifact: async ({ input }: Given) => {
      const given = checkedInput("completeMultipartUploadArtifact", completeUploadInput, input)
      return { digest: await completeUpload(context, given) }
    },
    commitArtifact: async ({ input }: Given) => {
      const { artifactID } = checkedInput("commitArtifact", artifactIdInput, input)
      return { artifact: describeArtifact(context, await commitPending(context, artifactID)) }
    },
  }
}

async function create(context: RunContext, input: unknown): Promise<ArtifactRecord> {
  const given = checkedInput("createArtifact", createArtifactInput, input)
  const { database, principal } = context
  const collection = given.artifactCollectionName ?? given.artifactCollectionNames?.[0]
  if (!collection) throw new HeddleError("bad_request", "createArtifact: artifactCollectionName: is missing")
  const entity = requireEntity(context, given.entityName)
  await usageOf(database)?.requireRoom(entity)
  const project = checkedProjectName("createArtifact", "projectName", given.projectName || defaultProject)
  const found = await findProject(database, entity.id, project)
  const { id: projectId } = await ensureProjectWithoutRoom(database, principal, `${entity.name}/${project}`)
  const runId = given.runName ? await runNamed(context, found, given.runName) : null
  if (given.artifactTypeName === "lora" && found !== null) await listCheckpoints(context, found)
  const artifact = await createArtifact(database, {
    projectId,
    type: given.artifactTypeName,
    collection,
    digest: given.digest,
    aliases: (given.aliases ?? []).map(({ alias }) => alias),
    tags: (given.tags ?? []).map(({ tagName }) => tagName),
    description: given.description ?? null,
    metadata: given.metadata ?? null,
    ttl: timeToLive(given.ttlDurationSeconds),
    historyStep: given.historyStep ?? null,
    runId,
    userId: principal.userId,
    clientId: given.clientID || null,
    distributedId: given.distributedID || null,
    deduplicates: given.enableDigestDeduplication === true,
  })
  // A version that already exists gets no commit of its own.
  if (artifact.state === "committed") await adoptIfModel(context, artifact)
  return artifact
}

async function runNamed({ database }: RunContext, projectId: string | null, name: string): Promise<string> {
  const run = projectId === null || !isStorable(name) ? null : await findRun(database, projectId, name)
  if (run === null) throw new HeddleError("not_found", `createArtifact: runName: the project has no run "${name}"`)
  return run.id
}

/** −1: as its collection; −2: it stays. A collection has no time of its own here. */
export function timeToLive(seconds: number | null | undefined): TimeToLive {
  if (seconds === null || seconds === undefined || seconds === -1) return { ttl_seconds: null, ttl_is_inherited: true }
  return { ttl_seconds: seconds <= 0 ? null : seconds, ttl_is_inherited: false }
}

function noSuchManifest(id: string): HeddleError {
  return new HeddleError(
    "not_found",
    `no manifest of the id "${id}": its artifact was deleted, or you are not in its team`,
  )
}

/** Finds the manifest of an uncommitted artifact that the caller may change. */
async function requireManifest(context: RunContext, id: string): Promise<{ id: string; projectId: string }> {
  const local = localId("ArtifactManifest", id)
  const manifest = local === null ? null : await findManifest(context.database, local)
  if (manifest === null) throw noSuchManifest(id)
  try {
    const artifact = await requirePending(context, globalId("Artifact", manifest.artifact_id))
    return { id: manifest.id, projectId: artifact.project_id }
  } catch (error) {
    throw error instanceof HeddleError && error.code === "not_found" ? noSuchManifest(id) : error
  }
}

function describeManifest(context: RunContext, projectId: string, { id, digest }: ManifestRecord) {
  return {
    id: globalId("ArtifactManifest", id),
    file: {
      id: globalId("ArtifactFile", id),
      name: "wandb_manifest.json",
      displayName: "wandb_manifest.json",
      uploadUrl: () => addressOf(context, projectId, { use: "manifest", id, what: digest }),
      uploadHeaders: digest === "" ? [] : [`Content-MD5:${digest}`, "Content-Type:application/json"],
    },
  }
}

type FileInputs = ReturnType<typeof createFilesInput.parse>["artifactFiles"]

/** An answer for each, in their order: platform-wandb 9.2. */
async function requestedFiles(context: RunContext, files: FileInputs) {
  const artifacts = new Map<string, ArtifactRecord>()
  const known = new Map<string, Set<string>>()
  for (const id of new Set(files.map(({ artifactID }) => artifactID))) {
    const artifact = await requirePending(context, id)
    await usageOf(context.database)?.requireRoom(teamOf(artifact))
    const own = files.filter(({ artifactID }) => artifactID === id)
    const requested = own.map(({ name, md5 }) => ({ path: name, digest: md5 }))
    artifacts.set(id, artifact)
    known.set(id, await claimFiles(context.database, artifact, requested))
  }
  const edges: { node: object }[] = []
  for (const file of files) {
    const artifact = artifacts.get(file.artifactID) as ArtifactRecord
    const isStored = known.get(file.artifactID)?.has(file.md5) === true
    edges.push({ node: await describeRequested(context, artifact, file, isStored) })
  }
  return edges
}

async function describeRequested(
  context: RunContext,
  artifact: ArtifactRecord,
  { name, md5, uploadPartsInput }: FileInputs[number],
  isStored: boolean,
) {
  const described = {
    id: globalId("ArtifactFile", `${artifact.id}/${name}`),
    name,
    displayName: name,
    storagePath: storagePath(artifact, md5),
    uploadHeaders: [`Content-MD5:${md5}`, "Content-Type:application/octet-stream"],
    artifact: { id: globalId("Artifact", artifact.id) },
  }
  if (isStored) return { ...described, uploadUrl: null, uploadHeaders: [], uploadMultipartUrls: null }
  const uploadUrl = addressOf(context, artifact.project_id, { use: "file", id: artifact.id, what: md5 })
  if (!uploadPartsInput || uploadPartsInput.length === 0) return { ...described, uploadUrl, uploadMultipartUrls: null }
  const requested = uploadPartsInput.map(({ partNumber, hexMD5 }) => ({ number: partNumber, md5: hexMD5 }))
  const { id, dropped } = await ensureUpload(context.database, artifact, md5, requested)
  await dropBlobs(context, dropped)
  const uploadUrlParts = requested.map(({ number }) => ({
    partNumber: number,
    uploadUrl: addressOf(context, artifact.project_id, { use: "part", id, what: String(number) }),
  }))
  const uploadMultipartUrls = { uploadID: globalId("ArtifactUpload", id), uploadUrlParts }
  return { ...described, uploadUrl, uploadHeaders: ["Content-Type:application/octet-stream"], uploadMultipartUrls }
}

/** The digest of the whole file, which is stored then. */
async function completeUpload(
  context: RunContext,
  { artifactID, uploadID, completedParts, completeMultipartAction }: ReturnType<typeof completeUploadInput.parse>,
): Promise<string> {
  const { database } = context
  const artifact = await requirePending(context, artifactID)
  const local = localId("ArtifactUpload", uploadID)
  const upload = local === null ? null : await findUpload(database, local)
  if (upload === null || upload.artifact_id !== artifact.id) {
    throw new HeddleError("not_found", `no upload "${uploadID}" of this artifact: ask for the file's addresses again`)
  }
  if (completeMultipartAction === "Complete") {
    const parts = new Map((await partsOf(database, upload.id)).map((part) => [part.number, part]))
    const stored = completedParts.map(({ partNumber, hexMD5 }) => {
      const part = parts.get(partNumber)
      if (part?.sha256 && part.md5 === hexMD5) return part.sha256
      throw new HeddleError("invalid_request", `part ${partNumber} of the file, of the MD5 ${hexMD5}, was not stored`)
    })
    await joinParts(context, artifact, upload.digest, stored)
  }
  await dropBlobs(context, await removeUpload(database, upload))
  return upload.digest
}
