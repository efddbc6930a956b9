/**
 * Runs the client suites against the newest versions that the registries have: `npm run compat:newest -- [SET …]`.
 * Each set is installed without its pins into a temporary environment; what differs from the pins and what fails is
 * printed.
 */
import { cpSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { changesOf } from "./clients/version-changes.mjs"
import { ensureEngine } from "./setup/engine.mjs"
import { ensureNodeModules, projectNode } from "./setup/node-modules.mjs"
import { cache, fromRoot, venvBin } from "./setup/paths.mjs"
import { SetupError, step } from "./setup/progress.mjs"
import { makeUnpinned } from "./setup/python.mjs"
import { ask, runLogged } from "./setup/run.mjs"
import { add, describe, fromJunit, fromVitest, honest, none } from "./test/counts.mjs"
import { reportPath, runTool } from "./test/runner.mjs"

const node = "node-clients"
const readJson = (...parts) => JSON.parse(readFileSync(fromRoot("compat", ...parts), "utf8"))

export async function main(names) {
  const sets = readJson("python", "sets.json")
  const known = [...Object.keys(sets).filter((name) => sets[name].newest), node]
  const unknown = names.find((name) => !known.includes(name))
  if (unknown !== undefined) throw new SetupError(`no set ${unknown} to run newer: choose of ${known.join(", ")}`)
  await ensureNodeModules()
  await ensureNodeModules(fromRoot("compat", "node"))
  const HEDDLE_PYTHON = await ensureEngine()
  const results = []
  for (const name of names.length > 0 ? names : known) {
    try {
      results.push({
        name,
        ...(await (name === node ? runNode(HEDDLE_PYTHON) : runPython(name, sets[name], HEDDLE_PYTHON))),
      })
    } catch (error) {
      if (!(error instanceof SetupError)) throw error
      console.log(error.message)
      results.push({
        name,
        changes: [],
        counts: { ...none, failed: 1, failures: ["its newest versions cannot be installed together"] },
      })
    }
  }
  for (const { name, changes, counts } of results) {
    console.log(`\n${name}: ${describe(counts)}`)
    for (const change of changes) console.log(`  ${change}`)
    for (const failure of counts.failures) console.log(`  failed: ${failure}`)
  }
  const total = results.map(({ counts }) => counts).reduce(add, none)
  console.log(`\n${describe(total)}`)
  process.exitCode = total.failed === 0 ? 0 : 1
}

async function runPython(name, { newest, clients }, HEDDLE_PYTHON) {
  const venv = join(cache, "newest", name)
  const lock = fromRoot("compat", "python", "locks", `${name}.txt`)
  try {
    await makeUnpinned(venv, `newest of ${name}`, lock, [...newest, "pytest"])
    const python = venvBin(venv, "python")
    const list = JSON.parse(
      ask(python, ["-m", "pip", "list", "--format", "json", "--disable-pip-version-check"]) ?? "[]",
    )
    const report = reportPath(`${name}-newest.xml`)
    const notes = `cache_dir=${reportPath(`${name}-newest-cache`)}`
    const args = ["-m", "pytest", "-q", "-o", notes, "--junitxml", report, "compat/python"]
    const code = await runTool(python, args, { HEDDLE_PYTHON, HEDDLE_CLIENT_SET: name }, name)
    return { changes: changesOf(readFileSync(lock, "utf8"), list, clients), counts: honest(fromJunit(report), code) }
  } finally {
    rmSync(venv, { recursive: true, force: true })
  }
}

/** Runs a copy of `compat/node` that lies beside it, since the tests find the repository by their own path. */
async function runNode(HEDDLE_PYTHON) {
  const folder = fromRoot("compat", "node-newest")
  const { clients, ...manifest } = readJson("node", "package.json")
  const dependencies = { ...manifest.dependencies, ...Object.fromEntries(clients.map((name) => [name, "latest"])) }
  try {
    const isOurs = (path) => !path.includes("node_modules") && !path.endsWith("package-lock.json")
    cpSync(fromRoot("compat", "node"), folder, { recursive: true, filter: isOurs })
    writeFileSync(join(folder, "package.json"), JSON.stringify({ ...manifest, clients, dependencies }))
    await step("newest npm clients", (detail) =>
      runLogged("npm", ["install", "--ignore-scripts", "--no-audit", "--no-fund"], {
        cwd: folder,
        log: join(cache, "logs", "node-newest.log"),
        detail,
      }),
    )
    const list = clients.map((name) => ({ name, ...readJson("node-newest", "node_modules", name, "package.json") }))
    const report = reportPath("node-newest.json")
    const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${report}`]
    const config = ["--config", "compat/node-newest/vitest.config.ts"]
    const args = ["node_modules/vitest/vitest.mjs", "run", ...config, ...reporters]
    const code = await runTool(projectNode, args, { HEDDLE_PYTHON }, node)
    const pins = clients.map((name) => `${name}==${manifest.dependencies[name]}`).join("\n")
    return { changes: changesOf(pins, list, clients), counts: honest(fromVitest(report), code) }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
