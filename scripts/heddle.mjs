/**
 * The entry of every command: installs what is missing, then runs the command.
 *
 * Usage: node scripts/heddle.mjs start [--host H --port P --data-dir D --backup-dir D]
 *        node scripts/heddle.mjs demo  [--once --json …]
 *        node scripts/heddle.mjs set-up                           (what start needs, for an image or a machine without network)
 *        node scripts/heddle.mjs web                              (builds the pages)
 *        node scripts/heddle.mjs dev                              (pages from their sources, on a running server)
 *        node scripts/heddle.mjs check                            (types, format, lint, tests of modules)
 *        node scripts/heddle.mjs test  [suite or path …]
 *        node scripts/heddle.mjs install-vllm                     (vLLM's CPU build, for HEDDLE_SAMPLER=vllm)
 *        node scripts/heddle.mjs newest [set …]                   (client suites with the newest versions)
 *        node scripts/heddle.mjs bench NAME [--json …]
 *        node scripts/heddle.mjs move-stores [--data-dir D]             (embedded stores into PostgreSQL and ClickHouse)
 *        node scripts/heddle.mjs export | import --project TEAM/PROJECT …   (scripts/transfer.mjs)
 * --help after any of them prints what it takes, and installs nothing.
 * Changes: node_modules, engine/.venv, web/dist and .heddle in the repository folder, nothing elsewhere.
 *
 * Plain JavaScript for Node 20, because it runs before anything is installed.
 */
import { asksForHelp, helpOf, helpOfAll } from "./help.mjs"
import { ensureCatalogTemplate } from "./setup/catalog.mjs"
import { ensureEngine } from "./setup/engine.mjs"
import { checkNode, ensureNodeModules, projectNode } from "./setup/node-modules.mjs"
import { fromRoot } from "./setup/paths.mjs"
import { SetupError, say } from "./setup/progress.mjs"
import { become } from "./setup/run.mjs"
import { ensureVllm } from "./setup/vllm.mjs"
import { serverEnvironment, serverFlags } from "./setup/server-flags.mjs"
import { ensureWeb, tryBuildWeb } from "./setup/web.mjs"

const vite = fromRoot("node_modules", "vite", "bin", "vite.js")

const commands = {
  start: startServer,
  "set-up": setUp,
  web: async () => (await ensureNodeModules(), ensureWeb()),
  demo: async (args) => (await import("./demo.mjs")).main(args),
  dev: async (args) => (await ensureNodeModules(), become(projectNode, [vite, fromRoot("web"), ...args])),
  check: async (args) => (await import("./test.mjs")).check(args),
  test: async (args) => (await import("./test.mjs")).main(args),
  "install-vllm": async () => say(`vLLM is installed: ${await ensureVllm()}`),
  newest: async (args) => (await import("./newest.mjs")).main(args),
  "move-stores": (args) => runTypeScript("server/src/move-stores.ts", args),
  bench: (args) => runTypeScript("bench/bench.ts", args),
  export: async (args) => {
    const { exportCheckpoint, isCheckpoint } = await import("./checkpoint-transfer.mjs")
    return isCheckpoint(args) ? exportCheckpoint(args) : (await import("./transfer.mjs")).exportFile(args)
  },
  import: async (args) => {
    const { importCheckpoint, isCheckpoint } = await import("./checkpoint-transfer.mjs")
    return isCheckpoint(args) ? importCheckpoint(args) : (await import("./transfer.mjs")).importFile(args)
  },
}

/** All that a start would install, make or build first. */
async function setUp() {
  await ensureServer()
  await ensureWeb()
}

/** What a server needs to start, as settings of its process. */
async function ensureServer() {
  await ensureNodeModules()
  const own = process.env.HEDDLE_ENGINE === "none" || process.env.HEDDLE_ENGINE_URLS || process.env.HEDDLE_PYTHON
  const [python, template] = await Promise.all([
    own ? process.env.HEDDLE_PYTHON : ensureEngine(),
    ensureCatalogTemplate(),
  ])
  return { ...(python && { HEDDLE_PYTHON: python }), ...template }
}

/**
 * Builds the pages only once the server is ready: earlier, the build would slow down a start that somebody waits for.
 */
async function startServer(args) {
  const stopped = new AbortController()
  const onMessage = (message) => message === "ready" && void tryBuildWeb(stopped.signal)
  await runTypeScript("server/src/main.ts", args, { flags: serverFlags, settings: serverEnvironment, onMessage })
  stopped.abort()
}

async function runTypeScript(file, args, { flags = [], settings = {}, onMessage } = {}) {
  const env = { ...settings, ...process.env, ...(await ensureServer()) }
  await become(projectNode, [...flags, fromRoot(file), ...args], { env, onMessage })
}

const [name, ...args] = process.argv.slice(2)
try {
  checkNode(process.versions.node)
  const command = Object.hasOwn(commands, name ?? "") ? commands[name] : null
  if (asksForHelp([name, ...args])) console.log(command ? helpOf(name, args) : helpOfAll())
  else if (command) await command(args)
  else throw new SetupError(`unknown command ${name ?? "(none)"}: choose one of ${Object.keys(commands).join(", ")}`)
} catch (error) {
  const isUsage = error instanceof SetupError || error.code?.startsWith("ERR_PARSE_ARGS_")
  if (!isUsage) throw error
  say(error.message)
  process.exitCode = 1
}
