/** The virtual environment that holds the reference trace server, with its own exact pins. */
import { join } from "node:path"
import { cache, fromRoot, venvBin } from "./paths.mjs"
import { ensureVenv } from "./python.mjs"

/** Makes it; returns its Python. */
export async function ensureReference() {
  const venv = join(cache, "venvs", "reference")
  await ensureVenv(venv, "reference server", [fromRoot("compat", "reference", "lock.txt")])
  return venvBin(venv, "python")
}
