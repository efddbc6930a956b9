/** One server per data folder: the embedded stores must never be opened twice. */
import { mkdir, open, readFile, rm } from "node:fs/promises"
import path from "node:path"

export interface DataLock {
  release: () => Promise<void>
}

interface Holder {
  pid: number
  /** When that process began, in the system's own count; tells a reused pid from the holder. Empty where unknown. */
  started: string
}

/** @throws {Error} with a sentence for the operator when another live server holds the folder. */
export async function lockDataFolder(dataDir: string): Promise<DataLock> {
  await mkdir(dataDir, { recursive: true })
  const file = path.join(dataDir, "lock")
  const mine: Holder = { pid: process.pid, started: await startOf(process.pid) }
  while (!(await writeNew(file, mine))) {
    const holder = await readHolder(file)
    if (holder !== null && (await isAlive(holder))) {
      throw new Error(
        `the data folder ${dataDir} is in use by another Heddle server (process ${holder.pid}). ` +
          "Stop that server, or choose another folder with --data-dir",
      )
    }
    await rm(file, { force: true })
  }
  return { release: () => rm(file, { force: true }) }
}

async function writeNew(file: string, holder: Holder): Promise<boolean> {
  try {
    const handle = await open(file, "wx", 0o600)
    await handle.writeFile(JSON.stringify(holder))
    await handle.close()
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false
    throw error
  }
}

/** null: the lock is gone, or was torn by a crash while being written. */
async function readHolder(file: string): Promise<Holder | null> {
  try {
    const holder = JSON.parse(await readFile(file, "utf8")) as Partial<Holder>
    return typeof holder.pid === "number" ? { pid: holder.pid, started: holder.started ?? "" } : null
  } catch {
    return null
  }
}

async function isAlive(holder: Holder): Promise<boolean> {
  if (holder.pid === process.pid && holder.started !== (await startOf(process.pid))) return false
  try {
    process.kill(holder.pid, 0)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ESRCH") return false
  }
  const started = await startOf(holder.pid)
  return started === "" || holder.started === "" || started === holder.started
}

/** Field 22 of `/proc/<pid>/stat`; the name before it may hold blanks, so count from its closing bracket. */
async function startOf(pid: number): Promise<string> {
  try {
    const stat = await readFile(`/proc/${pid}/stat`, "utf8")
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19] ?? ""
  } catch {
    return ""
  }
}
