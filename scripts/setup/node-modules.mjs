/** The npm packages, and with them the Node that runs our TypeScript (npm package `node`). */
import { existsSync, readFileSync, rmSync } from "node:fs"
import { join } from "node:path"
import { withLock } from "./lock.mjs"
import { cache, fromRoot, root } from "./paths.mjs"
import { SetupError, step } from "./progress.mjs"
import { ask, runLogged } from "./run.mjs"
import { clearStamp, digest, readStamp, writeStamp } from "./stamp.mjs"

/** The first Node that strips types from .ts files by itself. */
const OLDEST_FOR_TYPESCRIPT = 24

/** Node for our TypeScript: the one in node_modules. */
export const projectNode = fromRoot("node_modules", ".bin", "node")

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
function npm(...args) {
  const cli = process.env.npm_execpath
  return cli?.endsWith(".js") ? [process.execPath, [cli, ...args]] : ["npm", args]
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
