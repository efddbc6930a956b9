/** The folder that everything is stored in: made at the first start, and looked at before anything is opened in it. */
import { access, chmod, constants, mkdir, stat } from "node:fs/promises"
import path from "node:path"
import { HeddleError, saysDiskFull } from "../errors.ts"
import { isDiskFull } from "./file-system/disk-space.ts"

/** @throws {Error} with a sentence for the operator when the folder cannot be made or written to. */
export async function ensureDataFolder(dataDir: string): Promise<void> {
  try {
    await makeFolder(dataDir)
    await access(dataDir, constants.R_OK | constants.W_OK | constants.X_OK)
    await closeToOthers(dataDir)
  } catch (cause) {
    throw unusable(dataDir, cause)
  }
}

/** How a backup of the running server takes an entry of the folder; null: it needs none of it. */
type InBackup = "catalog" | "traces" | "linked" | "linked by content" | "copied" | null

/** What stands at the top of the folder. */
export const dataEntries: Readonly<Record<string, InBackup>> = {
  "arrived-calls": "copied",
  backups: null,
  "backup-in-progress": null,
  blobs: null,
  "blobs/sha256": "linked by content",
  catalog: "catalog",
  // What has moved into a server, as it was before.
  "catalog-moved": null,
  "checkpoint-exports": null,
  "checkpoint-imports": null,
  checkpoints: "linked",
  "job-origins": "linked",
  jobs: "copied",
  lock: null,
  "lock.db": null,
  "lock.db-journal": null,
  "server-secret": "copied",
  traces: "traces",
  "traces-moved": null,
  "traces-spool": null,
  "training-records": "copied",
  "usage-in-progress.jsonl": "copied",
}

/** Names of entries that a backup takes in this way. */
export function entriesTaken(how: InBackup): string[] {
  return Object.keys(dataEntries).filter((name) => dataEntries[name] === how)
}

const othersBits = 0o077
const stickyBit = 0o1000

/**
 * Takes the folder, and what Heddle keeps at its top, away from other users of the machine. What lies further down needs no
 * modes of its own then, and may have none: PGlite makes the catalog's files writable to all whatever the umask is.
 */
async function closeToOthers(dataDir: string): Promise<void> {
  // A folder such as /tmp belongs to everybody; only what Heddle keeps in it is its own.
  if (((await stat(dataDir)).mode & stickyBit) === 0) await close(dataDir)
  // Earlier versions left them open to every user of the machine.
  await Promise.all(Object.keys(dataEntries).map((name) => close(path.join(dataDir, name))))
}

async function close(file: string): Promise<void> {
  try {
    const { mode } = await stat(file)
    if ((mode & othersBits) !== 0) await chmod(file, mode & 0o7700)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    // Another user's folder, such as the root of a mounted volume, keeps the modes that its owner gave it.
    if (code !== "ENOENT" && code !== "EPERM") throw error
  }
}

/** SQLite's code for a full disk. */
const sqliteFull = 13

/** A sentence for the operator, of whatever the file system said. */
export function unusable(dataDir: string, cause: unknown): Error {
  const { message, code, errcode } = cause as NodeJS.ErrnoException & { errcode?: number }
  const isFull = saysDiskFull(code) || errcode === sqliteFull
  const wayOut = isFull ? "Make room on its disk, or choose another" : "Choose one that this user can write to,"
  return new Error(`the data folder ${dataDir} cannot be used: ${message}. ${wayOut} with --data-dir`, { cause })
}

/** The failure of a start; where a full disk may be behind it, as a sentence for the operator. */
export async function startFailure(dataDir: string, error: unknown): Promise<unknown> {
  const isAboutDisk = error instanceof HeddleError && error.code === "insufficient_storage"
  const isFull =
    isAboutDisk || saysDiskFull((error as NodeJS.ErrnoException).code) || (await isDiskFull(dataDir).catch(() => false))
  if (!isFull) return error
  const wayOut = "Make room on it, or choose another with --data-dir"
  return new Error(`the disk of the data folder ${dataDir} is full. ${wayOut}`, { cause: error })
}

/** Whether the error is the file system's answer about something in the folder. */
export function isAboutFolder(dataDir: string, error: unknown): boolean {
  const { syscall, path: file, dest } = error as NodeJS.ErrnoException & { dest?: string }
  return syscall !== undefined && [file, dest].some((name) => name?.startsWith(dataDir + path.sep))
}

/** As `mkdir -p`. Node's own (26.10) never ends where a folder that is there answers ENOENT, as /proc does. */
async function makeFolder(folder: string): Promise<void> {
  if (await isFolder(folder)) return
  const parent = path.dirname(folder)
  if (parent !== folder) await makeFolder(parent)
  await mkdir(folder, { mode: 0o700 }).catch(async (error: NodeJS.ErrnoException) => {
    if (error.code !== "EEXIST") throw error
    // Another process may have made it meanwhile.
    if (!(await isFolder(folder))) throw new Error(`${folder} is not a folder`)
  })
}

function isFolder(file: string): Promise<boolean> {
  return stat(file).then(
    (found) => found.isDirectory(),
    () => false,
  )
}
