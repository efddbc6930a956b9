import { expect, test } from "vitest"
import { chosenSuites, titleIn } from "./choice.mjs"

const suites = [
  { name: "types", group: "checks" },
  { name: "web", folder: "web/" },
  { name: "server-embedded", group: "server", folder: "server/" },
  { name: "server-grown", group: "server", folder: "server/" },
  { name: "browser", folder: "web/browser/" },
  { name: "vllm", folder: "engine/tests/vllm/", onlyByName: true },
]
const choose = (...names) =>
  chosenSuites(suites, names, (path) => !path.includes("missing")).map(({ suite, paths }) =>
    [suite.name, ...(paths ?? [])].join(" "),
  )

test("without a name every suite runs that does not ask for its name", () => {
  expect(choose()).toEqual(["types", "web", "server-embedded", "server-grown", "browser"])
  expect(choose("vllm")).toEqual(["vllm"])
})

test("a suite is chosen by its name or by its group's", () => {
  expect(choose("server", "types")).toEqual(["types", "server-embedded", "server-grown"])
})

test("a path runs in the nearest suite whose folder it lies in", () => {
  expect(choose("server/test/platform/files.test.ts")).toEqual(["server-embedded server/test/platform/files.test.ts"])
  expect(choose("web/browser/trace.test.ts", "web/src/json", "web/src/url")).toEqual([
    "browser web/browser/trace.test.ts",
    "web web/src/json web/src/url",
  ])
})

test("paths with names of suites narrow those suites", () => {
  expect(choose("server", "server/test/platform/files.test.ts")).toEqual([
    "server-embedded server/test/platform/files.test.ts",
    "server-grown server/test/platform/files.test.ts",
  ])
  expect(choose("server-grown", "server/src")).toEqual(["server-grown server/src"])
})

test("a name that is neither a suite nor a path in one is refused, with the names there are", () => {
  expect(() => choose("missing")).toThrow(
    "no tests are called missing, and no file is: choose from checks, types, web, server, server-embedded",
  )
  expect(() => choose("docs/guide")).toThrow("docs/guide belongs to none of these suites: checks, types")
  expect(() => choose("browser", "server/test")).toThrow("server/test belongs to none of these suites: browser")
})

test("-t takes one title, wherever it stands", () => {
  expect(titleIn(["server", "-t", "a title", "a.test.ts"])).toEqual({
    title: "a title",
    others: ["server", "a.test.ts"],
  })
  expect(titleIn(["server"])).toEqual({ title: undefined, others: ["server"] })
  expect(() => titleIn(["server", "-t"])).toThrow("-t needs a part of a title")
})
