/**
 * Everything `npm test` runs, in order: `name` and `group` select it, `run` prepares what it needs,
 * runs it with its output on the terminal and returns its counts.
 */
import { ensureCatalogTemplate } from "../setup/catalog.mjs"
import { ensureChromium } from "../setup/chromium.mjs"
import { startClickHouse } from "../setup/clickhouse.mjs"
import { clientSets, ensureClients } from "../setup/clients.mjs"
import { ensureEngine } from "../setup/engine.mjs"
import { projectNode } from "../setup/node-modules.mjs"
import { startPostgres } from "../setup/postgres.mjs"
import { fromRoot } from "../setup/paths.mjs"
import { ensureLocked } from "../setup/python.mjs"
import { fromExit, fromJunit, fromVitest, honest, none } from "./counts.mjs"
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
  check("types", "types (tsc)", [["typescript/bin/tsc"]]),
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
    return [await vitest("scripts", ["scripts/"])]
  },
}

const server = [
  {
    name: "server-pglite",
    group: "server",
    title: "server on PGlite (vitest)",
    run: async () => [await serverTests("server-pglite", {})],
  },
  {
    name: "server-postgres",
    group: "server",
    title: "server on PostgreSQL (vitest)",
    async run() {
      const postgres = await startPostgres()
      try {
        return [await serverTests("server-postgres", { HEDDLE_TEST_POSTGRES_URL: postgres.url })]
      } finally {
        await postgres.stop()
      }
    },
  },
  {
    name: "server-clickhouse",
    group: "server",
    title: "trace store over HTTP (vitest)",
    async run() {
      const clickhouse = await startClickHouse()
      try {
        return [await vitest("server-clickhouse", traceTests, { HEDDLE_TEST_CLICKHOUSE_URL: clickhouse.url })]
      } finally {
        await clickhouse.stop()
      }
    },
  },
]

/** What comes near the trace store; it starts no engine. */
const traceTests = [
  "server/src/storage/traces/",
  ...["agents", "annotation", "evaluation", "execution", "otel"].map((area) => `server/test/${area}-`),
]

async function serverTests(name, env) {
  return vitest(name, ["server/"], { HEDDLE_PYTHON: await ensureEngine(), ...env })
}

const browser = {
  name: "browser",
  title: "pages in a browser (vitest, Chromium)",
  async run() {
    const HEDDLE_TEST_BROWSER = await ensureChromium()
    if (HEDDLE_TEST_BROWSER === null) {
      console.log("skipped: there is no Chromium or Chrome, and without root and apt-get none can be installed")
      return [{ ...none, skipped: 1 }]
    }
    const env = { HEDDLE_TEST_BROWSER, ...(await ensureCatalogTemplate()) }
    return [await vitest("browser", ["--config", "server/browser/vitest.config.ts"], env)]
  },
}

const engine = {
  name: "engine",
  title: "engine (pytest)",
  async run() {
    return [await pytest(await ensureEngine({ tests: true }), "engine", ["engine/tests"])]
  },
}

const pythonClients = clientSets().map((set) => ({
  name: set,
  group: "clients",
  title: `Python clients: ${set}`,
  async run() {
    const HEDDLE_PYTHON = await ensureEngine()
    const python = await ensureClients(set)
    return [await pytest(python, set, ["compat/python"], { HEDDLE_PYTHON, HEDDLE_CLIENT_SET: set })]
  },
}))

const reference = {
  name: "reference",
  title: "against the reference server (pytest)",
  async run() {
    const python = await ensureLocked("reference", "reference server", fromRoot("compat", "reference", "lock.txt"))
    return [await pytest(python, "reference", ["compat/reference"])]
  },
}

const nodeClients = {
  name: "node-clients",
  group: "clients",
  title: "Node clients",
  async run() {
    const HEDDLE_PYTHON = await ensureEngine()
    return [await vitest("node-clients", ["--config", "compat/node/vitest.config.ts"], { HEDDLE_PYTHON })]
  },
}

const fuzz = {
  name: "fuzz",
  title: "the served document (schemathesis)",
  async run() {
    const python = await ensureLocked("fuzz", "schemathesis", fromRoot("compat", "fuzz", "lock.txt"))
    return [await pytest(python, "fuzz", ["compat/fuzz"])]
  },
}

async function vitest(name, args, env) {
  const report = reportPath(`${name}.json`)
  const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${report}`]
  const code = await runTool(projectNode, ["node_modules/vitest/vitest.mjs", "run", ...args, ...reporters], env)
  return honest(fromVitest(report), code)
}

async function pytest(python, name, paths, env) {
  const report = reportPath(`${name}.xml`)
  const args = ["-m", "pytest", "-q", "--junitxml", report, ...paths]
  const code = await runTool(python, args, env)
  return honest(fromJunit(report), code)
}

export const suites = [...checks, scripts, ...server, browser, engine, ...pythonClients, nodeClients, reference, fuzz]
