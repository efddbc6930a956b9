/** The files of exact Python pins, and what their lines say. pip installs from them with `--require-hashes`. */
import { globSync } from "node:fs"
import path from "node:path"

export const root = path.resolve(import.meta.dirname, "../..")

const places = [
  "engine/requirements*.txt",
  "compat/*/lock.txt",
  "compat/python/locks/*.txt",
  "bench/python/locks/*.txt",
]

/** Paths relative to the repository. */
export function pythonLocks(): string[] {
  return globSync(places, { cwd: root }).toSorted()
}

export interface Pin {
  name: string
  version: string
  /** SHA-256 of each file that may be installed, hex. */
  hashes: string[]
}

/** One item a requirement; a line that ends with a backslash goes on in the next. */
export function requirementsOf(text: string): string[] {
  const lines = text.replaceAll("\\\n", " ").split("\n")
  return lines.map((line) => line.replace(/(^|\s)#.*$/, "").trim()).filter((line) => line !== "")
}

/** null: not an exact pin. */
export function pinOf(requirement: string): Pin | null {
  const match = /^([A-Za-z0-9._-]+)(?:\[[A-Za-z0-9._,-]+\])?==([^\s;]+)((?:\s+--hash=sha256:[0-9a-f]{64})*)$/.exec(
    requirement,
  )
  if (match === null) return null
  const [, name = "", version = "", rest = ""] = match
  return { name, version, hashes: [...rest.matchAll(/sha256:([0-9a-f]{64})/g)].map(([, hash = ""]) => hash) }
}
