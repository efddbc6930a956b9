import { expect, test } from "vitest"
import { readRef, refsIn, refWords, shortDigest } from "./object-refs.ts"

const digest = "Wt7TfDMFZFJ1KhcEwJMGSeTMcIBBTs1oYVG7Ev42qxE"

test.each([
  [`weave:///local/demo/object/returns-eval:${digest}`, "object", "returns-eval", digest, ""],
  ["weave:///local/demo/op/issue_refund:v3", "op", "issue_refund", "v3", ""],
  [`weave:///local/demo/table/${digest}`, "table", digest, null, ""],
  ["weave:///local/demo/call/019a", "call", "019a", null, ""],
  ["weave:///local/demo/object/a%20b:v0/attr/rows/id/x", "object", "a b", "v0", "attr/rows/id/x"],
  ["weave:///local/demo/object/50%:v0", "object", "50%", "v0", ""],
])("%s", (text, kind, name, version, inside) => {
  expect(readRef(text)).toEqual({ text, entity: "local", project: "demo", kind, name, version, inside })
})

test.each([
  "weave:///local/demo",
  "weave:///local/demo/object/nameless",
  "weave:///a/b/else/c:d",
  "see weave:///a/b/op/c:d",
])("no ref: %s", (text) => expect(readRef(text)).toBeNull())

test("refs of a value are its whole strings, each once", () => {
  const json = `{"a":"weave:///e/p/object/x:v1","b":["weave:///e/p/op/y:v2","weave:///e/p/object/x:v1"],"c":"of weave:///e/p/op/z:v3"}`
  expect(refsIn(json).map(({ name }) => name)).toEqual(["x", "y"])
  // Projects are named as people like.
  const found = refsIn(
    '["weave:///my team/my project/object/z:v1", "weave:///e/p/op/y:v2", "weave:///e/p/op/q:v2 is best"]',
  )
  expect(found.map(({ project, name }) => [project, name])).toEqual([
    ["my project", "z"],
    ["p", "y"],
  ])
})

test("words are short, and say what is inside", () => {
  const words = (text: string) => {
    const ref = readRef(text)
    return ref === null ? null : refWords(ref)
  }
  expect(words(`weave:///e/p/object/returns:${digest}`)).toBe("returns:Wt7TfD…2qxE")
  expect(words(`weave:///e/p/table/${digest}`)).toBe("table Wt7TfD…2qxE")
  expect(words("weave:///e/p/object/returns:v2/attr/rows/index/4")).toBe("returns:v2/rows/4")
  expect(shortDigest("v12")).toBe("v12")
})
