/** A finished copy: whether it is on the disk, and how large it is. */
import { execFile } from "node:child_process"
import { lstat, open, readdir } from "node:fs/promises"
import path from "node:path"
import { promisify } from "node:util"
import { namesIn } from "../file-system/names-in.ts"
import { noneIfGone } from "../file-system/none-if-gone.ts"
import { syncFolder } from "../file-system/sync-folder.ts"

/**
 * Returns once the folder and all in it are on the disk. Where it can, the system writes all of the file system at once: file by
 * file, each waits for the disk by itself, and there are thousands.
 */
export async function settle(folder: string, signal: AbortSignal): Promise<void> {
  if (!(await syncFileSystem(folder))) await settleEach(folder, signal)
}

/** false: there is no such program, or it knows no such option. */
function syncFileSystem(folder: string): Promise<boolean> {
  // Elsewhere the program takes the option, and does not wait.
  if (process.platform !== "linux") return Promise.resolve(false)
  return promisify(execFile)("sync", ["-f", folder]).then(
    () => true,
    () => false,
  )
}

async function settleEach(folder: string, signal: AbortSignal): Promise<void> {
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    signal.throwIfAborted()
    const name = path.join(folder, entry.name)
    if (entry.isDirectory()) await settleEach(name, signal)
    else if (entry.isFile()) await syncFile(name)
  }
  await syncFolder(folder)
}

async function syncFile(file: string): Promise<void> {
  const handle = await open(file, "r")
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/** Bytes of a file, or of the files in a folder; 0: it is not there. Links lead to what is counted already. */
export async function bytesOf(file: string): Promise<number> {
  const found = await lstat(file).catch(noneIfGone)
  if (found === null) return 0
  if (!found.isDirectory()) return found.isFile() ? found.size : 0
  let bytes = 0
  for (const name of await namesIn(file)) bytes += await bytesOf(path.join(file, name))
  return bytes
}
