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

const OLDEST = [3, 11]
const NAMES = ["python3.13", "python3.12", "python3.11", "python3", "python"]
const PROBE = "import sys, venv, ensurepip; print('%d.%d' % sys.version_info[:2])"
const PROBE_VERSION = "import sys; print('%d.%d' % sys.version_info[:2])"

/**
 * The oldest Python that a lock file is for: `# requires-python >=3.12` among its comments, where the set-up's own oldest is
 * not enough.
 */
function oldestFor(lock) {
  const minor = /^# requires-python >=3\.(\d+)$/m.exec(readFileSync(lock, "utf8"))?.[1]
  return minor === undefined ? OLDEST : [3, Number(minor)]
}

/** Whether an environment of this lock can be made: one is there, or a Python that is new enough for it. */
export function hasPythonFor(name, lock) {
  return existsSync(venvBin(join(cache, "venvs", name), "python")) || lookForPython(oldestFor(lock)).name !== null
}

/** The first Python of the PATH, then of pyenv, that is new enough and can make virtual environments; else what was seen. */
function lookForPython(oldest) {
  const seen = []
  for (const name of [...NAMES, ...pyenvPythons()]) {
    if (isNewEnough(ask(name, ["-c", PROBE]), oldest)) return { name, seen }
    const version = ask(name, ["-c", PROBE_VERSION])
    if (version) seen.push(`${name} is ${version}${isNewEnough(version, oldest) ? " without the module venv" : ""}`)
  }
  return { name: null, seen }
}

/** What pyenv installed without putting it on the PATH, the oldest first: a lock file is made with the oldest that it allows. */
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
 * Makes a virtual environment that holds exactly-pinned requirement files, in their order.
 * Each file has its own stamp, so a runtime environment grows into a test environment.
 */
export async function ensureVenv(venv, title, requirements) {
  const wanted = requirements.map((file) => ({ file, digest: digest(readFileSync(file, "utf8")) }))
  if (wanted.every((one) => isCurrent(venv, one))) return
  await withLock(`venv-${digest(venv).slice(0, 8)}`, async () => {
    if (wanted.every((one) => isCurrent(venv, one))) return
    await makeVenv(venv, title, requirements.map(oldestFor).toSorted((a, b) => b[1] - a[1])[0])
    for (const one of wanted) if (!isCurrent(venv, one)) await installRequirements(venv, title, one)
  })
}

/** Makes the environment `name` with exactly what one lock file pins; returns its Python. */
export async function ensureLocked(name, title, lock) {
  const venv = join(cache, "venvs", name)
  await ensureVenv(venv, title, [lock])
  return venvBin(venv, "python")
}

const stampOf = (venv, file) => join(venv, ".heddle", basename(file))

const isCurrent = (venv, { file, digest: wanted }) => readStamp(stampOf(venv, file)) === wanted

/** Only an environment whose creation ended is kept: half a one cannot be trusted, so it goes. */
async function makeVenv(venv, title, oldest) {
  const stamp = join(venv, ".heddle", "created")
  if (readStamp(stamp) && existsSync(venvBin(venv, "python"))) return
  const python = findPython(oldest)
  await step(`${title}: new virtual environment ${relative(root, venv)} (${python})`, async (detail) => {
    rmSync(venv, { recursive: true, force: true })
    await runLogged(python, ["-m", "venv", venv], { log: logOf(venv, "venv"), detail })
  })
  writeStamp(stamp, python)
}

async function installRequirements(venv, title, { file, digest: wanted }) {
  const stamp = stampOf(venv, file)
  clearStamp(stamp)
  const torch = pinnedTorch(readFileSync(file, "utf8"))
  if (torch) await installTorch(venv, title, torch)
  await step(`${title}: Python packages of ${relative(root, file)}`, (detail) =>
    pip(venv, ["install", "--require-hashes", "-r", file], { log: logOf(venv, basename(file)), detail }),
  )
  writeStamp(stamp, wanted)
}
