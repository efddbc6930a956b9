/** Folders of the repository that the benchmarks use. */
import { mkdtempSync, rmSync } from "node:fs"
import os from "node:os"
import path from "node:path"

export const root = path.resolve(import.meta.dirname, "../..")
export const fromRoot = (...parts: string[]) => path.join(root, ...parts)
export const logFile = (name: string) => fromRoot(".heddle", "logs", `bench-${name}.log`)
export const pythonScript = (name: string) => fromRoot("bench", "python", name)

export interface TemporaryFolder extends Disposable {
  readonly path: string
}

/** A folder that is deleted when its block ends. */
export function temporaryFolder(): TemporaryFolder {
  const folder = mkdtempSync(path.join(os.tmpdir(), "heddle-bench-"))
  return { path: folder, [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }) }
}
