/** The engine's virtual environment, engine/.venv. */
import { engineVenv, fromRoot, venvBin } from "./paths.mjs"
import { ensureVenv } from "./python.mjs"

/** Installs what the engine needs to run, with `tests` also what its tests need; returns its Python. */
export async function ensureEngine({ tests = false } = {}) {
  const files = tests ? ["requirements.txt", "requirements-test.txt"] : ["requirements.txt"]
  await ensureVenv(
    engineVenv,
    "engine",
    files.map((file) => fromRoot("engine", file)),
  )
  return venvBin(engineVenv, "python")
}
