/**
 * Everything `npm test` runs, in order: `name` and `group` select it, `run` prepares what it needs,
 * runs it with its output on the terminal and returns its counts. Suites that are `paired` wait for a client or a server
 * most of the time: two of them run at once.
 */
import { ensureCatalogTemplate } from "../setup/catalog.mjs"
import { ensureChromium } from "../setup/chromium.mjs"
import { startClickHouse } from "../setup/clickhouse.mjs"
import { clientSets, ensureClients } from "../setup/clients.mjs"
import { ensureEngine } from "../setup/engine.mjs"
import { projectNode } from "../setup/node-modules.mjs"
import { startPostgres } from "../setup/postgres.mjs"
import { fromRoot } from "../setup/paths.mjs"
import { ensureWeb } from "../setup/web.mjs"
import { ensureLocked } from "../setup/python.mjs"
import { afterSecondRun, fileOf, fromExit, fromJunit, fromVitest, honest, none } from "./counts.mjs"
import { reportPath, runTool } from "./runner.mjs"

const PYTHON_SOURCES = [
  "engine/heddle_engine",
  "engine/tests",
  "compat/fuzz",
  "compat/python",
  "compat/reference",
  "examples",
  "scripts",
]

const checks = [
  check("types", "types (tsc)", [["typescript/bin/tsc"], ["typescript/bin/tsc", "-p", "web"]]),
  check("format", "format (oxfmt, ruff)", [["oxfmt/bin/oxfmt", "--check"]], ["format", "--check"]),
  check("lint", "lint (oxlint, ruff)", [["oxlint/bin/oxlint", "--type-aware"]], ["check"]),
  check("dead-code", "dead code (knip)", [["knip/bin/knip.js"]]),
]

/** Tools that only say yes or no; `ruff` adds the same check for Python. */
function check(name, title, tools, ruff) {
  return {
    name,
    group: "checks",
    title,
    async run() {
      const codes = []
      for (const [script, ...args] of tools) codes.push(await runTool(projectNode, [`node_modules/${script}`, ...args]))
      if (ruff) {
        const python = await ensureEngine({ tests: true })
        codes.push(await runTool(python, ["-m", "ruff", ...ruff, ...PYTHON_SOURCES]))
      }
      return codes.map(fromExit)
    },
  }
}

const scripts = {
  name: "scripts",
  title: "commands (vitest)",
  async run() {
    return [await vitest("scripts", { select: ["run", "scripts/"] })]
  },
}

const web = {
  name: "web",
  title: "modules of the web interface (vitest)",
  async run() {
    return [await vitest("web", { config: ["--config", "web/vitest.config.ts"] })]
  },
}

const server = [
  {
    name: "server-embedded",
    group: "server",
    title: "server on PGlite and chDB (vitest)",
    async run() {
      const env = { HEDDLE_PYTHON: await ensureEngine({ tests: true }) }
      return [await vitest("server-embedded", { select: ["run", "server/"], env })]
    },
  },
  {
    name: "server-grown",
    group: "server",
    title: "server on PostgreSQL and ClickHouse (vitest)",
    async run() {
      const HEDDLE_PYTHON = await ensureEngine({ tests: true })
      const postgres = await startPostgres()
      const clickhouse = await startClickHouse()
      const env = { HEDDLE_TEST_POSTGRES_URL: postgres.url, HEDDLE_TEST_CLICKHOUSE_URL: clickhouse.url, HEDDLE_PYTHON }
      try {
        return [
          await vitest("server-grown", { select: ["related", "--run", ...whereStoresComeFrom, ...embeddedOnly], env }),
        ]
      } finally {
        await clickhouse.stop()
        await postgres.stop()
      }
    },
  },
]

/** Tests that reach none of these do the same whatever servers there are: once is enough. */
const whereStoresComeFrom = ["postgres", "clickhouse"].map((store) => `server/test/support/${store}-database.ts`)

/** They start servers of their own, with embedded stores. */
const embeddedOnly = ["attacks", "hostile-requests", "project-delete-crash"].map(
  (name) => `--exclude=server/test/${name}.test.ts`,
)

const browser = {
  name: "browser",
  title: "pages in a browser (vitest, Chromium)",
  async run() {
    const HEDDLE_TEST_BROWSER = await ensureChromium()
    if (HEDDLE_TEST_BROWSER === null) {
      console.log("skipped: there is no Chromium or Chrome, and without root and apt-get none can be installed")
      return [{ ...none, skipped: 1 }]
    }
    await ensureWeb()
    const env = { HEDDLE_TEST_BROWSER, HEDDLE_PYTHON: await ensureEngine(), ...(await ensureCatalogTemplate()) }
    return [await vitest("browser", { config: ["--config", "web/browser/vitest.config.ts"], env })]
  },
}

const engine = {
  name: "engine",
  title: "engine (pytest)",
  async run() {
    return [await pytest(await ensureEngine({ tests: true }), "engine", ["engine/tests"])]
  },
}

// The newest have the most tests: first, so that none runs alone at the end.
const pythonClients = clientSets()
  .toReversed()
  .map((set) => ({
    name: set,
    group: "clients",
    paired: true,
    title: `Python clients: ${set}`,
    async run(label) {
      const HEDDLE_PYTHON = await ensureEngine()
      const python = await ensureClients(set)
      return [await pytest(python, set, ["compat/python"], { HEDDLE_PYTHON, HEDDLE_CLIENT_SET: set }, label)]
    },
  }))

const reference = {
  name: "reference",
  paired: true,
  title: "against the reference server (pytest)",
  async run(label) {
    const python = await ensureLocked("reference", "reference server", fromRoot("compat", "reference", "lock.txt"))
    return [await pytest(python, "reference", ["compat/reference"], {}, label)]
  },
}

const nodeClients = {
  name: "node-clients",
  group: "clients",
  paired: true,
  title: "Node clients",
  async run(label) {
    const env = { HEDDLE_PYTHON: await ensureEngine() }
    return [await vitest("node-clients", { config: ["--config", "compat/node/vitest.config.ts"], env, label })]
  },
}

const fuzz = {
  name: "fuzz",
  paired: true,
  title: "the served document (schemathesis)",
  async run(label) {
    const python = await ensureLocked("fuzz", "schemathesis", fromRoot("compat", "fuzz", "lock.txt"))
    return [await pytest(python, "fuzz", ["compat/fuzz"], {}, label)]
  },
}

/** More files than these fail together for one reason: a second run of all of them tells nothing new. */
const MOST_FILES_AGAIN = 5

/** `config`: arguments that hold for each run; `select`: what the first run takes. */
async function vitest(name, { select = ["run"], config = [], env, label }) {
  const run = async (report, args) => {
    const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${report}`]
    const tool = ["node_modules/vitest/vitest.mjs", ...args, ...config, ...reporters]
    const code = await runTool(projectNode, tool, env, label)
    return { code, counts: honest(fromVitest(report), code) }
  }
  const first = await run(reportPath(`${name}.json`), select)
  const files = [...new Set(first.counts.failures.map(fileOf))]
  if (typeof first.code !== "number" || files.length === 0 || files.length > MOST_FILES_AGAIN) return first.counts
  console.log(`\n${name}: what failed runs once more: ${files.join(", ")}`)
  const again = await run(reportPath(`${name}-again.json`), ["run", ...files])
  return afterSecondRun(first.counts, again.counts)
}

async function pytest(python, name, paths, env, label) {
  // Suites run at once, and each has failures of its own.
  const cache = `cache_dir=${reportPath(`${name}-cache`)}`
  const run = async (report, args) => {
    const code = await runTool(
      python,
      ["-m", "pytest", "-q", "-o", cache, "--junitxml", report, ...args, ...paths],
      env,
      label,
    )
    return { code, counts: honest(fromJunit(report), code) }
  }
  const first = await run(reportPath(`${name}.xml`), [])
  const { failures } = first.counts
  if (typeof first.code !== "number" || failures.length === 0 || failures.length > MOST_FILES_AGAIN) return first.counts
  console.log(`\n${name}: what failed runs once more: ${failures.join(", ")}`)
  const again = await run(reportPath(`${name}-again.xml`), ["--last-failed", "--last-failed-no-failures", "none"])
  return afterSecondRun(first.counts, again.counts)
}

export const suites = [
  ...checks,
  scripts,
  web,
  ...server,
  browser,
  engine,
  ...pythonClients,
  nodeClients,
  reference,
  fuzz,
]
