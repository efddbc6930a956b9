/** The files of a checkpoint on their way to an engine on another machine and back. */
import path from "node:path"
import type { AdapterRef } from "../../wire/engine/chat.ts"
import type { CarriedAdapter, ContentFile } from "../../wire/engine/files.ts"
import type { EngineMethod } from "../../wire/engine/methods.ts"
import { EngineFailure, type EngineParams } from "../engine.ts"
import type { EngineConnection } from "../engine-connection.ts"
import { describeFile, type LocalFile, sendFiles } from "./file-transfer.ts"

export const adapterFiles = ["adapter_config.json", "adapter_model.safetensors"]
/** What a job starts from besides; only a model's newest checkpoints have it. */
export const optimizerFile = "optimizer.safetensors"

/** Has the engine hold those files of `names` that the adapter has. @throws {EngineFailure} */
export async function sendAdapter(
  connection: EngineConnection,
  { key, path: folder }: AdapterRef,
  names: readonly string[],
  signal?: AbortSignal,
): Promise<CarriedAdapter> {
  const files = await described(folder, names)
  await sendFiles(connection, files, signal)
  return { key, files: files.map(toContent) }
}

/** Those of the files that the folder has. @throws {EngineFailure} `not_found` where it is no adapter's. */
async function described(folder: string, names: readonly string[]): Promise<LocalFile[]> {
  const files: LocalFile[] = []
  for (const name of names) {
    const file = await describeFile(path.join(folder, name)).catch((error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT") return null
      throw error
    })
    if (file !== null) files.push(file)
    else if (name !== optimizerFile) throw new EngineFailure("not_found", `the checkpoint ${folder} has no ${name}`)
  }
  return files
}

function toContent({ name, sha256, size }: LocalFile): ContentFile {
  return { name, sha256, size }
}

/** @throws {EngineFailure} where these are not the files of the checkpoint that the engine says it made. */
export function requireManifest(files: readonly ContentFile[], { manifest_sha256 }: { manifest_sha256: string }): void {
  const manifest = files.find(({ name }) => name === "manifest.json")
  if (manifest?.sha256 === manifest_sha256) return
  throw new EngineFailure("internal", "the engine told of another checkpoint than it had made")
}

/** The types of the methods are those of an engine beside the server. */
export function inContent<M extends EngineMethod>(_method: M, params: object): EngineParams<M> {
  return params as EngineParams<M>
}
