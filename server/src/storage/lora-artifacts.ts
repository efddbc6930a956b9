/**
 * A checkpoint of a model is a version of the `lora` artifact of the model's name, and such a version that a client logs is
 * a checkpoint. Files are shared: a blob and the file of a checkpoint's folder are links to one content.
 */
import { createHash, randomUUID } from "node:crypto"
import { createReadStream } from "node:fs"
import { mkdir, open, readFile, rename, rm, stat } from "node:fs/promises"
import path from "node:path"
import { buffer } from "node:stream/consumers"
import { HeddleError, isPassing, isRefusal } from "../errors.ts"
import { isJsonObject } from "../json/parsed-json.ts"
import type { BlobStore } from "./blobs/blob-store.ts"
import { deleteArtifacts } from "./catalog/artifacts/artifact-changes.ts"
import { findFileAt, type StoredFile } from "./catalog/artifacts/artifact-entries.ts"
import { isBlobReferenced } from "./catalog/files/blob-references.ts"
import {
  adoptableStep,
  adoptArtifact,
  type AdoptedFolder,
  artifactsWithoutCheckpoint,
  type CheckpointFile,
  checkpointsWithoutArtifact,
  hasJobs,
  isCheckpoint,
  listCheckpointArtifact,
  type UnlistedCheckpoint,
  versionsToAdopt,
} from "./catalog/artifacts/checkpoint-artifacts.ts"
import type { CatalogDatabase } from "./catalog/open-catalog.ts"
import { inTurn } from "./in-turn.ts"
import { linkOrCopy } from "./file-system/link-or-copy.ts"

export interface LoraStores {
  database: CatalogDatabase
  blobs: BlobStore
}

/** The files that PEFT reads. */
const filenames = ["adapter_config.json", "adapter_model.safetensors"] as const
/** Settings of an adapter that a job creates: training-api 7.6. */
const initial = { r: 8, lora_alpha: 16 }
const targets = ["down_proj", "gate_proj", "k_proj", "o_proj", "q_proj", "up_proj", "v_proj"]

/** Lists the project's checkpoints that are no versions yet, and removes versions whose checkpoint was deleted. */
export function listCheckpoints(stores: LoraStores, projectId: string): Promise<void> {
  return inTurn(stores.database, projectId, () => list(stores, projectId))
}

async function list(stores: LoraStores, projectId: string): Promise<void> {
  const { database, blobs } = stores
  const gone = await artifactsWithoutCheckpoint(database, projectId)
  const ids = gone.map(({ id }) => id)
  await dropBlobs(stores, await deleteArtifacts(database, projectId, ids))
  for (const checkpoint of await checkpointsWithoutArtifact(database, projectId)) {
    const files = await filesOf(blobs, checkpoint)
    // It was deleted at this moment.
    if (files === null) continue
    try {
      await listCheckpointArtifact(database, checkpoint, files)
    } finally {
      for (const { sha256 } of files) blobs.release(sha256)
      await dropBlobs(
        stores,
        files.map(({ sha256 }) => sha256),
      )
    }
  }
}

async function dropBlobs({ database, blobs }: LoraStores, contents: readonly string[]): Promise<void> {
  for (const sha256 of new Set(contents)) await blobs.removeUnless(sha256, () => isBlobReferenced(database, sha256))
}

/** Held blobs of the PEFT folder; null: the folder is not there any more. */
async function filesOf(blobs: BlobStore, checkpoint: UnlistedCheckpoint): Promise<CheckpointFile[] | null> {
  const files: CheckpointFile[] = []
  try {
    for (const name of filenames) {
      files.push(
        checkpoint.path === null
          ? await initialFile(blobs, name, checkpoint.base_model)
          : await linkedFile(blobs, name, path.join(blobs.dataDir, checkpoint.path, name)),
      )
    }
    return files
  } catch (error) {
    for (const { sha256 } of files) blobs.release(sha256)
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null
    throw error
  }
}

/** Step 0 is the base model's own function: an adapter without any weights, which PEFT fills with its initial ones. */
async function initialFile(blobs: BlobStore, name: string, base: string): Promise<CheckpointFile> {
  const config = {
    peft_type: "LORA",
    task_type: "CAUSAL_LM",
    base_model_name_or_path: base,
    ...initial,
    lora_dropout: 0,
    bias: "none",
    fan_in_fan_out: false,
    target_modules: targets,
    inference_mode: true,
  }
  const header = Buffer.from('{"__metadata__":{"format":"pt"}}')
  const length = Buffer.alloc(8)
  length.writeBigUInt64LE(BigInt(header.length))
  const content =
    name === "adapter_config.json"
      ? Buffer.from(`${JSON.stringify(config, null, 2)}\n`)
      : Buffer.concat([length, header])
  const digest = createHash("md5").update(content).digest("base64")
  const { sha256, sizeBytes } = await blobs.put(once(content))
  return { path: name, digest, sha256, size_bytes: sizeBytes }
}

async function* once(content: Buffer): AsyncGenerator<Buffer> {
  yield content
}

async function linkedFile(blobs: BlobStore, name: string, file: string): Promise<CheckpointFile> {
  const temporary = blobs.temporaryPath()
  try {
    await linkOrCopy(file, temporary)
    const [md5, sha] = [createHash("md5"), createHash("sha256")]
    let size_bytes = 0
    for await (const chunk of createReadStream(temporary, { highWaterMark: 1024 * 1024 })) {
      md5.update(chunk as Buffer)
      sha.update(chunk as Buffer)
      size_bytes += (chunk as Buffer).length
    }
    const sha256 = sha.digest("hex")
    await blobs.adopt(temporary, sha256)
    return { path: name, digest: md5.digest("base64"), sha256, size_bytes }
  } finally {
    await rm(temporary, { force: true })
  }
}

export interface NamedVersion {
  id: string
  project_id: string
  aliases: readonly string[]
}

/**
 * Makes the committed version a checkpoint of the model: that of its first alias `stepN`, else the next. One that is a
 * checkpoint already stays what it is.
 * @throws {HeddleError} when it is no PEFT folder, or the model has that step.
 */
export function adoptVersion(stores: LoraStores, version: NamedVersion, modelId: string): Promise<void> {
  const { database } = stores
  return inTurn(database, modelId, async () => {
    if (await isCheckpoint(database, version.id)) return
    const find = (name: string) => findFileAt(database, version.id, name)
    await adopt(stores, version, { modelId, find, store: (write) => write(database) })
  })
}

/** Looks a file of the version up by its path, before or after it is committed. */
export type FindFile = (path: string) => Promise<StoredFile | null>

export interface Adopting<T> {
  modelId: string
  find: FindFile
  /** Calls `write` once, with its own transaction if it has one: what is stored beside the checkpoint is stored with it or not at all. */
  store: (write: (database: CatalogDatabase) => Promise<void>) => Promise<T>
}

/** Commits a version that becomes a checkpoint of the model: both, or neither. @throws {HeddleError} as {@link adoptVersion}. */
export function commitAdopted<T>(stores: LoraStores, version: NamedVersion, adopting: Adopting<T>): Promise<T> {
  return inTurn(stores.database, adopting.modelId, () => adopt(stores, version, adopting))
}

function stepIn(aliases: readonly string[]): number | null {
  const digits = aliases.map((alias) => /^step(\d{1,9})$/.exec(alias)?.[1]).find((step) => step !== undefined)
  return digits === undefined ? null : Number(digits)
}

async function adopt<T>(
  { database, blobs }: LoraStores,
  version: NamedVersion,
  { modelId, find, store }: Adopting<T>,
): Promise<T> {
  const adoption = { artifactId: version.id, modelId, step: stepIn(version.aliases) }
  const step = await adoptableStep(database, adoption)
  const { files, isInitial } = await adapterFiles(blobs, find)
  const write = (adopted: AdoptedFolder, place: () => Promise<void>) =>
    store((writer) => adoptArtifact(writer, version.project_id, adoption, adopted, place))
  if (isInitial) return write({ step, path: null, sizeBytes: 0, manifestSha256: null }, () => Promise.resolve())
  const folder = path.join("checkpoints", modelId, `step_${String(step).padStart(6, "0")}`)
  const target = path.join(blobs.dataDir, folder)
  const temporary = path.join(path.dirname(target), adoptionFolder(path.basename(target)))
  try {
    await mkdir(temporary, { recursive: true })
    for (const [name, { sha256 }] of files) await linkOrCopy(blobs.absolutePathOf(sha256), path.join(temporary, name))
    const entries = files.map(([name, { sha256, size_bytes }]) => [name, { size: size_bytes, sha256 }])
    const manifest = `${JSON.stringify({ files: Object.fromEntries(entries) as unknown }, null, 1)}\n`
    await writeSynced(path.join(temporary, "manifest.json"), manifest)
    const sizeBytes = files.reduce((sum, [, { size_bytes }]) => sum + size_bytes, Buffer.byteLength(manifest))
    const manifestSha256 = createHash("sha256").update(manifest).digest("hex")
    const adopted = { step, path: folder, sizeBytes, manifestSha256 }
    return await write(adopted, async () => {
      // An interrupted request may have left a folder under the name of a step that has no row.
      await rm(target, { recursive: true, force: true })
      await rename(temporary, target)
    })
  } finally {
    await rm(temporary, { recursive: true, force: true })
  }
}

/** The folder in which the files of a step come together until it has them all. */
function adoptionFolder(step: string): string {
  return `.${step}.adopt.${randomUUID()}.tmp`
}

/** Of those, a start finds what a kill left. */
export function isAdoptionFolder(name: string): boolean {
  return /^\.step_\d+\.adopt\.[^.]+\.tmp$/.test(name)
}

async function writeSynced(file: string, text: string): Promise<void> {
  const handle = await open(file, "w", 0o600)
  try {
    await handle.writeFile(text)
    await handle.sync()
  } finally {
    await handle.close()
  }
}

interface AdapterFiles {
  files: [string, StoredFile][]
  /** There are no weights in it, as in that of step 0: it is the base model's own function. */
  isInitial: boolean
}

/** @throws {HeddleError} `invalid_request` when PEFT could not read them. */
async function adapterFiles(blobs: BlobStore, find: FindFile): Promise<AdapterFiles> {
  const files: [string, StoredFile][] = []
  for (const name of filenames) {
    const file = await find(name)
    if (file === null) throw noAdapter(`it has no file "${name}"`)
    files.push([name, file])
  }
  const [[, config], [, weights]] = files as [[string, StoredFile], [string, StoredFile]]
  // It is read and parsed on the thread that serves everybody.
  if (config.size_bytes > mostConfigBytes) throw noAdapter(`its adapter_config.json has ${config.size_bytes} bytes`)
  checkConfig(await readFile(blobs.absolutePathOf(config.sha256), "utf8"))
  const tensors = await countTensors(blobs.absolutePathOf(weights.sha256))
  return { files, isInitial: tensors === 0 }
}

function checkConfig(text: string): void {
  let config: unknown
  try {
    config = JSON.parse(text)
  } catch {
    throw noAdapter("its adapter_config.json is not JSON")
  }
  const { peft_type: type, r } = (config ?? {}) as Record<string, unknown>
  if (type !== "LORA") throw noAdapter(`its peft_type is ${JSON.stringify(type)}, and "LORA" is what is served`)
  if (typeof r !== "number") throw noAdapter(`its rank r is ${JSON.stringify(r)}, which is no number`)
}

const mostHeaderBytes = 16 * 1024 * 1024
/** PEFT writes some hundred. */
const mostConfigBytes = 1024 * 1024

/** The header names every tensor with its place, so a file that is cut off is told by it. */
async function countTensors(file: string): Promise<number> {
  const { size } = await stat(file)
  const length = await buffer(createReadStream(file, { start: 0, end: 7 }))
  const bytes = length.length < 8 ? 0n : length.readBigUInt64LE()
  if (bytes === 0n || bytes > mostHeaderBytes || Number(bytes) + 8 > size) throw cutOff()
  const header = await buffer(createReadStream(file, { start: 8, end: 7 + Number(bytes) }))
  const ends = tensorEnds(header.toString("utf8"))
  const end = ends.reduce((last, one) => Math.max(last, one), 0)
  if (8 + Number(bytes) + end !== size) throw cutOff()
  return ends.length
}

/** One past the last byte of each tensor. @throws {HeddleError} */
function tensorEnds(header: string): number[] {
  let tensors: unknown
  try {
    tensors = JSON.parse(header)
  } catch {
    throw cutOff()
  }
  if (!isJsonObject(tensors)) throw cutOff()
  return Object.entries(tensors).flatMap(([name, tensor]) => {
    if (name === "__metadata__") return []
    const offsets: unknown = isJsonObject(tensor) ? tensor["data_offsets"] : null
    const end: unknown = Array.isArray(offsets) ? offsets[1] : null
    return typeof end === "number" ? [end] : [Infinity]
  })
}

function cutOff(): HeddleError {
  return noAdapter("its adapter_model.safetensors is not a whole safetensors file")
}

function noAdapter(reason: string): HeddleError {
  return new HeddleError(
    "invalid_request",
    `a model has the name of this artifact, so that a version of it is a checkpoint, and this one cannot be: ${reason}`,
  )
}

/**
 * Makes versions that were logged before their model was registered its checkpoints; those that cannot be stay what they
 * are. When it was interrupted it may run again, until a job of the model was made.
 */
export async function adoptEarlierVersions(
  stores: LoraStores,
  model: { id: string; projectId: string; name: string },
): Promise<void> {
  for (const { id, aliases } of await versionsToAdopt(stores.database, model)) {
    await adoptIfPossible(stores, { id, project_id: model.projectId, aliases }, model.id)
  }
}

/** Versions whose files are no adapter, which never changes: they are not read again. */
const noAdapters = new WeakMap<CatalogDatabase, Set<string>>()

/**
 * {@link adoptVersion} of one that was committed as no checkpoint: it stays what it is if it cannot be one, and once a job of
 * the model was made, as it would get between the steps that jobs make.
 */
export async function adoptIfPossible(stores: LoraStores, version: NamedVersion, modelId: string): Promise<void> {
  const { database } = stores
  const known = noAdapters.get(database) ?? new Set()
  if (known.has(version.id) || (await hasJobs(database, modelId))) return
  try {
    await adoptVersion(stores, version, modelId)
  } catch (error) {
    if (!isRefusal(error)) throw error
    const { code } = error
    if (isPassing(error)) throw error
    if (code === "invalid_request") noAdapters.set(database, known.add(version.id))
  }
}
