/**
 * Everything `npm test` runs, in order: `name` and `group` select it, or a path in `folder`. `run` prepares what it needs,
 * runs it with its output on the terminal and returns its counts; given `paths`, only the tests there. With a `label`,
 * each of its lines begins with that. Suites that are `paired` wait for a client or a server most of the time: two of
 * them run at once.
 */
import { ensureCatalogTemplate } from "../setup/catalog.mjs"
import { ensureChromium } from "../setup/chromium.mjs"
import { startClickHouse } from "../setup/clickhouse.mjs"
import { canRunClients, clientSets, ensureClients } from "../setup/clients.mjs"
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
    async run({ label }) {
      const codes = []
      for (const [script, ...args] of tools) {
        codes.push(await runTool(projectNode, [`node_modules/${script}`, ...args], {}, label))
      }
      if (ruff) {
        const python = await ensureEngine({ tests: true })
        codes.push(await runTool(python, ["-m", "ruff", ...ruff, ...PYTHON_SOURCES], {}, label))
      }
      return codes.map(fromExit)
    },
  }
}

const scripts = {
  name: "scripts",
  folder: "scripts/",
  title: "commands (vitest)",
  async run({ label, paths = ["scripts/"] }) {
    return [await vitest("scripts", { select: ["run", ...paths], label })]
  },
}

const web = {
  name: "web",
  folder: "web/",
  title: "modules of the web interface (vitest)",
  async run({ label, paths = [] }) {
    return [await vitest("web", { select: ["run", ...paths], config: ["--config", "web/vitest.config.ts"], label })]
  },
}

/** Not of `npm test`, whose suites of the server have them too. */
const serverModules = {
  name: "server-modules",
  title: "modules of the server (vitest)",
  async run({ label }) {
    const others = whatOpensStores.map((pattern) => `--exclude=${pattern}`)
    return [await vitest("server-modules", { select: ["run", "server/src/", ...others], label })]
  },
}

/** Tests beside the code of these folders start stores or servers. */
const whatOpensStores = ["storage", "scheduler", "http"].map((folder) => `server/src/${folder}/**`)

const server = [
  {
    name: "server-embedded",
    group: "server",
    folder: "server/",
    title: "server on PGlite and chDB (vitest)",
    async run({ paths = ["server/"] }) {
      const env = { HEDDLE_PYTHON: await ensureEngine({ tests: true }) }
      return [await vitest("server-embedded", { select: ["run", ...paths], env })]
    },
  },
  {
    name: "server-grown",
    group: "server",
    folder: "server/",
    title: "server on PostgreSQL and ClickHouse (vitest)",
    async run({ paths }) {
      const HEDDLE_PYTHON = await ensureEngine({ tests: true })
      const postgres = await startPostgres()
      const clickhouse = await startClickHouse()
      const env = { HEDDLE_TEST_POSTGRES_URL: postgres.url, HEDDLE_TEST_CLICKHOUSE_URL: clickhouse.url, HEDDLE_PYTHON }
      const select = paths ? ["run", ...paths] : ["related", "--run", ...whereStoresComeFrom, ...embeddedOnly]
      try {
        return [await vitest("server-grown", { select, env })]
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
  folder: "web/browser/",
  title: "pages in a browser (vitest, Chromium)",
  async run({ paths = [] }) {
    const HEDDLE_TEST_BROWSER = await ensureChromium()
    if (HEDDLE_TEST_BROWSER === null) {
      console.log("skipped: there is no Chromium or Chrome, and without root and apt-get none can be installed")
      return [{ ...none, skipped: 1 }]
    }
    await ensureWeb()
    const env = { HEDDLE_TEST_BROWSER, HEDDLE_PYTHON: await ensureEngine(), ...(await ensureCatalogTemplate()) }
    return [
      await vitest("browser", { select: ["run", ...paths], config: ["--config", "web/browser/vitest.config.ts"], env }),
    ]
  },
}

const engine = {
  name: "engine",
  folder: "engine/tests/",
  title: "engine (pytest)",
  async run({ paths = ["engine/tests"] }) {
    return [await pytest(await ensureEngine({ tests: true }), "engine", paths)]
  },
}

// The newest have the most tests: first, so that none runs alone at the end.
const pythonClients = clientSets()
  .toReversed()
  .map((set) => ({
    name: set,
    group: "clients",
    paired: true,
    folder: "compat/python/",
    title: `Python clients: ${set}`,
    async run({ label, paths = ["compat/python"] }) {
      if (!canRunClients(set)) {
        console.log(
          `skipped: ${set} needs a newer Python than there is on the PATH or in pyenv (compat/python/locks/${set}.txt)`,
        )
        return [{ ...none, skipped: 1 }]
      }
      const HEDDLE_PYTHON = await ensureEngine()
      const python = await ensureClients(set)
      return [await pytest(python, set, paths, { HEDDLE_PYTHON, HEDDLE_CLIENT_SET: set }, label)]
    },
  }))

const reference = {
  name: "reference",
  paired: true,
  folder: "compat/reference/",
  title: "against the reference server (pytest)",
  async run({ label, paths = ["compat/reference"] }) {
    const python = await ensureLocked("reference", "reference server", fromRoot("compat", "reference", "lock.txt"))
    return [await pytest(python, "reference", paths, {}, label)]
  },
}

const nodeClients = {
  name: "node-clients",
  group: "clients",
  paired: true,
  folder: "compat/node/",
  title: "Node clients",
  async run({ label, paths = [] }) {
    const env = { HEDDLE_PYTHON: await ensureEngine() }
    return [
      await vitest("node-clients", {
        select: ["run", ...paths],
        config: ["--config", "compat/node/vitest.config.ts"],
        env,
        label,
      }),
    ]
  },
}

const fuzz = {
  name: "fuzz",
  paired: true,
  folder: "compat/fuzz/",
  title: "the served document (schemathesis)",
  async run({ label, paths = ["compat/fuzz"] }) {
    const python = await ensureLocked("fuzz", "schemathesis", fromRoot("compat", "fuzz", "lock.txt"))
    return [await pytest(python, "fuzz", paths, {}, label)]
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

/** What `npm run check` runs, two at a time: what can be told of a change within a minute. */
export const quickSuites = [...checks, scripts, web, serverModules].map((suite) => ({ ...suite, paired: true }))
