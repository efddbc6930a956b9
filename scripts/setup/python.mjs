/** The machine's Python, and virtual environments made from it. */
import { existsSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { homedir } from "node:os"
import { basename, join, relative } from "node:path"
import { withLock } from "./lock.mjs"
import { cache, root, venvBin } from "./paths.mjs"
import { logOf, pip } from "./pip.mjs"
import { SetupError, step } from "./progress.mjs"
import { ask, runLogged } from "./run.mjs"
import { clearStamp, digest, readStamp, writeStamp } from "./stamp.mjs"
import { installTorch, pinnedTorch } from "./torch.mjs"
import { uvInstall, uvLock } from "./uv.mjs"

const OLDEST = [3, 11]
const NAMES = ["python3.13", "python3.12", "python3.11", "python3", "python"]
const PROBE = "import sys, venv, ensurepip; print('%d.%d' % sys.version_info[:2])"
const PROBE_VERSION = "import sys; print('%d.%d' % sys.version_info[:2])"

/**
 * The oldest Python that a lock file allows: the one in its comment `# requires-python >=3.12`, or without such a
 * comment the oldest that the set-up takes.
 */
function oldestFor(lock) {
  const minor = /^# requires-python >=3\.(\d+)$/m.exec(readFileSync(lock, "utf8"))?.[1]
  return minor === undefined ? OLDEST : [3, Number(minor)]
}

/** True when the environment `name` is there already, or a Python new enough for its lock file is. */
export function hasPythonFor(name, lock) {
  return existsSync(venvBin(join(cache, "venvs", name), "python")) || lookForPython(oldestFor(lock)).name !== null
}

/** The first Python, on the PATH and then in pyenv, that is new enough; else null, with the versions that were seen. */
function lookForPython(oldest) {
  const seen = []
  for (const name of [...NAMES, ...pyenvPythons()]) {
    if (isNewEnough(ask(name, ["-c", PROBE]), oldest)) return { name, seen }
    const version = ask(name, ["-c", PROBE_VERSION])
    if (version) seen.push(`${name} is ${version}${isNewEnough(version, oldest) ? " without the module venv" : ""}`)
  }
  return { name: null, seen }
}

/**
 * Pythons that pyenv installed, the oldest first, because a lock file is made with the oldest Python that it allows.
 */
function pyenvPythons() {
  const versions = join(process.env["PYENV_ROOT"] ?? join(homedir(), ".pyenv"), "versions")
  if (!existsSync(versions)) return []
  return readdirSync(versions)
    .filter((name) => /^3\.\d+\.\d+$/.test(name))
    .toSorted((a, b) => a.localeCompare(b, "en", { numeric: true }))
    .map((name) => join(versions, name, "bin", "python"))
}

function findPython(oldest) {
  const { name, seen } = lookForPython(oldest)
  if (name !== null) return name
  throw new SetupError(
    `no Python ≥ ${oldest.join(".")} with the module venv was found (${seen.join(", ") || `none of ${NAMES.join(", ")} runs`}).\n` +
      "Debian and Ubuntu: apt-get install python3 python3-venv. Fedora: dnf install python3. macOS: brew install python.\n" +
      "An older system may take one from https://www.python.org/downloads or `uv python install 3.13`, first on the PATH.",
  )
}

function isNewEnough(version, oldest) {
  if (!version) return false
  const [major, minor] = version.split(".").map(Number)
  return major === oldest[0] && minor >= oldest[1]
}

/**
 * Makes a virtual environment with the packages of exactly pinned requirement files, in their order. Each file has its
 * own stamp, so an environment for running grows into one for tests. With `compile` all modules are compiled at once;
 * without it each is compiled at its first import, and most are never imported. With `withUv`, uv installs all but torch
 * instead of pip, which is then in the environment for torch alone.
 */
export async function ensureVenv(venv, title, requirements, { compile = true, withUv = false } = {}) {
  const wanted = requirements.map((file) => {
    const text = readFileSync(file, "utf8")
    return { file, digest: digest(text), torch: pinnedTorch(text) }
  })
  if (wanted.every((one) => isCurrent(venv, one))) return
  await withLock(`venv-${digest(venv).slice(0, 8)}`, async () => {
    if (wanted.every((one) => isCurrent(venv, one))) return
    const oldest = requirements.map(oldestFor).toSorted((a, b) => b[1] - a[1])[0]
    await makeVenv(venv, title, oldest, !withUv || wanted.some(({ torch }) => torch))
    for (const one of wanted)
      if (!isCurrent(venv, one)) await installRequirements(venv, title, one, { compile, withUv })
  })
}

/** Makes the environment `name` with exactly what one lock file pins; returns its Python. */
export async function ensureLocked(name, title, lock) {
  const venv = join(cache, "venvs", name)
  await ensureVenv(venv, title, [lock], { compile: false, withUv: true })
  return venvBin(venv, "python")
}

/** Makes the environment with the uv that installs the others; returns its path. */
async function ensureUv() {
  const venv = join(cache, "venvs", "uv")
  await ensureVenv(venv, "uv", [uvLock], { compile: false })
  return venv
}

/** Makes an environment anew, with the newest packages that `requirements` allow, on a Python that `lock` allows. */
export async function makeUnpinned(venv, title, lock, requirements) {
  rmSync(venv, { recursive: true, force: true })
  await makeVenv(venv, title, oldestFor(lock))
  await step(`${title}: newest Python packages`, (detail) =>
    pip(venv, ["install", "--upgrade", "--no-compile", ...requirements], { log: logOf(venv, "newest"), detail }),
  )
}

const stampOf = (venv, file) => join(venv, ".heddle", basename(file))

const isCurrent = (venv, { file, digest: wanted }) => readStamp(stampOf(venv, file)) === wanted

/** Makes the environment unless one is there whose creation ended; half an environment is deleted. */
async function makeVenv(venv, title, oldest, withPip = true) {
  const stamp = join(venv, ".heddle", "created")
  if (readStamp(stamp) && existsSync(venvBin(venv, "python"))) return
  const python = findPython(oldest)
  await step(`${title}: new virtual environment ${relative(root, venv)} (${python})`, async (detail) => {
    rmSync(venv, { recursive: true, force: true })
    await runLogged(python, ["-m", "venv", ...(withPip ? [] : ["--without-pip"]), venv], {
      log: logOf(venv, "venv"),
      detail,
    })
  })
  writeStamp(stamp, python)
}

async function installRequirements(venv, title, { file, digest: wanted, torch }, { compile, withUv }) {
  const stamp = stampOf(venv, file)
  clearStamp(stamp)
  if (torch) await installTorch(venv, title, torch)
  const uv = withUv ? await ensureUv() : null
  // The lock files are complete: there is nothing to resolve.
  const how = ["--no-deps", "--require-hashes", compile ? "--compile" : "--no-compile"]
  await step(`${title}: Python packages of ${relative(root, file)}`, (detail) => {
    const log = logOf(venv, basename(file))
    return uv === null
      ? pip(venv, ["install", ...how, "-r", file], { log, detail })
      : uvInstall(uv, venv, file, { log, detail })
  })
  writeStamp(stamp, wanted)
}
