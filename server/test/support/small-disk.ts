/** A file system of its own for a test, small enough to be filled. Only root may mount one. */
import { execFileSync } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { open, rm, truncate } from "node:fs/promises"
import { tmpdir } from "node:os"
import path from "node:path"

/** Its folder; null where none can be mounted, which is printed. */
export function mountDisk(megabytes: number): string | null {
  const folder = mkdtempSync(path.join(tmpdir(), "heddle-disk-"))
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", `size=${megabytes}m`, "tmpfs", folder], { stdio: "pipe" })
    return folder
  } catch (error) {
    process.stdout.write(`skipped, because no file system can be mounted here: ${(error as Error).message}\n`)
    rmSync(folder, { recursive: true })
    return null
  }
}

/** Also where a process still has files there. */
export function unmountDisk(folder: string): void {
  execFileSync("umount", ["--lazy", folder])
  rmSync(folder, { recursive: true })
}

const pageBytes = 4096

/** Fills `folder`'s disk but for `leftBytes`, in whole pages; returns a function that makes room again. */
export async function fillDisk(folder: string, leftBytes = 0): Promise<() => Promise<void>> {
  const file = path.join(folder, "filler")
  const handle = await open(file, "w")
  let filled = 0
  for (let bytes = 1024 * 1024; bytes >= 1;) {
    const { bytesWritten } = await handle.write(Buffer.alloc(bytes)).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== "ENOSPC") throw error
      return { bytesWritten: 0 }
    })
    filled += bytesWritten
    if (bytesWritten < bytes) bytes = Math.floor(bytes / 2)
  }
  await handle.close()
  if (leftBytes > 0) await truncate(file, Math.floor((filled - leftBytes) / pageBytes) * pageBytes)
  return () => rm(file)
}
