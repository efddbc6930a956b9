/** Paths of the set-up. Everything that it makes is inside the repository. */
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"

export const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))))
export const engineVenv = join(root, "engine", ".venv")
/** Caches that may be deleted at any time: client environments, locks, logs. */
export const cache = join(root, ".heddle")

export const fromRoot = (...parts) => join(root, ...parts)

/** The path of a program in a virtual environment. */
export const venvBin = (venv, name) =>
  process.platform === "win32" ? join(venv, "Scripts", `${name}.exe`) : join(venv, "bin", name)
