/** The npm packages, and with them the Node that runs our TypeScript (npm package `node`). */
import { accessSync, constants, existsSync, readFileSync, rmSync } from "node:fs"
import { homedir } from "node:os"
import { dirname, join } from "node:path"
import { withLock } from "./lock.mjs"
import { cache, fromRoot, root } from "./paths.mjs"
import { SetupError, step } from "./progress.mjs"
import { ask, runLogged } from "./run.mjs"
import { clearStamp, digest, readStamp, writeStamp } from "./stamp.mjs"

/** `engines` in package.json, which npm only warns of. */
const OLDEST_FOR_SETUP = 20
/** The first Node that strips types from .ts files by itself. */
const OLDEST_FOR_TYPESCRIPT = 24

/** Node for our TypeScript: the one in node_modules. */
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
    if (!isInstalled(folder, JSON.parse(lock))) await install(folder)
    if (folder === root) await ensureProjectNode()
    writeStamp(stamp, wanted)
  })
}

/** npm writes this list when an install has ended; someone may have installed without our stamp. */
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

async function install(folder) {
  clearStamp(join(folder, "node_modules", ".heddle-stamp"))
  await step("installing the npm packages (npm ci)", () =>
    runLogged(...npm("ci", "--no-audit", "--no-fund"), {
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

/** npm fails where it cannot write its cache, and the user of a service often has no home: then the cache is ours. */
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

/** npm settings that forbid install scripts leave the package `node` without its binary. */
async function ensureProjectNode() {
  if (nodeMajor(projectNode) >= OLDEST_FOR_TYPESCRIPT) return
  rmSync(join(root, "node_modules", "node", "bin"), { recursive: true, force: true })
  await step("installing Node for TypeScript (npm rebuild node)", () =>
    runLogged(...npm("rebuild", "node", "--ignore-scripts=false"), {
      log: join(cache, "logs", "npm-rebuild-node.log"),
    }),
  )
  if (nodeMajor(projectNode) >= OLDEST_FOR_TYPESCRIPT) return
  throw new SetupError(
    `the npm package "node" did not install its binary at ${projectNode}.\n` +
      "Its install script must be allowed to run: see `allowScripts` in package.json and the npm setting `ignore-scripts`.",
  )
}

const nodeMajor = (binary) => Number(ask(binary, ["--version"])?.match(/^v(\d+)/)?.[1] ?? 0)
