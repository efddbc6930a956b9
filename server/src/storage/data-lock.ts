/** One server per data folder: the embedded stores must never be opened twice. */
import { readFile, rm, writeFile } from "node:fs/promises"
import path from "node:path"
import { DatabaseSync } from "node:sqlite"
import { ensureDataFolder, unusable } from "./data-folder.ts"

export interface DataLock {
  release: () => Promise<void>
}

/** @throws {Error} with a sentence for the operator when another live server holds the folder, or it cannot be used. */
export async function lockDataFolder(dataDir: string): Promise<DataLock> {
  await ensureDataFolder(dataDir)
  const holder = path.join(dataDir, "lock")
  const lock = lockFile(dataDir)
  if (lock === null) {
    throw new Error(
      `the data folder ${dataDir} is in use by another Heddle server${await processOf(holder)}. ` +
        "Stop that server, or choose another folder with --data-dir",
    )
  }
  held.add(lock)
  const release = async () => {
    await rm(holder, { force: true })
    held.delete(lock)
    lock.close()
  }
  try {
    await writeFile(holder, JSON.stringify({ pid: process.pid }), { mode: 0o600 })
  } catch (cause) {
    await release()
    throw unusable(dataDir, cause)
  }
  return { release }
}

/** A lock that nothing refers to would end with the next garbage collection. */
const held = new Set<DatabaseSync>()

/** SQLite's code for a lock that somebody else has. */
const busy = 5

/**
 * A lock of the operating system, which SQLite takes the same way everywhere: it ends with the process, however
 * that ends, and holds between containers that share the folder, where process ids tell nothing. The file stays;
 * taking it away would let a third process lock another one of its name. null: another process has it.
 */
function lockFile(dataDir: string): DatabaseSync | null {
  let database: DatabaseSync | null = null
  try {
    database = new DatabaseSync(path.join(dataDir, "lock.db"))
    database.exec("begin exclusive")
    return database
  } catch (cause) {
    database?.close()
    if ((cause as { errcode?: number }).errcode === busy) return null
    throw unusable(dataDir, cause)
  }
}

/** Empty when the holder has not said yet who it is. */
async function processOf(holder: string): Promise<string> {
  try {
    const { pid } = JSON.parse(await readFile(holder, "utf8")) as { pid?: unknown }
    return typeof pid === "number" ? ` (process ${pid})` : ""
  } catch {
    return ""
  }
}
