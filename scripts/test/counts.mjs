/** How many tests of a run passed, failed and were skipped, from the runner's own report. */
import { existsSync, readFileSync } from "node:fs"

export const none = { passed: 0, failed: 0, skipped: 0 }

export function add(a, b) {
  return { passed: a.passed + b.passed, failed: a.failed + b.failed, skipped: a.skipped + b.skipped }
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

/** pytest --junitxml: errors are tests whose fixtures failed. */
export function fromJunit(path) {
  if (!existsSync(path)) return none
  const suite = readFileSync(path, "utf8").match(/<testsuite .*?>/s)?.[0] ?? ""
  const number = (name) => Number(suite.match(new RegExp(` ${name}="(\\d+)"`))?.[1] ?? 0)
  const failed = number("failures") + number("errors")
  return { passed: Math.max(0, number("tests") - failed - number("skipped")), failed, skipped: number("skipped") }
}

/** vitest --reporter=json: a file that cannot be loaded has no tests and is one failure. */
export function fromVitest(path) {
  if (!existsSync(path)) return none
  const report = JSON.parse(readFileSync(path, "utf8"))
  const broken = report.testResults.filter(
    (file) => file.status === "failed" && !file.assertionResults.some((test) => test.status === "failed"),
  )
  return {
    passed: report.numPassedTests,
    failed: report.numFailedTests + broken.length,
    skipped: report.numPendingTests + report.numTodoTests,
  }
}
