/**
 * Runs all tests, or those named: `npm test`, `npm test -- engine`, `npm test -- server/test/platform/files.test.ts -t
 * "a title"`. Every suite runs, also after a failure; its failed tests run once more, and those that pass then are
 * named as unsteady. The last line is `N passed, N failed` (and `, N skipped`); the exit status is 1 when anything
 * failed.
 */
import { existsSync } from "node:fs"
import { ensureNodeModules } from "./setup/node-modules.mjs"
import { fromRoot } from "./setup/paths.mjs"
import { SetupError, seconds } from "./setup/progress.mjs"
import { chosenSuites, titleIn } from "./test/choice.mjs"
import { add, describe, none, slowest } from "./test/counts.mjs"
import { runInLanes } from "./test/lanes.mjs"
import { keepTemporaryFilesInMemory } from "./test/memory-folder.mjs"
import { longestSuites, quickSuites, suites } from "./test/suites.mjs"

/**
 * Suites that wait for a client, a page, an engine or a store much of the time run in this many lanes, beside the others. With
 * one more, and three processes of the server's tests, all of it took a tenth more processor time on two cores.
 */
const LANES_BESIDE = 2
/** The server's tests run in two processes: as many lanes take their place at the end. */
const LANES_AFTER = 2
/** Quick suites wait for nothing: one for each of two cores. */
const QUICK_LANES = 2

export async function main(names) {
  const { title, others } = titleIn(names)
  const chosen = chosenSuites(suites, others, (path) => existsSync(fromRoot(path)))
  await runAll(chosen, { title, lanes: LANES_BESIDE, helpers: LANES_AFTER })
}

/** Runs `npm run check`: the suites that end within a minute. */
export async function check(names) {
  if (names.length > 0)
    throw new SetupError(`npm run check takes no names; to run the tests of one: npm test -- ${names[0]}`)
  await runAll(
    quickSuites.map((suite) => ({ suite })),
    { lanes: QUICK_LANES },
  )
}

async function runAll(chosen, { title, lanes, helpers }) {
  keepTemporaryFilesInMemory()
  // The Node clients have a folder of their own, because its packages are pinned as clients; the type check reads it
  // too.
  await Promise.all([ensureNodeModules(), ensureNodeModules(fromRoot("compat", "node"))])
  const results = new Map()
  const isAlone = chosen.length === 1
  await runInLanes(chosen, { lanes, helpers, longest: longestSuites }, async ({ suite, paths }) => {
    results.set(suite, await runSuite(suite, { paths, title, label: isAlone ? undefined : suite.name }))
  })
  const inOrder = chosen.map(({ suite }) => ({ title: suite.title, ...results.get(suite) }))
  const total = inOrder.map(({ counts }) => counts).reduce(add, none)
  console.log(`\nslowest files\n${inOrder.flatMap(slowestFiles).join("\n")}`)
  console.log(`\n${inOrder.map(summary).join("\n")}\n`)
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
  return { counts, ms: performance.now() - began }
}

function slowestFiles({ title, counts }) {
  const files = slowest(counts.files)
  if (files.length === 0) return []
  return [`  ${title}`, ...files.map(({ file, ms }) => `  ${seconds(ms).padStart(10)}  ${file}`)]
}

const summary = ({ title, counts, ms }) =>
  `${counts.failed === 0 ? "ok    " : "FAILED"}  ${title.padEnd(44)} ${seconds(ms).padStart(8)}  ${describe(counts)}`
