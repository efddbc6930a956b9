import { readFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { clientSets } from "../setup/clients.mjs"
import { root } from "../setup/paths.mjs"
import { npmSet, pythonSets, suitesIn } from "./client-sets.ts"
import { clientsPage } from "./clients-page.ts"

test("docs/reference/clients.md says what compat/ says; to print it anew: node scripts/generate-pages.ts", () => {
  expect(readFileSync(join(root, "docs/reference/clients.md"), "utf8")).toBe(clientsPage())
})

test("every lock file has a set whose clients it pins, and every test belongs to a set", () => {
  const sets = pythonSets()
  expect(sets.map(({ name }) => name).toSorted()).toEqual(clientSets())
  for (const { clients, files, pinned } of [...sets, npmSet()]) {
    for (const client of clients) {
      expect(`${client.name} ${client.version}`).toMatch(/ \d+[\w.]+$/)
      expect(client.files, client.name).not.toEqual([])
    }
    expect(files).not.toEqual([])
    expect(pinned).toMatch(/^\d{4}-\d\d-\d\d$/)
  }
  const run = new Set([...sets.flatMap(({ files }) => files), "python/test_no_other_host.py"])
  expect(suitesIn("python").map(({ file }) => file)).toEqual([...run].toSorted())
})

test("every suite says in one line what it does", () => {
  for (const { file, about } of [...suitesIn("python"), ...suitesIn("node")]) expect(about, file).toMatch(/^\S.{20,}/)
})

test("a set that runs with newest versions names each of its clients among them", () => {
  const sets = JSON.parse(readFileSync(join(root, "compat/python/sets.json"), "utf8"))
  for (const [name, { clients, newest }] of Object.entries(sets)) {
    const named = newest?.map((requirement) => /^[\w.-]+/.exec(requirement)?.[0])
    if (newest) expect(named, name).toEqual(expect.arrayContaining(clients))
  }
})
