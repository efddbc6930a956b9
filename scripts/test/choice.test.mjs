import { expect, test } from "vitest"
import { chosenSuites } from "./choice.mjs"

const suites = [
  { name: "types", group: "checks" },
  { name: "web", folder: "web/" },
  { name: "server-embedded", group: "server", folder: "server/" },
  { name: "server-grown", group: "server", folder: "server/" },
  { name: "browser", folder: "web/browser/" },
]
const choose = (...names) =>
  chosenSuites(suites, names, (path) => !path.includes("missing")).map(({ suite, paths }) =>
    [suite.name, ...(paths ?? [])].join(" "),
  )

test("nothing named: everything", () => {
  expect(choose()).toEqual(["types", "web", "server-embedded", "server-grown", "browser"])
})

test("suites are named by their name or their group", () => {
  expect(choose("server", "types")).toEqual(["types", "server-embedded", "server-grown"])
})

test("a path runs in the nearest suite whose folder it lies in", () => {
  expect(choose("server/test/files.test.ts")).toEqual(["server-embedded server/test/files.test.ts"])
  expect(choose("web/browser/trace.test.ts", "web/src/json", "web/src/url")).toEqual([
    "browser web/browser/trace.test.ts",
    "web web/src/json web/src/url",
  ])
})

test("paths narrow the suites that are named", () => {
  expect(choose("server", "server/test/files.test.ts")).toEqual([
    "server-embedded server/test/files.test.ts",
    "server-grown server/test/files.test.ts",
  ])
  expect(choose("server-grown", "server/src")).toEqual(["server-grown server/src"])
})

test("what is neither a suite nor a path in one is refused by its name, with the names there are", () => {
  expect(() => choose("missing")).toThrow(
    "no tests are called missing, and no file is: choose from checks, types, web, server, server-embedded",
  )
  expect(() => choose("docs/guide")).toThrow("docs/guide belongs to none of these suites: checks, types")
  expect(() => choose("browser", "server/test")).toThrow("server/test belongs to none of these suites: browser")
})
