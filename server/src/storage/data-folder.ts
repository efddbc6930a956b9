/** The folder that everything is stored in: made at the first start, and looked at before anything is opened in it. */
import { access, constants, mkdir, stat } from "node:fs/promises"
import path from "node:path"
import { saysDiskFull } from "../errors.ts"

/** @throws {Error} with a sentence for the operator when the folder cannot be made or written to. */
export async function ensureDataFolder(dataDir: string): Promise<void> {
  try {
    await makeFolder(dataDir)
    await access(dataDir, constants.R_OK | constants.W_OK | constants.X_OK)
  } catch (cause) {
    throw unusable(dataDir, cause)
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

/** Whether it is the file system's word on something in the folder. */
export function isAboutFolder(dataDir: string, error: unknown): boolean {
  const { syscall, path: file, dest } = error as NodeJS.ErrnoException & { dest?: string }
  return syscall !== undefined && [file, dest].some((name) => name?.startsWith(dataDir + path.sep))
}

/** As `mkdir -p`. Node's own (26.10) never ends where a folder that is there answers ENOENT, as /proc does. */
async function makeFolder(folder: string): Promise<void> {
  if (await isFolder(folder)) return
  const parent = path.dirname(folder)
  if (parent !== folder) await makeFolder(parent)
  await mkdir(folder).catch(async (error: NodeJS.ErrnoException) => {
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
