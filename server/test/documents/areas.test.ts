/**
 * The folders of `server/src` are the areas of `scripts/areas.ts`, from which ARCHITECTURE.md and lint rules are
 * printed.
 */
import { readdir, readFile } from "node:fs/promises"
import path from "node:path"
import { beforeAll, expect, test } from "vitest"
import { areaRows, areas, importRules } from "../../../scripts/areas.ts"

const root = path.resolve(import.meta.dirname, "../../..")
const source = path.join(root, "server/src")

let files: string[]
beforeAll(async () => {
  const entries = await readdir(source, { recursive: true, withFileTypes: true })
  const found = entries.filter((entry) => entry.isFile()).map((entry) => path.join(entry.parentPath, entry.name))
  files = found.map((file) => path.relative(source, file).replaceAll(path.sep, "/"))
})

/** Imports between folders of `server/src`, and of files beside them, as pairs `from → to`. */
async function arrows(): Promise<Map<string, string>> {
  const found = new Map<string, string>()
  for (const file of files.filter((each) => /(?<!\.test)\.ts$/.test(each) && each.includes("/"))) {
    const text = await readFile(path.join(source, file), "utf8")
    for (const [, specifier = ""] of text.matchAll(/(?:from |import\(|URL\()"(\.[^"]+)"/g)) {
      const target = path.posix.join(path.posix.dirname(file), specifier)
      const [from = "", to = ""] = [file, target].map((each) => each.split("/")[0]?.replace(/\.ts$/, ""))
      if (from !== to && to !== "..") found.set(`${from} → ${to}`, file)
    }
  }
  return found
}

test("every folder of server/src is an area, and every area a folder", () => {
  const folders = files.filter((file) => file.includes("/")).map((file) => file.replace(/\/.*/, ""))
  expect(new Set(folders)).toEqual(new Set(areas.map(({ folder }) => folder)))
})

test("areas import what their rows list, and all of it", async () => {
  const listed = areas.flatMap(({ folder, imports }) => imports.map((each) => `${folder} → ${each}`))
  expect([...(await arrows()).keys()].toSorted()).toEqual(listed.toSorted())
})

test("no area imports itself by way of others", () => {
  const left = new Map(areas.map(({ folder, imports }) => [folder, imports]))
  for (;;) {
    const lowest = [...left].filter(([, imports]) => !imports.some((each) => left.has(each)))
    if (lowest.length === 0) break
    for (const [folder] of lowest) left.delete(folder)
  }
  expect([...left.keys()]).toEqual([])
})

test("a folder has 25 files at most, but for migrations, a list that is read by number and only grows", () => {
  const others = files.filter((file) => !file.startsWith("storage/catalog/migrations/"))
  const counts = Map.groupBy(others, (file) => path.posix.dirname(file))
  const large = [...counts].filter(([, inside]) => inside.length > 25).map(([folder]) => folder)
  expect(large).toEqual([])
})

test("ARCHITECTURE.md has the table of areas; node scripts/generate-pages.ts writes it", async () => {
  expect(await readFile(path.join(root, "ARCHITECTURE.md"), "utf8")).toContain(areaRows())
})

test("lint has the import directions of areas; node scripts/generate-pages.ts writes them", async () => {
  expect(JSON.parse(await readFile(path.join(root, ".oxlint-imports.json"), "utf8"))).toEqual(importRules())
})

test("every path of server/src that ARCHITECTURE.md names is there", async () => {
  const text = await readFile(path.join(root, "ARCHITECTURE.md"), "utf8")
  const named = [...text.matchAll(/`(?:server\/src\/)?([a-z][a-z-]*(?:\/[\w.-]+)+)\/?`/g)].map(([, name = ""]) => name)
  const inServer = named.filter((name) => areas.some(({ folder }) => name.startsWith(`${folder}/`)))
  const missing = inServer.filter((name) => !files.some((file) => file === name || file.startsWith(`${name}/`)))
  expect(inServer.length).toBeGreaterThan(10)
  expect(missing).toEqual([])
})
