/**
 * Runs all tests, or those named: `npm test`, `npm test -- engine`, `npm test -- clients`.
 * Every suite runs, also after a failure; what failed in it runs once more, and what passes then is named as unsteady.
 * The last line is `N passed, N failed` (and `, N skipped`); the exit status is 1 when anything failed.
 */
import { ensureNodeModules } from "./setup/node-modules.mjs"
import { fromRoot } from "./setup/paths.mjs"
import { SetupError, seconds } from "./setup/progress.mjs"
import { add, describe, none } from "./test/counts.mjs"
import { suites } from "./test/suites.mjs"

export async function main(names) {
  const chosen = choose(names)
  await ensureNodeModules()
  // Of its own, because its packages are pinned as clients; the type check reads it too.
  await ensureNodeModules(fromRoot("compat", "node"))
  const results = []
  for (const suite of chosen.filter(({ paired }) => !paired)) results.push(await runSuite(suite))
  const pairs = chosen.filter(({ paired }) => paired).values()
  const runPaired = async () => {
    for (const suite of pairs) results.push(await runSuite(suite, suite.name))
  }
  await Promise.all([runPaired(), runPaired()])
  const total = results.map((result) => result.counts).reduce(add, none)
  console.log(`\n${results.map(summary).join("\n")}\n`)
  for (const name of total.unsteady) console.log(`unsteady, it passed when it ran once more: ${name}`)
  for (const name of total.failures) console.log(`failed: ${name}`)
  console.log(describe(total))
  process.exitCode = total.failed === 0 ? 0 : 1
}

function choose(names) {
  for (const name of names) {
    if (!suites.some((suite) => isNamed(suite, name))) {
      const known = [...new Set(suites.flatMap((suite) => [suite.group, suite.name]))].filter(Boolean)
      throw new SetupError(`no tests are called ${name}: choose from ${known.join(", ")}`)
    }
  }
  return names.length === 0 ? suites : suites.filter((suite) => names.some((name) => isNamed(suite, name)))
}

const isNamed = (suite, name) => suite.name === name || suite.group === name

/** `label`: the name that its lines begin with, where another suite runs beside it. */
async function runSuite(suite, label) {
  console.log(`\n── ${suite.title} ${"─".repeat(Math.max(0, 70 - suite.title.length))}`)
  const began = performance.now()
  let counts
  try {
    counts = (await suite.run(label)).reduce(add, none)
  } catch (error) {
    console.log(error instanceof SetupError ? error.message : error.stack)
    counts = { ...none, failed: 1 }
  }
  return { title: suite.title, counts, ms: performance.now() - began }
}

const summary = ({ title, counts, ms }) =>
  `${counts.failed === 0 ? "ok    " : "FAILED"}  ${title.padEnd(44)} ${seconds(ms).padStart(8)}  ${describe(counts)}`
