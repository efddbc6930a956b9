/** How many tests of a run passed, failed and were skipped, and which failed, from the runner's own report. */
import { existsSync, readFileSync } from "node:fs"
import { relative } from "node:path"
import { root } from "../setup/paths.mjs"

/** `failures` and `unsteady` name tests; the unsteady failed at first and passed when they were run once more. */
export const none = { passed: 0, failed: 0, skipped: 0, failures: [], unsteady: [] }

export function add(a, b) {
  return {
    passed: a.passed + b.passed,
    failed: a.failed + b.failed,
    skipped: a.skipped + b.skipped,
    failures: [...a.failures, ...b.failures],
    unsteady: [...a.unsteady, ...b.unsteady],
  }
}

export function describe({ passed, failed, skipped }) {
  return `${passed} passed, ${failed} failed${skipped ? `, ${skipped} skipped` : ""}`
}

/** A checker that has only an exit status is one test. */
export function fromExit(code) {
  return code === 0 ? { ...none, passed: 1 } : { ...none, failed: 1 }
}

/** A runner that broke, or that ran nothing, has failed, whatever its report says. */
export function honest(counts, code) {
  const ran = counts.passed + counts.failed + counts.skipped
  return counts.failed === 0 && (code !== 0 || ran === 0) ? { ...counts, failed: 1 } : counts
}

/** `again` is the run of those that failed `first`: what passes in it is unsteady, and no failure. */
export function afterSecondRun(first, again) {
  const unsteady = first.failures.filter((name) => !again.failures.includes(name))
  // A run that broke, or that did not run them, says nothing of them.
  if (again.failed > again.failures.length || again.passed < unsteady.length) return first
  return {
    ...first,
    passed: first.passed + unsteady.length,
    failed: first.failed - unsteady.length,
    failures: first.failures.filter((name) => again.failures.includes(name)),
    unsteady,
  }
}

/** pytest --junitxml: errors are tests whose fixtures failed. */
export function fromJunit(path) {
  if (!existsSync(path)) return none
  const report = readFileSync(path, "utf8")
  const suite = report.match(/<testsuite .*?>/s)?.[0] ?? ""
  const number = (name) => Number(suite.match(new RegExp(` ${name}="(\\d+)"`))?.[1] ?? 0)
  const failed = number("failures") + number("errors")
  const cases = report.match(/<testcase [^>]*?(?:\/>|>.*?<\/testcase>)/gs) ?? []
  const attribute = (text, name) => text.match(new RegExp(` ${name}="([^"]*)"`))?.[1] ?? ""
  const failures = cases
    .filter((one) => /<(failure|error)[ >]/.test(one))
    .map((one) => `${attribute(one, "classname")} > ${attribute(one, "name")}`)
  return {
    ...none,
    passed: Math.max(0, number("tests") - failed - number("skipped")),
    failed,
    skipped: number("skipped"),
    failures,
  }
}

/** vitest --reporter=json: a file that cannot be loaded has no tests and is one failure. */
export function fromVitest(path) {
  if (!existsSync(path)) return none
  const report = JSON.parse(readFileSync(path, "utf8"))
  const failures = report.testResults.flatMap(({ name, status, assertionResults }) => {
    const file = relative(root, name)
    const failed = assertionResults.filter((test) => test.status === "failed")
    if (status === "failed" && failed.length === 0) return [file]
    return failed.map(({ fullName }) => `${file} > ${fullName}`)
  })
  return {
    ...none,
    passed: report.numPassedTests,
    failed: failures.length,
    skipped: report.numPendingTests + report.numTodoTests,
    failures,
  }
}

/** The file of a test that `fromVitest` names. */
export const fileOf = (failure) => failure.split(" > ")[0]
