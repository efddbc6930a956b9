/** Each promise of SECURITY.md names a test, and each file that it links to is there. */
import { existsSync, readFileSync } from "node:fs"
import path from "node:path"
import { expect, test } from "vitest"

const root = path.resolve(import.meta.dirname, "../../..")
const page = readFileSync(path.join(root, "SECURITY.md"), "utf8")
const linksOf = (text: string) => Array.from(text.matchAll(/\]\(([^)#]+)/g), ([, file = ""]) => file)

test("every file that SECURITY.md links to is there", () => {
  const links = linksOf(page)
  expect(links.length).toBeGreaterThan(20)
  expect(links.filter((file) => !existsSync(path.join(root, file)))).toEqual([])
})

test("every promise names a test of ours", () => {
  const rows = Array.from(page.matchAll(/^\| (?!Promise)([^|]+) \|[^|]+\|([^|]+)\|$/gm), ([, promise, tests = ""]) => ({
    promise,
    tests: linksOf(tests).filter((file) => /(?:\.test\.\w+|test_\w+\.py)$/.test(file)),
  }))
  expect(rows.length).toBeGreaterThan(14)
  expect(rows.filter(({ tests }) => tests.length === 0)).toEqual([])
})
