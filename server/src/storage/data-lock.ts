/** One server per data folder: the embedded stores must never be opened twice. */
import { mkdir, readFile, rm, writeFile } from "node:fs/promises"
import path from "node:path"
import { DatabaseSync } from "node:sqlite"

export interface DataLock {
  release: () => Promise<void>
}

/** @throws {Error} with a sentence for the operator when another live server holds the folder. */
export async function lockDataFolder(dataDir: string): Promise<DataLock> {
  await mkdir(dataDir, { recursive: true })
  const holder = path.join(dataDir, "lock")
  const lock = lockFile(path.join(dataDir, "lock.db"))
  if (lock === null) {
    throw new Error(
      `the data folder ${dataDir} is in use by another Heddle server${await processOf(holder)}. ` +
        "Stop that server, or choose another folder with --data-dir",
    )
  }
  await writeFile(holder, JSON.stringify({ pid: process.pid }), { mode: 0o600 })
  const release = async () => {
    await rm(holder, { force: true })
    lock.close()
  }
  return { release }
}

/** SQLite's code for a lock that somebody else has. */
const busy = 5

/**
 * A lock of the operating system, which SQLite takes the same way everywhere: it ends with the process, however
 * that ends, and holds between containers that share the folder, where process ids tell nothing. The file stays;
 * taking it away would let a third process lock another one of its name. null: another process has it.
 */
function lockFile(file: string): DatabaseSync | null {
  const database = new DatabaseSync(file)
  try {
    database.exec("begin exclusive")
    return database
  } catch (error) {
    database.close()
    if ((error as { errcode?: number }).errcode === busy) return null
    throw error
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
