/**
 * Writes, below each pin of the Python locks, the hashes of the files that pip may install for it. Run it after a pin
 * has changed.
 *
 * Usage: node scripts/hash-python-locks.ts [FILE …], by default all of them. Needs uv on the PATH: it asks the package
 * index.
 * Changes: the lock files. Pins, their order and comments stay.
 */
import { execFileSync } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import path from "node:path"
import { pythonLocks, root } from "./locks/python-locks.ts"

/** Wheels for the Pythons that the set-up takes and the machines that the documents name. Windows has no engine. */
const pythons = /-(?:cp31[1-4]|cp3\d+-abi3|(?:py2\.)?py3\d*)-/
const machines = /-any\.whl$|manylinux\S*_(?:x86_64|aarch64)\.whl$|linux_(?:x86_64|aarch64)\.whl$|macosx\S*\.whl$/
const withoutGil = /-cp3\d+t-|musllinux/

for (const lock of process.argv.length > 2 ? process.argv.slice(2) : pythonLocks()) {
  const file = path.resolve(root, lock)
  const plain = readFileSync(file, "utf8").replaceAll(/ \\\n +--hash=sha256:[0-9a-f]{64}/g, "")
  const known = hashesOf(plain, /^# requires-python >=(3\.\d+)$/m.exec(plain)?.[1] ?? "3.11")
  const hashed = plain.replaceAll(
    /^([A-Za-z0-9._-]+)(?:\[[A-Za-z0-9._,-]+\])?==(\S+)(?: ; .+)?$/gm,
    (pin, name: string, version: string) => {
      const hashes = known.get(`${normal(name)}==${version}`)
      if (hashes === undefined || hashes.length === 0) throw new Error(`${lock}: the index has no file for ${pin}`)
      return [pin, ...hashes.map((hash) => `    --hash=sha256:${hash}`)].join(" \\\n")
    },
  )
  writeFileSync(file, hashed)
}

/** Hashes of installable files for each pin; keys are `name==version`. */
function hashesOf(pins: string, python: string): Map<string, string[]> {
  const folder = mkdtempSync(path.join(tmpdir(), "heddle-locks-"))
  try {
    const source = path.join(folder, "pins.txt")
    const output = path.join(folder, "pylock.toml")
    writeFileSync(source, pins)
    const how = ["--no-deps", "--universal", "--python-version", python, "--no-config", "--quiet"]
    execFileSync("uv", ["pip", "compile", ...how, "--format", "pylock.toml", "--output-file", output, source], {
      stdio: ["ignore", "ignore", "inherit"],
    })
    return readPylock(readFileSync(output, "utf8"))
  } finally {
    rmSync(folder, { recursive: true })
  }
}

interface LockedFile {
  name: string
  hash: string
}

/** Reads uv's pylock.toml, in which each file is one line. */
function readPylock(text: string): Map<string, string[]> {
  const packages = text.split("[[packages]]").slice(1)
  return new Map(
    packages.map((block) => {
      const pin = `${normal(/^name = "(.+)"$/m.exec(block)?.[1] ?? "")}==${/^version = "(.+)"$/m.exec(block)?.[1]}`
      const files = [...block.matchAll(/url = "[^"]*\/([^"/]+)".*?sha256 = "([0-9a-f]{64})"/g)].map(
        ([, name = "", hash = ""]): LockedFile => ({ name: decodeURIComponent(name), hash }),
      )
      return [pin, installable(files).toSorted()]
    }),
  )
}

/** Hashes of the wheels for these Pythons and machines, and of the source unless one wheel serves them all. */
function installable(files: readonly LockedFile[]): string[] {
  const wheels = files.filter(({ name }) => pythons.test(name) && machines.test(name) && !withoutGil.test(name))
  const serveAll = wheels.some(({ name }) => name.endsWith("-none-any.whl"))
  const sources = serveAll ? [] : files.filter(({ name }) => !name.endsWith(".whl"))
  return [...wheels, ...sources].map(({ hash }) => hash)
}

function normal(name: string): string {
  return name.toLowerCase().replaceAll(/[._-]+/g, "-")
}
