/** The virtual environment that holds schemathesis, with its own exact pins. */
import { join } from "node:path"
import { cache, fromRoot, venvBin } from "./paths.mjs"
import { ensureVenv } from "./python.mjs"

/** Makes it; returns its Python. */
export async function ensureFuzz() {
  const venv = join(cache, "venvs", "fuzz")
  await ensureVenv(venv, "schemathesis", [fromRoot("compat", "fuzz", "lock.txt")])
  return venvBin(venv, "python")
}
