/** Files to and from an engine on another machine, by their SHA-256, in pieces that leave room for chats between them. */
import { createHash } from "node:crypto"
import { createReadStream } from "node:fs"
import { mkdir, open, readdir, rename, rm, stat } from "node:fs/promises"
import path from "node:path"
import { type ContentFile, FILE_CHUNK_BYTES } from "../../wire/engine/files.ts"
import { EngineFailure } from "../engine.ts"
import type { EngineConnection } from "../engine-connection.ts"

export interface LocalFile extends ContentFile {
  path: string
}

/** So many pieces in a row that bring nothing end the transfer. */
const mostIdle = 5

/** Reads the whole file. `name`: what it is called in its folder. */
export async function describeFile(file: string, name = path.basename(file)): Promise<LocalFile> {
  const hash = createHash("sha256")
  let size = 0
  for await (const chunk of createReadStream(file, { highWaterMark: FILE_CHUNK_BYTES }) as AsyncIterable<Buffer>) {
    hash.update(chunk)
    size += chunk.length
  }
  return { name, path: file, sha256: hash.digest("hex"), size }
}

/** Sends those of the files that the engine lacks. @throws {EngineFailure} */
export async function sendFiles(
  connection: EngineConnection,
  files: readonly LocalFile[],
  signal: AbortSignal | undefined,
): Promise<void> {
  const wanted = new Map(files.map((file) => [file.sha256, file]))
  const { lacking } = await connection.call("files.lacking", { sha256: [...wanted.keys()] }, signal).result
  for (const { sha256, have } of lacking) {
    const file = wanted.get(sha256)
    if (file === undefined) continue
    await sendFile(connection, file, have, signal).catch((error: unknown) => {
      // What had come before may have been another's: the engine has forgotten it.
      if (have === 0 || !isOtherContent(error)) throw error
      return sendFile(connection, file, 0, signal)
    })
  }
}

function isOtherContent(error: unknown): boolean {
  return error instanceof EngineFailure && error.kind === "invalid" && error.param === "sha256"
}

async function sendFile(
  connection: EngineConnection,
  { path: file, sha256, size }: LocalFile,
  have: number,
  signal: AbortSignal | undefined,
): Promise<void> {
  const handle = await open(file)
  try {
    const buffer = Buffer.allocUnsafe(FILE_CHUNK_BYTES)
    let offset = have
    for (let idle = 0; idle < mostIdle;) {
      const { bytesRead } = await handle.read(buffer, 0, Math.min(FILE_CHUNK_BYTES, size - offset), offset)
      const data = buffer.toString("base64", 0, bytesRead)
      const answer = await connection.call("file.put", { sha256, size, offset, data }, signal).result
      if (answer.stored) return
      // Two servers may send one file; both go on where it ends.
      idle = answer.have > offset ? 0 : idle + 1
      offset = answer.have
    }
    throw new EngineFailure("unavailable", `${file} stopped at ${offset} of ${size} bytes on its way to the engine`)
  } finally {
    await handle.close()
  }
}

/**
 * Makes the folder `output` of files that the engine has; it appears whole or not at all. Until then its name has `owner` in
 * it, so that a transfer that is made again goes on with what is there.
 * @throws {EngineFailure}
 */
export async function fetchFolder(
  connection: EngineConnection,
  files: readonly ContentFile[],
  { output, owner }: { output: string; owner: string },
  signal: AbortSignal | undefined,
): Promise<void> {
  const parent = path.dirname(output)
  const temporary = path.join(parent, `.${path.basename(output)}.${owner}.tmp`)
  await mkdir(temporary, { recursive: true })
  const named = new Set(files.map(({ name }) => name))
  for (const name of await readdir(temporary)) if (!named.has(name)) await rm(path.join(temporary, name))
  for (const file of files) {
    requirePlainName(file.name)
    await fetchFile(connection, file, path.join(temporary, file.name), signal)
  }
  await sync(temporary)
  await rm(output, { recursive: true, force: true })
  await rename(temporary, output)
  await sync(parent)
}

/** No name from another machine leads out of the folder. */
function requirePlainName(name: string): void {
  if (/^[a-z0-9_-]+(\.[a-z0-9_-]+)*$/i.test(name)) return
  throw new EngineFailure("internal", `the engine calls a file ${JSON.stringify(name)}`)
}

/** @throws {EngineFailure} when the engine lacks the file, or another content comes. */
export async function fetchFile(
  connection: EngineConnection,
  { sha256, size }: ContentFile,
  target: string,
  signal: AbortSignal | undefined,
): Promise<void> {
  if (await isThere(target, { sha256, size })) return
  const handle = await open(target, "w", 0o600)
  const hash = createHash("sha256")
  try {
    for (let offset = 0; offset < size;) {
      const { data } = await connection.call("file.get", { sha256, offset }, signal).result
      const piece = Buffer.from(data, "base64")
      if (piece.length === 0) throw new EngineFailure("unavailable", `the engine's file ${sha256} ends early`)
      hash.update(piece)
      await handle.writeFile(piece)
      offset += piece.length
    }
    await handle.sync()
  } finally {
    await handle.close()
  }
  if (hash.digest("hex") === sha256) return
  await rm(target)
  throw new EngineFailure("unavailable", `the engine's file ${sha256} came with another content`)
}

async function isThere(file: string, { sha256, size }: { sha256: string; size: number }): Promise<boolean> {
  const found = await stat(file).catch(() => null)
  return found?.size === size && (await describeFile(file)).sha256 === sha256
}

async function sync(folder: string): Promise<void> {
  const handle = await open(folder)
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
