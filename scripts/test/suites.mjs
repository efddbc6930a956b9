/**
 * The suites of `npm test`, in order. `name` and `group` select a suite, or a path in its `folder`. `run` installs what
 * the suite needs, runs it with its output on the terminal and returns its counts; with `paths` it runs only the tests
 * there, with a `title` only those that fit it, and with a `label` each line of output begins with that, because other
 * suites run at the same time. Suites that are `beside` wait for a client, a page or an engine much of the time, and run
 * while the others use the processors. A suite that is `onlyByName` is not among those that run when none is named.
 */
import { ensureCatalogTemplate } from "../setup/catalog.mjs"
import { ensureTestBrowser } from "../setup/chromium.mjs"
import { startClickHouse } from "../setup/clickhouse.mjs"
import { canRunClients, clientSets, ensureClients } from "../setup/clients.mjs"
import { ensureEngine } from "../setup/engine.mjs"
import { projectNode } from "../setup/node-modules.mjs"
import { startPostgres } from "../setup/postgres.mjs"
import { fromRoot } from "../setup/paths.mjs"
import { ensureVllm } from "../setup/vllm.mjs"
import { ensureWeb } from "../setup/web.mjs"
import { ensureLocked } from "../setup/python.mjs"
import { afterSecondRun, fileOf, fromExit, fromJunit, fromVitest, honest, none } from "./counts.mjs"
import { reportPath, runTool } from "./runner.mjs"
import { onEmbedded, onGrown, whereStoresComeFrom } from "./server-files.mjs"

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

/** A suite of tools that have only an exit status; `ruff` are the arguments of the same check for Python. */
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
  async run({ paths = ["scripts/"], ...how }) {
    return [await vitest("scripts", { select: ["run", ...paths], ...how })]
  },
}

const web = {
  name: "web",
  folder: "web/",
  title: "modules of the web interface (vitest)",
  async run({ paths = [], ...how }) {
    return [await vitest("web", { select: ["run", ...paths], config: ["--config", "web/vitest.config.ts"], ...how })]
  },
}

/** Only for `npm run check`: the server's suites of `npm test` run these tests too. */
const serverModules = {
  name: "server-modules",
  title: "modules of the server (vitest)",
  async run(how) {
    const others = whatOpensStores.map((pattern) => `--exclude=${pattern}`)
    const env = await readyCatalog()
    return [await vitest("server-modules", { select: ["run", "server/src/", ...others], env, ...how })]
  },
}

/** Folders whose tests, which lie beside the code, start stores or servers. */
const whatOpensStores = ["storage", "scheduler", "http"].map((folder) => `server/src/${folder}/**`)

const server = [
  {
    name: "server-embedded",
    group: "server",
    folder: "server/",
    title: "server on PGlite and chDB (vitest)",
    async run({ paths = ["server/", ...without(onGrown)], ...how }) {
      const env = await forServerTests()
      return [await vitest("server-embedded", { select: ["run", ...paths], env, ...how })]
    },
  },
  {
    name: "server-grown",
    beside: true,
    group: "server",
    folder: "server/",
    title: "server on PostgreSQL and ClickHouse (vitest)",
    async run({ paths, ...how }) {
      const common = await forServerTests()
      const postgres = await startPostgres()
      const clickhouse = await startClickHouse()
      const env = { ...common, HEDDLE_TEST_POSTGRES_URL: postgres.url, HEDDLE_TEST_CLICKHOUSE_URL: clickhouse.url }
      const related = ["related", "--run", ...whereStoresComeFrom, ...without(onEmbedded)]
      const select = paths ? ["run", ...paths] : related
      try {
        return [await vitest("server-grown", { select, env, ...how })]
      } finally {
        await clickhouse.stop()
        await postgres.stop()
      }
    },
  },
]

/** Settings of the server's own tests: the engine's Python, and a catalog that they copy. */
const forServerTests = async () => ({ HEDDLE_PYTHON: await ensureEngine({ tests: true }), ...(await readyCatalog()) })

/** Its name is another than the server's own setting, which the servers that a test starts would follow. */
async function readyCatalog() {
  const { HEDDLE_CATALOG_TEMPLATE: folder } = await ensureCatalogTemplate()
  return folder === undefined ? {} : { HEDDLE_TEST_READY_CATALOG: folder }
}

const without = (files) => files.map((file) => `--exclude=${file}`)

const browser = {
  name: "browser",
  beside: true,
  folder: "web/browser/",
  title: "pages in a browser (vitest, Chromium)",
  async run({ paths = [], ...how }) {
    const HEDDLE_TEST_BROWSER = await ensureTestBrowser()
    if (HEDDLE_TEST_BROWSER === null) {
      console.log("skipped: there is no Chromium or Chrome, and without root and apt-get none can be installed")
      return [{ ...none, skipped: 1 }]
    }
    await ensureWeb()
    const env = { HEDDLE_TEST_BROWSER, ...(await forServers()) }
    const config = ["--config", "web/browser/vitest.config.ts"]
    return [await vitest("browser", { select: ["run", ...paths], config, env, ...how })]
  },
}

const engine = {
  name: "engine",
  beside: true,
  folder: "engine/tests/",
  title: "engine (pytest)",
  async run({ paths = ["engine/tests"], ...how }) {
    const others = [`--ignore=${vllm.folder}`]
    return [await pytest(await ensureEngine({ tests: true }), "engine", { paths: [...paths, ...others], ...how })]
  },
}

/** The installation takes 3.5 GB and three minutes, and each start of vLLM half a minute or more. */
const vllm = {
  name: "vllm",
  folder: "engine/tests/vllm/",
  onlyByName: true,
  title: "sampling with vLLM (pytest)",
  async run({ paths = ["engine/tests/vllm"], ...how }) {
    const env = { HEDDLE_VLLM_PYTHON: await ensureVllm() }
    return [await pytest(await ensureEngine({ tests: true }), "vllm", { paths, env, ...how })]
  },
}

/** Settings of the servers that a suite starts: the engine's Python, and an empty catalog to begin with. */
const forServers = async () => ({ HEDDLE_PYTHON: await ensureEngine(), ...(await ensureCatalogTemplate()) })

// The newest sets have the most tests and go first, so that none runs alone at the end.
const pythonClients = clientSets()
  .toReversed()
  .map((set) => ({
    name: set,
    group: "clients",
    beside: true,
    folder: "compat/python/",
    title: `Python clients: ${set}`,
    async run({ paths = ["compat/python"], ...how }) {
      if (!canRunClients(set)) {
        console.log(
          `skipped: ${set} needs a newer Python than there is on the PATH or in pyenv (compat/python/locks/${set}.txt)`,
        )
        return [{ ...none, skipped: 1 }]
      }
      const env = { ...(await forServers()), HEDDLE_CLIENT_SET: set }
      return [await pytest(await ensureClients(set), set, { paths, env, ...how })]
    },
  }))

/** It needs vLLM, as the suite `vllm` does. */
const killedLoop = {
  name: "killed-loop",
  onlyByName: true,
  title: "ART's loop while processes are killed (pytest)",
  async run(how) {
    const set = "art-0.5.23"
    const env = { ...(await forServers()), HEDDLE_CLIENT_SET: set, HEDDLE_VLLM_PYTHON: await ensureVllm() }
    const paths = ["compat/python/test_killed_loop.py"]
    return [await pytest(await ensureClients(set), "killed-loop", { ...how, paths, env })]
  },
}

const reference = {
  name: "reference",
  beside: true,
  folder: "compat/reference/",
  title: "against the reference server (pytest)",
  async run({ paths = ["compat/reference"], ...how }) {
    const python = await ensureLocked("reference", "reference server", fromRoot("compat", "reference", "lock.txt"))
    return [await pytest(python, "reference", { paths, env: await ensureCatalogTemplate(), ...how })]
  },
}

const nodeClients = {
  name: "node-clients",
  group: "clients",
  beside: true,
  folder: "compat/node/",
  title: "Node clients",
  async run({ paths = [], ...how }) {
    const env = await forServers()
    const config = ["--config", "compat/node/vitest.config.ts"]
    return [await vitest("node-clients", { select: ["run", ...paths], config, env, ...how })]
  },
}

const fuzz = {
  name: "fuzz",
  beside: true,
  folder: "compat/fuzz/",
  title: "the served document (schemathesis)",
  async run({ paths = ["compat/fuzz"], ...how }) {
    const python = await ensureLocked("fuzz", "schemathesis", fromRoot("compat", "fuzz", "lock.txt"))
    return [await pytest(python, "fuzz", { paths, env: await ensureCatalogTemplate(), ...how })]
  },
}

/** It needs an image that somebody built, and podman or docker: docs/guide/container.md. */
const image = {
  name: "image",
  folder: "compat/image/",
  onlyByName: true,
  title: "the image in containers (vitest)",
  async run({ paths = [], ...how }) {
    if (!process.env.HEDDLE_TEST_IMAGE) {
      console.log("skipped: HEDDLE_TEST_IMAGE names no image")
      return [{ ...none, skipped: 1 }]
    }
    const config = ["--config", "compat/image/vitest.config.ts"]
    return [await vitest("image", { select: ["run", ...paths], config, ...how })]
  },
}

const runNotes = fromRoot("scripts", "test", "run-notes.mjs")

/** When more files than this fail, they share one reason, and a second run tells nothing new. */
const MOST_FILES_AGAIN = 5

/**
 * `config`: arguments that hold for each run; `select`: what the first run takes; `title`: a pattern that titles fit.
 */
async function vitest(name, { select = ["run"], config = [], env, label, title }) {
  const run = async (report, args) => {
    const only = title === undefined ? [] : ["--testNamePattern", title]
    const notes = report.replace(/json$/, "notes.json")
    const reporters = [
      `--outputFile.json=${report}`,
      ...["default", "json", runNotes].map((one) => `--reporter=${one}`),
    ]
    const tool = ["node_modules/vitest/vitest.mjs", ...args, ...config, ...reporters, ...only]
    const code = await runTool(projectNode, tool, { ...env, HEDDLE_RUN_NOTES: notes }, label)
    return { code, counts: honest(fromVitest(report, notes), code) }
  }
  const first = await run(reportPath(`${name}.json`), select)
  const files = [...new Set(first.counts.failures.map(fileOf))]
  if (typeof first.code !== "number" || files.length === 0 || files.length > MOST_FILES_AGAIN) return first.counts
  console.log(`\n${name}: what failed runs once more: ${files.join(", ")}`)
  const again = await run(reportPath(`${name}-again.json`), ["run", ...files])
  return afterSecondRun(first.counts, again.counts)
}

async function pytest(python, name, { paths, env = {}, label, title }) {
  // A cache for each suite: suites run at the same time, and pytest keeps the failed tests of each in its cache.
  const cache = `cache_dir=${reportPath(`${name}-cache`)}`
  const run = async (report, args) => {
    const only = title === undefined ? [] : ["-k", title]
    const tool = ["-m", "pytest", "-q", "-o", cache, "--junitxml", report, ...args, ...only, ...paths]
    const code = await runTool(python, tool, env, label)
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
  vllm,
  ...pythonClients,
  killedLoop,
  nodeClients,
  reference,
  fuzz,
  image,
]

/**
 * Suites that are `beside` and take longest, in the order of their beginnings: none of them runs alone at the end.
 * `server-grown` begins once two of the three before it have ended, since its own processes already share the cores.
 */
export const longestSuites = [
  "browser",
  "engine",
  "weave-0.54.0",
  "server-grown",
  "weave-0.52.22",
  "art-0.5.23",
  "art-0.5.18",
]

/** The suites of `npm run check`, which run two at a time and end within a minute. */
export const quickSuites = [...checks, scripts, web, serverModules].map((suite) => ({ ...suite, beside: true }))
