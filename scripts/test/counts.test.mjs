import { mkdtempSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, test } from "vitest"
import { fromRoot } from "../setup/paths.mjs"
import { add, afterSecondRun, describe, fromExit, fromJunit, fromVitest, honest, none, slowest } from "./counts.mjs"

function file(name, text) {
  const path = join(mkdtempSync(join(tmpdir(), "heddle-counts-")), name)
  writeFileSync(path, text)
  return path
}

test("pytest: errors of fixtures are failures, and each failure has its name", () => {
  const report = file(
    "r.xml",
    '<?xml version="1.0"?><testsuites name="all"><testsuite name="pytest" errors="2" failures="2" skipped="3" tests="11" time="1">' +
      '<testcase classname="compat.test_a" name="test_passes" time="1" />' +
      '<testcase classname="compat.test_a" name="test_fails[1]" time="1"><failure message="no">a\n b</failure></testcase>' +
      '<testcase classname="compat.test_b" name="test_breaks" time="1"><error message="no">c</error></testcase>' +
      '<testcase classname="compat.test_b" name="test_waits" time="1.5"><skipped message="no">d</skipped></testcase>' +
      '<testcase classname="" name="compat.test_c" time="0.5"><error message="no module">e</error></testcase>' +
      "</testsuite></testsuites>",
  )
  const failures = ["compat.test_a > test_fails[1]", "compat.test_b > test_breaks", "compat.test_c"]
  const files = [
    { file: "compat/test_a.py", ms: 2000 },
    { file: "compat/test_b.py", ms: 2500 },
    { file: "compat/test_c.py", ms: 500 },
  ]
  expect(fromJunit(report)).toEqual({ ...none, passed: 4, failed: 4, skipped: 3, failures, files })
})

test("vitest: a file that cannot be loaded and an error that no test caught are failures, and each has its name", () => {
  const report = file(
    "r.json",
    JSON.stringify({
      numPassedTests: 5,
      numFailedTests: 1,
      numPendingTests: 2,
      numTodoTests: 0,
      testResults: [
        {
          name: fromRoot("a.test.ts"),
          status: "failed",
          assertionResults: [{ status: "failed", fullName: "a tree grows" }],
        },
        { name: fromRoot("b.test.ts"), status: "failed", assertionResults: [] },
        {
          name: fromRoot("c.test.ts"),
          status: "passed",
          assertionResults: [{ status: "passed", fullName: "it rains" }],
        },
      ],
    }),
  )
  const failures = ["a.test.ts > a tree grows", "b.test.ts"]
  expect(fromVitest(report)).toEqual({ ...none, passed: 5, failed: 2, skipped: 2, failures })
  const hail = { file: "c.test.ts", text: "Error: it hailed" }
  const notes = { files: [{ file: "a.test.ts", ms: 12 }], errors: [hail, hail] }
  const withNotes = fromVitest(report, file("notes.json", JSON.stringify(notes)))
  expect(withNotes.files).toEqual(notes.files)
  expect(withNotes).toMatchObject({
    failed: 3,
    failures: [...failures, "c.test.ts > outside of a test: Error: it hailed"],
  })
  expect(fromVitest(report, "/does/not/exist").files).toEqual([])
})

test("the slowest files come first, and fast files are left out", () => {
  const files = ["a", "b", "c", "d"].map((name, index) => ({ file: name, ms: index * 1000 }))
  expect(slowest(files, 2).map(({ file: name }) => name)).toEqual(["d", "c"])
  expect(slowest(files).map(({ file: name }) => name)).toEqual(["d", "c", "b"])
})

test("a test that passes in the second run is unsteady, and one that fails in both has failed", () => {
  const first = { ...none, passed: 7, failed: 2, failures: ["a", "b"] }
  const again = (failures) => ({ ...none, passed: 5, failed: failures.length, failures })
  expect(afterSecondRun(first, again([]))).toEqual({ ...none, passed: 9, unsteady: ["a", "b"] })
  expect(afterSecondRun(first, again(["b"]))).toEqual({
    ...none,
    passed: 8,
    failed: 1,
    failures: ["b"],
    unsteady: ["a"],
  })
})

test("a second run that breaks, or that runs nothing, leaves the failures of the first", () => {
  const first = { ...none, passed: 7, failed: 1, failures: ["a"] }
  const broken = honest(fromVitest("/does/not/exist"), 1)
  expect(afterSecondRun(first, broken)).toEqual(first)
  expect(afterSecondRun(first, { ...none, skipped: 3 })).toEqual(first)
  const nameless = { ...first, failed: 2 }
  expect(afterSecondRun(nameless, { ...none, passed: 1 }).failed).toBe(1)
})

test("the sum of two suites keeps the names of failures and of unsteady tests", () => {
  const one = { ...none, failed: 1, failures: ["a"] }
  expect(add(one, { ...none, passed: 1, unsteady: ["b"] })).toEqual({
    ...none,
    passed: 1,
    failed: 1,
    failures: ["a"],
    unsteady: ["b"],
  })
})

test("a runner that wrote no report, ran nothing or died has failed", () => {
  expect(honest(fromJunit("/does/not/exist"), 0)).toEqual({ ...none, failed: 1 })
  expect(honest(none, 5)).toEqual({ ...none, failed: 1 })
  expect(honest({ ...none, passed: 7 }, "SIGKILL")).toEqual({ ...none, passed: 7, failed: 1 })
  expect(honest({ ...none, passed: 7 }, 0)).toEqual({ ...none, passed: 7 })
})

test("a checker counts as one test, which passes with exit status 0", () => {
  expect([fromExit(0), fromExit(1), fromExit("SIGKILL")].map((counts) => counts.failed)).toEqual([0, 1, 1])
})

test("the summary counts skipped tests only when there are any", () => {
  expect(describe({ passed: 3, failed: 0, skipped: 0 })).toBe("3 passed, 0 failed")
  expect(describe({ passed: 3, failed: 1, skipped: 2 })).toBe("3 passed, 1 failed, 2 skipped")
})
