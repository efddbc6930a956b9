/**
 * The commands: installs what is missing, then runs what was asked for.
 *
 * Usage: node scripts/heddle.mjs start [--host H --port P --data-dir D]
 *        node scripts/heddle.mjs demo  [--once --json …]
 *        node scripts/heddle.mjs test  [suite …]
 *        node scripts/heddle.mjs bench NAME [--json …]
 *        node scripts/heddle.mjs export | import --project TEAM/PROJECT …   (scripts/transfer.mjs)
 * Changes: node_modules, engine/.venv and .heddle in the repository folder, nothing elsewhere.
 *
 * Plain JavaScript for Node 20, because it runs before anything is installed.
 */
import { ensureCatalogTemplate } from "./setup/catalog.mjs"
import { ensureEngine } from "./setup/engine.mjs"
import { checkNode, ensureNodeModules, projectNode } from "./setup/node-modules.mjs"
import { fromRoot } from "./setup/paths.mjs"
import { SetupError, say } from "./setup/progress.mjs"
import { become } from "./setup/run.mjs"

const commands = {
  start: (args) => runTypeScript("server/src/main.ts", args),
  demo: async (args) => (await import("./demo.mjs")).main(args),
  test: async (args) => (await import("./test.mjs")).main(args),
  bench: (args) => runTypeScript("bench/bench.ts", args),
  export: async (args) => (await import("./transfer.mjs")).exportFile(args),
  import: async (args) => (await import("./transfer.mjs")).importFile(args),
}

async function runTypeScript(file, args) {
  await ensureNodeModules()
  const own = process.env.HEDDLE_ENGINE === "none" || process.env.HEDDLE_PYTHON
  const [python, template] = await Promise.all([
    own ? process.env.HEDDLE_PYTHON : ensureEngine(),
    ensureCatalogTemplate(),
  ])
  const env = { ...process.env, ...(python && { HEDDLE_PYTHON: python }), ...template }
  await become(projectNode, [fromRoot(file), ...args], { env })
}

const [name, ...args] = process.argv.slice(2)
try {
  checkNode(process.versions.node)
  const command = Object.hasOwn(commands, name ?? "") ? commands[name] : null
  if (!command)
    throw new SetupError(`unknown command ${name ?? "(none)"}: choose one of ${Object.keys(commands).join(", ")}`)
  await command(args)
} catch (error) {
  const isUsage = error instanceof SetupError || error.code?.startsWith("ERR_PARSE_ARGS_")
  if (!isUsage) throw error
  say(error.message)
  process.exitCode = 1
}
