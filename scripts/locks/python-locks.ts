/** Finds and reads the files of exact Python pins, from which pip installs with `--require-hashes`. */
import { globSync } from "node:fs"
import path from "node:path"

export const root = path.resolve(import.meta.dirname, "../..")

const places = [
  "engine/requirements*.txt",
  "compat/*/lock.txt",
  "compat/python/locks/*.txt",
  "bench/python/locks/*.txt",
  "scripts/setup/uv.txt",
]

/** Paths of all lock files, relative to the repository. */
export function pythonLocks(): string[] {
  return globSync(places, { cwd: root }).toSorted()
}

export interface Pin {
  name: string
  version: string
  /** SHA-256 of each file that may be installed, hex. */
  hashes: string[]
}

/** The requirements in a file, without comments; one that continues over a backslash becomes one line. */
export function requirementsOf(text: string): string[] {
  const lines = text.replaceAll("\\\n", " ").split("\n")
  return lines.map((line) => line.replace(/(^|\s)#.*$/, "").trim()).filter((line) => line !== "")
}

/** Reads one requirement, which may be for some systems only; null when it is not an exact pin. */
export function pinOf(requirement: string): Pin | null {
  const form =
    /^([A-Za-z0-9._-]+)(?:\[[A-Za-z0-9._,-]+\])?==([^\s;]+)(?: ; [^-]+?)?((?:\s+--hash=sha256:[0-9a-f]{64})*)$/
  const match = form.exec(requirement)
  if (match === null) return null
  const [, name = "", version = "", rest = ""] = match
  return { name, version, hashes: [...rest.matchAll(/sha256:([0-9a-f]{64})/g)].map(([, hash = ""]) => hash) }
}
