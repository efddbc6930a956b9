/**
 * Runs all tests, or those named: `npm test`, `npm test -- engine`, `npm test -- server/test/files.test.ts`.
 * Every suite runs, also after a failure; what failed in it runs once more, and what passes then is named as unsteady.
 * The last line is `N passed, N failed` (and `, N skipped`); the exit status is 1 when anything failed.
 */
import { existsSync } from "node:fs"
import { ensureNodeModules } from "./setup/node-modules.mjs"
import { fromRoot } from "./setup/paths.mjs"
import { SetupError, seconds } from "./setup/progress.mjs"
import { chosenSuites } from "./test/choice.mjs"
import { add, describe, none } from "./test/counts.mjs"
import { quickSuites, suites } from "./test/suites.mjs"

export async function main(names) {
  await runAll(chosenSuites(suites, names, (path) => existsSync(fromRoot(path))))
}

/** `npm run check`. */
export async function check(names) {
  if (names.length > 0)
    throw new SetupError(`npm run check takes no names; to run the tests of one: npm test -- ${names[0]}`)
  await runAll(quickSuites.map((suite) => ({ suite })))
}

async function runAll(chosen) {
  await ensureNodeModules()
  // Of its own, because its packages are pinned as clients; the type check reads it too.
  await ensureNodeModules(fromRoot("compat", "node"))
  const results = []
  for (const { suite, paths } of chosen.filter(({ suite: { paired } }) => !paired)) {
    results.push(await runSuite(suite, { paths }))
  }
  const pairs = chosen.filter(({ suite: { paired } }) => paired).values()
  const runPaired = async () => {
    for (const { suite, paths } of pairs) results.push(await runSuite(suite, { paths, label: suite.name }))
  }
  await Promise.all([runPaired(), runPaired()])
  const total = results.map((result) => result.counts).reduce(add, none)
  console.log(`\n${results.map(summary).join("\n")}\n`)
  for (const name of total.unsteady) console.log(`unsteady, it passed when it ran once more: ${name}`)
  for (const name of total.failures) console.log(`failed: ${name}`)
  console.log(describe(total))
  process.exitCode = total.failed === 0 ? 0 : 1
}

async function runSuite(suite, how) {
  console.log(`\n── ${suite.title} ${"─".repeat(Math.max(0, 70 - suite.title.length))}`)
  const began = performance.now()
  let counts
  try {
    counts = (await suite.run(how)).reduce(add, none)
  } catch (error) {
    console.log(error instanceof SetupError ? error.message : error.stack)
    counts = { ...none, failed: 1 }
  }
  return { title: suite.title, counts, ms: performance.now() - began }
}

const summary = ({ title, counts, ms }) =>
  `${counts.failed === 0 ? "ok    " : "FAILED"}  ${title.padEnd(44)} ${seconds(ms).padStart(8)}  ${describe(counts)}`
