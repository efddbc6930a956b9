import { mkdtempSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, test } from "vitest"
import { describe, fromExit, fromJunit, fromVitest, honest } from "./counts.mjs"

function file(name, text) {
  const path = join(mkdtempSync(join(tmpdir(), "heddle-counts-")), name)
  writeFileSync(path, text)
  return path
}

test("pytest: errors of fixtures are failures", () => {
  const report = file(
    "r.xml",
    '<?xml version="1.0"?><testsuites name="all"><testsuite name="pytest" errors="1" failures="2" skipped="3" tests="10" time="1">' +
      '<testcase name="a"/></testsuite></testsuites>',
  )
  expect(fromJunit(report)).toEqual({ passed: 4, failed: 3, skipped: 3 })
})

test("vitest: a file that cannot be loaded is a failure", () => {
  const report = file(
    "r.json",
    JSON.stringify({
      numPassedTests: 5,
      numFailedTests: 1,
      numPendingTests: 2,
      numTodoTests: 0,
      testResults: [
        { status: "failed", assertionResults: [{ status: "failed" }] },
        { status: "failed", assertionResults: [] },
        { status: "passed", assertionResults: [{ status: "passed" }] },
      ],
    }),
  )
  expect(fromVitest(report)).toEqual({ passed: 5, failed: 2, skipped: 2 })
})

test("a runner that wrote no report, ran nothing or died has failed", () => {
  expect(honest(fromJunit("/does/not/exist"), 0)).toEqual({ passed: 0, failed: 1, skipped: 0 })
  expect(honest({ passed: 0, failed: 0, skipped: 0 }, 5)).toEqual({ passed: 0, failed: 1, skipped: 0 })
  expect(honest({ passed: 7, failed: 0, skipped: 0 }, "SIGKILL")).toEqual({ passed: 7, failed: 1, skipped: 0 })
  expect(honest({ passed: 7, failed: 0, skipped: 0 }, 0)).toEqual({ passed: 7, failed: 0, skipped: 0 })
})

test("a checker is one test", () => {
  expect([fromExit(0), fromExit(1), fromExit("SIGKILL")].map((counts) => counts.failed)).toEqual([0, 1, 1])
})

test("skips are told only when there are any", () => {
  expect(describe({ passed: 3, failed: 0, skipped: 0 })).toBe("3 passed, 0 failed")
  expect(describe({ passed: 3, failed: 1, skipped: 2 })).toBe("3 passed, 1 failed, 2 skipped")
})
