/** Reads a runner's report: how many tests passed, failed and were skipped, which failed, and the time of each file. */
import { existsSync, readFileSync } from "node:fs"
import { relative } from "node:path"
import { root } from "../setup/paths.mjs"

/**
 * The counts of no test. `failures` and `unsteady` name tests; an unsteady test failed at first and passed in a second
 * run. `files` has the time of each file: `{ file, ms }`.
 */
export const none = { passed: 0, failed: 0, skipped: 0, failures: [], unsteady: [], files: [] }

export function add(a, b) {
  return {
    passed: a.passed + b.passed,
    failed: a.failed + b.failed,
    skipped: a.skipped + b.skipped,
    failures: [...a.failures, ...b.failures],
    unsteady: [...a.unsteady, ...b.unsteady],
    files: [...a.files, ...b.files],
  }
}

export function describe({ passed, failed, skipped }) {
  return `${passed} passed, ${failed} failed${skipped ? `, ${skipped} skipped` : ""}`
}

/** A checker that has only an exit status is one test. */
export function fromExit(code) {
  return code === 0 ? { ...none, passed: 1 } : { ...none, failed: 1 }
}

/** Counts a runner that broke, or that ran nothing, as one failure, whatever its report says. */
export function honest(counts, code) {
  const ran = counts.passed + counts.failed + counts.skipped
  return counts.failed === 0 && (code !== 0 || ran === 0) ? { ...counts, failed: 1 } : counts
}

/** `again` is a second run of the tests that failed in `first`: those that pass in it are unsteady, and no failures. */
export function afterSecondRun(first, again) {
  const unsteady = first.failures.filter((name) => !again.failures.includes(name))
  // A second run that broke, or that did not run all of them, says nothing about them.
  if (again.failed > again.failures.length || again.passed < unsteady.length) return first
  return {
    ...first,
    passed: first.passed + unsteady.length,
    failed: first.failed - unsteady.length,
    failures: first.failures.filter((name) => again.failures.includes(name)),
    unsteady,
  }
}

/** Reads the report of `pytest --junitxml`; its errors are tests whose fixtures failed. */
export function fromJunit(path) {
  if (!existsSync(path)) return none
  const report = readFileSync(path, "utf8")
  const suite = report.match(/<testsuite .*?>/s)?.[0] ?? ""
  const number = (name) => Number(suite.match(new RegExp(` ${name}="(\\d+)"`))?.[1] ?? 0)
  const failed = number("failures") + number("errors")
  const cases = report.match(/<testcase [^>]*?(?:\/>|>.*?<\/testcase>)/gs) ?? []
  const attribute = (text, name) => text.match(new RegExp(` ${name}="([^"]*)"`))?.[1] ?? ""
  // A file that cannot be collected has no class: the case's name is the file's.
  const fileName = (one) => attribute(one, "classname") || attribute(one, "name")
  const failures = cases
    .filter((one) => /<(failure|error)[ >]/.test(one))
    .map((one) => [attribute(one, "classname"), attribute(one, "name")].filter(Boolean).join(" > "))
  return {
    ...none,
    passed: Math.max(0, number("tests") - failed - number("skipped")),
    failed,
    skipped: number("skipped"),
    failures,
    files: timesOf(cases.map((one) => [fileName(one), Number(attribute(one, "time")) * 1000])),
  }
}

/** Time of each file, whose path is made from its name as a Python module, which pytest reports. */
function timesOf(cases) {
  const files = new Map()
  for (const [module, ms] of cases) files.set(module, (files.get(module) ?? 0) + ms)
  return [...files].map(([module, ms]) => ({ file: `${module.replaceAll(".", "/")}.py`, ms: Math.round(ms) }))
}

/**
 * Reads the report of `vitest --reporter=json`. A file that cannot be loaded has no tests and is one failure. `notes`
 * is the path of the notes of run-notes.mjs: errors outside tests fail the run too, and the report does not have them.
 */
export function fromVitest(path, notes) {
  if (!existsSync(path)) return none
  const { files, errors } =
    notes !== undefined && existsSync(notes) ? JSON.parse(readFileSync(notes, "utf8")) : { files: [], errors: [] }
  const report = JSON.parse(readFileSync(path, "utf8"))
  const ofTests = report.testResults.flatMap(({ name, status, assertionResults }) => {
    const file = relative(root, name)
    const failed = assertionResults.filter((test) => test.status === "failed")
    if (status === "failed" && failed.length === 0) return [file]
    return failed.map(({ fullName }) => `${file} > ${fullName}`)
  })
  // What was left behind in one place may fail many times.
  const outside = new Set(errors.map(({ file, text }) => `${file} > outside of a test: ${text}`))
  const failures = [...ofTests, ...outside]
  return {
    ...none,
    passed: report.numPassedTests,
    failed: failures.length,
    skipped: report.numPendingTests + report.numTodoTests,
    failures,
    files,
  }
}

/** The file of a test that `fromVitest` names. */
export const fileOf = (failure) => failure.split(" > ")[0]

/** The files that took longest, the slowest first, without those that took less than `fromMs`. */
export function slowest(files, most = 10, fromMs = 1_000) {
  return files
    .filter(({ ms }) => ms >= fromMs)
    .toSorted((a, b) => b.ms - a.ms)
    .slice(0, most)
}
