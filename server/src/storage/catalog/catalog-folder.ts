/** The embedded catalog's folder: it is there whole, or not at all. */
import { PGlite } from "@electric-sql/pglite"
import { chmodSync, constants } from "node:fs"
import { cp, mkdir, readdir, realpath, rename, rm } from "node:fs/promises"
import path from "node:path"
import { namesIn } from "../file-system/names-in.ts"

/** The first file of every catalog. */
const versionFile = "PG_VERSION"

/**
 * Makes the folder of an empty catalog unless there is one. It is copied from `template`, which the
 * set-up made with the same PGlite and which takes milliseconds; without one `initdb` makes it, which
 * takes seconds of one core. A crash in between leaves nothing that the next start would take for a catalog.
 */
export async function ensureCatalogFolder(folder: string, template: string | null): Promise<void> {
  const names = await namesIn(folder)
  if (names.length > 0) {
    // Where it is missing, PGlite would begin a new catalog over what is there.
    if (!names.includes(versionFile)) throw damaged(folder, `it has no file ${versionFile}`)
    return
  }
  await mkdir(path.dirname(folder), { recursive: true })
  const unfinished = `${folder}.new`
  await rm(unfinished, { recursive: true, force: true })
  try {
    if (template === null || !(await copy(template, unfinished))) await initialize(unfinished)
    await closeToOthers(unfinished)
    await rename(unfinished, folder)
  } catch (error) {
    await rm(unfinished, { recursive: true, force: true })
    throw error
  }
}

/** A sentence for the operator. */
export function damaged(folder: string, why: string, cause?: Error): Error {
  const message = `the catalog in ${folder} cannot be opened: ${why}. Put a backup of the data folder in its place`
  return new Error(message, { cause })
}

/** false: the template cannot be read, is not there, or went away meanwhile; it lies in a cache that may be deleted at any time. */
async function copy(template: string, target: string): Promise<boolean> {
  try {
    // On file systems that support it, the copy shares the template's blocks.
    await cp(await realpath(template), target, { recursive: true, mode: constants.COPYFILE_FICLONE })
    return true
  } catch (error) {
    if (!["ENOENT", "EACCES"].includes((error as NodeJS.ErrnoException).code ?? "")) throw error
    await rm(target, { recursive: true, force: true })
    return false
  }
}

async function initialize(folder: string): Promise<void> {
  const pglite = await PGlite.create({ dataDir: folder })
  await pglite.close()
}

/**
 * PGlite gives its files mode 0666 whatever the umask is, and a copy has the modes of what was copied. The calls are
 * synchronous because a thousand of them then take 8 ms; through the thread pool they take 40.
 */
async function closeToOthers(folder: string): Promise<void> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  for (const entry of entries) {
    chmodSync(path.join(entry.parentPath, entry.name), entry.isDirectory() ? 0o700 : 0o600)
  }
  chmodSync(folder, 0o700)
}
