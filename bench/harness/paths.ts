/** Folders of the repository that the benchmarks use. */
import { mkdtempSync, rmSync } from "node:fs"
import os from "node:os"
import path from "node:path"

export const root = path.resolve(import.meta.dirname, "../..")
export const fromRoot = (...parts: string[]) => path.join(root, ...parts)
export const logFile = (name: string) => fromRoot(".heddle", "logs", `bench-${name}.log`)
export const pythonScript = (name: string) => fromRoot("bench", "python", name)

const temporaryFolders: string[] = []
process.once("exit", () => temporaryFolders.forEach((folder) => rmSync(folder, { recursive: true, force: true })))

/**
 * A folder that is deleted when the benchmark ends, and not sooner: for a minute after many files were
 * deleted, ext4 without a journal takes several times as long to create one (`recently_deleted` in
 * fs/ext4/ialloc.c), which the next run would show.
 */
export function temporaryFolder(): string {
  const folder = mkdtempSync(path.join(os.tmpdir(), "heddle-bench-"))
  temporaryFolders.push(folder)
  return folder
}
