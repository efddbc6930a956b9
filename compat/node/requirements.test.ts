/** The gate: every required behaviour is cited by a test, and every citation names one. */
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import requirements from "../requirements.json" with { type: "json" }

const suites = join(import.meta.dirname, "..")
const isTest = /(^|\/)(test_\w+\.py|[\w-]+\.test\.ts)$/

/** Ids inside `covers(…)` calls of every test file of both languages. */
function citedIds(): Set<string> {
  const files = ["python", "node"].flatMap((folder) =>
    readdirSync(join(suites, folder)).map((name) => join(suites, folder, name)),
  )
  const calls = files
    .filter((path) => isTest.test(path))
    .flatMap((path) => [...readFileSync(path, "utf8").matchAll(/\bcovers\(([^)]*)\)/g)])
  return new Set(calls.flatMap(([, inside]) => [...(inside ?? "").matchAll(/"([^"]+)"/g)].map(([, id]) => id ?? "")))
}

const required = requirements.map(({ id }) => id)

test("every required behaviour is cited", () => {
  const cited = citedIds()
  expect(required.filter((id) => !cited.has(id))).toEqual([])
})

test("every citation names a required behaviour", () => {
  expect([...citedIds()].filter((id) => !required.includes(id))).toEqual([])
})

test("ids are unique and every behaviour names its contract section", () => {
  expect(new Set(required).size).toBe(required.length)
  for (const { contract } of requirements)
    expect(contract).toMatch(/^((training|inference)-api|art-0\.5\.23|platform-wandb|calls|objects) \d/)
})
