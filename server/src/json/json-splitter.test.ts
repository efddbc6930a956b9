import { describe, expect, test } from "vitest"
import { JsonSplitter, SplitError } from "./json-splitter.ts"

/** Enters containers down to `depth` and puts the reported values together again; the oracle is JSON.parse. */
function reassemble(text: string, depth: number, chunkBytes: number): unknown {
  const root: { value?: unknown } = {}
  const containers: unknown[] = [root]
  const put = (path: readonly (string | number)[], value: unknown) => {
    const parent = containers[path.length] as Record<string | number, unknown>
    parent[path.at(-1) ?? "value"] = value
  }
  const splitter = new JsonSplitter(
    {
      enter: (path, kind) => {
        if (path.length >= depth) return false
        const container = kind === "object" ? {} : []
        put(path, container)
        containers[path.length + 1] = container
        return true
      },
      value: (path, bytes) => put(path, JSON.parse(bytes.toString("utf8"))),
      leave: () => undefined,
    },
    1_000_000,
  )
  const bytes = Buffer.from(text)
  for (let at = 0; at < bytes.length; at += chunkBytes) splitter.write(Buffer.from(bytes.subarray(at, at + chunkBytes)))
  splitter.end()
  return root.value
}

const documents = [
  "7",
  " -1.5e3 ",
  '"a\\"b"',
  "[]",
  "{}",
  '[1,"two",null,true,[],{}]',
  '{"a":{"b":[1,{"c":"}]\\\\"}]},"d" : "é🧵\\u0000" , "":0}',
  `{"long":"${"x".repeat(300)}","list":[${Array.from({ length: 50 }, (_, index) => `{"i":${index}}`).join(" , ")}]}`,
]

describe("the same as JSON.parse", () => {
  for (const depth of [0, 1, 2, 4]) {
    for (const chunkBytes of [1, 2, 7, 4096]) {
      test(`entering ${depth} levels, in chunks of ${chunkBytes}`, () => {
        for (const document of documents) expect(reassemble(document, depth, chunkBytes)).toEqual(JSON.parse(document))
      })
    }
  }
})

test.each([
  "",
  "[",
  "[1",
  '{"a"',
  '{"a":',
  '{"a":1',
  "[1,]",
  "[,1]",
  "{,}",
  '{"a":1,}',
  "[1 2]",
  "{1:2}",
  "[1]]",
  "[1}",
  '{"a":1]',
  "[] []",
  '"open',
])("%j is refused, whatever is entered", (text) => {
  for (const depth of [1, 2]) expect(() => reassemble(text, depth, 3)).toThrow()
})

test("a value beyond the limit is refused before it is held", () => {
  const splitter = new JsonSplitter(
    { enter: (path) => path.length === 0, value: () => undefined, leave: () => undefined },
    100,
  )
  splitter.write(Buffer.from('["'))
  expect(() => {
    for (let count = 0; count < 20; count++) splitter.write(Buffer.from("x".repeat(10)))
  }).toThrow(SplitError)
})

test("a value nested too deep is refused by its place", () => {
  const nested = (levels: number) => `{"a":${"[".repeat(levels)}${"]".repeat(levels)}}`
  expect(() => reassemble(nested(200), 1, 7)).not.toThrow()
  expect(() => reassemble(nested(201), 1, 7)).toThrow("a is nested too deep: in more than 200 levels")
})

test("an error names its place over all chunks", () => {
  expect(() => reassemble('{"a":1 ! }', 1, 4)).toThrow('unexpected "!" at byte 7')
})
