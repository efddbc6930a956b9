/**
 * A stamp says which input a folder was built from. It is removed before the work starts and written
 * after it has ended, so an interrupted set-up never looks finished.
 */
import { createHash } from "node:crypto"
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { dirname } from "node:path"

/** SHA-256 over texts, as hex. */
export function digest(...texts) {
  const hash = createHash("sha256")
  for (const text of texts) hash.update(`${text.length}:${text}`)
  return hash.digest("hex")
}

export function readStamp(path) {
  try {
    return readFileSync(path, "utf8").trim()
  } catch {
    return null
  }
}

export function writeStamp(path, value) {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(`${path}.new`, `${value}\n`)
  renameSync(`${path}.new`, path)
}

export function clearStamp(path) {
  rmSync(path, { force: true })
}
