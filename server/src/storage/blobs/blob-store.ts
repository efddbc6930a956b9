/**
 * Content-addressed files: `blobs/sha256/<first two>/<hex>`. A blob is written under a temporary
 * name, synced and renamed, so a name that exists holds the whole content.
 */
import { createHash, type Hash, randomUUID } from "node:crypto"
import { createReadStream, type ReadStream } from "node:fs"
import { type FileHandle, mkdir, open, opendir, readdir, rename, rm, stat } from "node:fs/promises"
import path from "node:path"
import { toTheEnd } from "../../work/work-scope.ts"
import { requireFreeBytes } from "../file-system/disk-space.ts"
import { BlobHolds } from "./blob-holds.ts"
import { syncFolder } from "../file-system/sync-folder.ts"

export interface StoredBlob {
  sha256: string
  sizeBytes: number
}

const blobName = /^[0-9a-f]{64}$/
const listedAtOnce = 500
/**
 * Bytes that files leave free for the catalog and the traces, which need some to remove anything. A store that finds no room in
 * the middle of its work may lose what it had stored.
 */
const spareBytes = 16 * 1024 ** 2
/** Bytes that are written between two looks at the room that is left. */
const uncheckedBytes = 4 * 1024 ** 2
/** Bytes that are read at a time of a file that is read through. Their digests hold the event loop up for two milliseconds. */
const pieceBytes = 1024 * 1024

export class BlobStore {
  /** The data folder; blob paths in the catalog are relative to it. */
  readonly dataDir: string
  readonly #temporary: string
  readonly #content: string
  readonly #holds = new BlobHolds()
  /** Folders of {@link #content} that are there, and on the disk. None is ever removed. */
  readonly #syncedFolders = new Set<string>()

  private constructor(dataDir: string) {
    this.dataDir = dataDir
    this.#temporary = path.join(dataDir, "blobs", "tmp")
    this.#content = path.join(dataDir, "blobs", "sha256")
  }

  /** Clears what a crash left half written; the data folder's lock keeps other writers away. */
  static async open(dataDir: string): Promise<BlobStore> {
    const store = new BlobStore(dataDir)
    await rm(store.#temporary, { recursive: true, force: true })
    await mkdir(store.#temporary, { recursive: true })
    await mkdir(store.#content, { recursive: true })
    return store
  }

  /** Relative to the data folder. */
  pathOf(sha256: string): string {
    return path.join("blobs", "sha256", sha256.slice(0, 2), sha256)
  }

  absolutePathOf(sha256: string): string {
    return path.join(this.dataDir, this.pathOf(sha256))
  }

  /** A fresh name in the same file system, for a writer that ends with {@link adopt} or removes it. */
  temporaryPath(): string {
    return path.join(this.#temporary, randomUUID())
  }

  /**
   * Makes the finished file `temporary` the blob `sha256`; the caller has hashed and synced it. The
   * blob is held: call {@link release} once a row refers to it, or nobody wants it any more.
   */
  async adopt(temporary: string, sha256: string): Promise<void> {
    await this.#holds.hold(sha256)
    try {
      await this.#rename(temporary, sha256)
    } catch (error) {
      this.#holds.release(sha256)
      throw error
    }
  }

  async #rename(temporary: string, sha256: string): Promise<void> {
    const target = this.absolutePathOf(sha256)
    const folder = path.dirname(target)
    const isSynced = this.#syncedFolders.has(folder)
    if (!isSynced) await mkdir(folder, { recursive: true })
    await rename(temporary, target)
    await syncFolder(folder)
    if (isSynced) return
    await syncFolder(path.dirname(folder))
    this.#syncedFolders.add(folder)
  }

  /**
   * Stores a stream and holds the blob as {@link adopt} does. When it fails, nothing is left. `hashes` are updated with the
   * content too. A chunk is not read after the next one was asked for.
   */
  async put(content: AsyncIterable<Uint8Array>, ...hashes: Hash[]): Promise<StoredBlob> {
    const temporary = this.temporaryPath()
    try {
      const blob = await writeHashed(temporary, content, hashes)
      await this.adopt(temporary, blob.sha256)
      return blob
    } catch (error) {
      await rm(temporary, { force: true })
      throw error
    }
  }

  /** Every blob, some hundreds at a time, in no order; the folders are read as they are walked. */
  async *list(): AsyncGenerator<string[]> {
    let batch: string[] = []
    for (const folder of await readdir(this.#content)) {
      for await (const { name } of await opendir(path.join(this.#content, folder))) {
        if (!blobName.test(name)) continue
        batch.push(name)
        if (batch.length < listedAtOnce) continue
        yield batch
        batch = []
      }
    }
    if (batch.length > 0) yield batch
  }

  /** Whether the blob is there and was written before `time`. */
  async isOlder(sha256: string, time: Date): Promise<boolean> {
    return stat(this.absolutePathOf(sha256)).then(
      ({ mtime }) => mtime < time,
      () => false,
    )
  }

  /** The size in bytes. Rejects when the blob is not there. */
  async sizeOf(sha256: string): Promise<number> {
    return (await stat(this.absolutePathOf(sha256))).size
  }

  /** `end` is the last byte's place. */
  read(sha256: string, part: { start?: number; end?: number } = {}): ReadStream {
    return createReadStream(this.absolutePathOf(sha256), part)
  }

  /** The content piece by piece in one buffer: each piece holds until the next one is asked for. */
  async *readThrough(sha256: string): AsyncGenerator<Uint8Array> {
    const buffer = Buffer.allocUnsafeSlow(pieceBytes)
    const handle = await open(this.absolutePathOf(sha256), "r")
    try {
      for (;;) {
        const { bytesRead } = await handle.read(buffer, 0, buffer.length)
        if (bytesRead === 0) return
        yield buffer.subarray(0, bytesRead)
      }
    } finally {
      await handle.close()
    }
  }

  async has(sha256: string): Promise<boolean> {
    return stat(this.absolutePathOf(sha256)).then(
      () => true,
      () => false,
    )
  }

  /** Holds a blob that is there already; false: it is not. */
  async hold(sha256: string): Promise<boolean> {
    await this.#holds.hold(sha256)
    if (await this.has(sha256)) return true
    this.#holds.release(sha256)
    return false
  }

  release(sha256: string): void {
    this.#holds.release(sha256)
  }

  /** Removes the blob unless it is held or `isNeeded` says yes, asked while nobody can take hold. Returns whether it is gone. */
  removeUnless(sha256: string, isNeeded: () => Promise<boolean>): Promise<boolean> {
    return this.#holds.removing(sha256, async () => {
      // Nobody else would look for it so soon if the client has left.
      if (await toTheEnd(isNeeded)) return false
      await rm(this.absolutePathOf(sha256), { force: true })
      return true
    })
  }
}

async function writeHashed(
  file: string,
  content: AsyncIterable<Uint8Array>,
  hashes: readonly Hash[],
): Promise<StoredBlob> {
  const sha256 = createHash("sha256")
  const handle = await open(file, "wx", 0o600)
  try {
    const sizeBytes = await copyHashed(path.dirname(file), handle, [sha256, ...hashes], content)
    await handle.sync()
    return { sha256: sha256.digest("hex"), sizeBytes }
  } finally {
    await handle.close()
  }
}

/** Returns the number of bytes. @throws {HeddleError} `insufficient_storage` */
async function copyHashed(
  folder: string,
  handle: FileHandle,
  hashes: readonly Hash[],
  content: AsyncIterable<Uint8Array>,
): Promise<number> {
  let sizeBytes = 0
  let checkedBytes = -Infinity
  for await (const chunk of content) {
    if (sizeBytes + chunk.length > checkedBytes + uncheckedBytes) {
      await requireFreeBytes(folder, spareBytes + chunk.length + uncheckedBytes)
      checkedBytes = sizeBytes
    }
    // The system writes on another thread meanwhile.
    const written = handle.writeFile(chunk)
    for (const hash of hashes) hash.update(chunk)
    sizeBytes += chunk.length
    await written
  }
  return sizeBytes
}
