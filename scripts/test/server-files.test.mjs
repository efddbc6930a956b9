import { globSync, readFileSync } from "node:fs"
import { matchesGlob } from "node:path"
import { expect, test } from "vitest"
import { fromRoot, root } from "../setup/paths.mjs"
import { asksForStores, drivenBy, drivenElsewhere, onEmbedded, onGrown } from "./server-files.mjs"

const find = (pattern) => globSync(pattern, { cwd: root })
const tests = find("server/{src,test}/**/*.test.ts")
const fitsOne = (file, patterns) => patterns.some((pattern) => matchesGlob(file, pattern))

test.each([...onEmbedded, ...onGrown])("%s is there", (pattern) => {
  expect(find(pattern).length).toBeGreaterThan(0)
})

test("no test is left out of both kinds of stores", () => {
  expect(tests.filter((file) => fitsOne(file, onEmbedded) && fitsOne(file, onGrown))).toEqual([])
})

test("every folder of statements to a store names the tests that drive it", () => {
  const folders = find("server/src/storage/{catalog,traces}/*/").map((path) => path.split("/").slice(3).join("/"))
  expect(Object.keys(drivenBy).toSorted()).toEqual(folders.toSorted())
})

const opensStores = /openTestApp|support\/[a-z-]+-app\.ts|newStores|newPostgresUrl|newClickHouseUrl/

test.each(Object.entries(drivenBy))("%s is driven on both kinds of stores by tests of %s", (_, areas) => {
  for (const area of areas) {
    const there = tests.filter(
      (file) => file.startsWith(`server/test/${area}/`) && opensStores.test(readFileSync(fromRoot(file), "utf8")),
    )
    for (const left of [onEmbedded, onGrown]) {
      expect(there.filter((file) => !fitsOne(file, left)).length, area).toBeGreaterThan(0)
    }
  }
})

test("tests of the stores themselves run on both, but for those of the data folder's files", () => {
  const once = tests.filter((file) => /\/storage\//.test(file) && fitsOne(file, [...onEmbedded, ...onGrown]))
  expect(once).toEqual(
    ["backups", "file-modes", "first-start", "full-disk"].map((name) => `server/test/storage/${name}.test.ts`),
  )
})

test("a test that needs PostgreSQL or ClickHouse runs there", () => {
  expect(drivenElsewhere.filter(asksForStores)).toEqual([])
})
