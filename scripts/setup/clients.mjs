/** Virtual environments of the real Python clients, each with its own exact pins. */
import { existsSync, readdirSync } from "node:fs"
import { join } from "node:path"
import { fromRoot } from "./paths.mjs"
import { SetupError } from "./progress.mjs"
import { ensureLocked, hasPythonFor } from "./python.mjs"

const locks = fromRoot("compat", "python", "locks")
const lockOf = (set) => join(locks, `${set}.txt`)

/** The client sets that have a lock file. */
export const clientSets = () =>
  readdirSync(locks)
    .filter((name) => name.endsWith(".txt"))
    .map((name) => name.slice(0, -4))
    .toSorted()

/** True when there is a Python new enough for the client set; some clients need a newer one than the server does. */
export const canRunClients = (set) => hasPythonFor(set, lockOf(set))

/** Makes the environment of one client set, by default under its own name; returns its Python. */
export async function ensureClients(set, name = set) {
  const lock = lockOf(set)
  if (!existsSync(lock)) throw new SetupError(`no client set ${set}: choose one of ${clientSets().join(", ")}`)
  return ensureLocked(name, `client ${name}`, lock)
}
