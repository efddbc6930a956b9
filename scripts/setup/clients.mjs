/** Virtual environments of the real Python clients, each with its own exact pins. */
import { existsSync, readdirSync } from "node:fs"
import { join } from "node:path"
import { fromRoot } from "./paths.mjs"
import { SetupError } from "./progress.mjs"
import { ensureLocked } from "./python.mjs"

const locks = fromRoot("compat", "python", "locks")

/** The client sets that have a lock file. */
export const clientSets = () =>
  readdirSync(locks)
    .filter((name) => name.endsWith(".txt"))
    .map((name) => name.slice(0, -4))
    .toSorted()

/** Makes the environment of one client set, by default under its own name; returns its Python. */
export async function ensureClients(set, name = set) {
  const lock = join(locks, `${set}.txt`)
  if (!existsSync(lock)) throw new SetupError(`no client set ${set}: choose one of ${clientSets().join(", ")}`)
  return ensureLocked(name, `client ${name}`, lock)
}
