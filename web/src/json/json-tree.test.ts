import { expect, test } from "vitest"
import { JsonDocument } from "./json-document.ts"
import { type OpenPart, rowsOf, withPage } from "./json-tree.ts"

const document = new JsonDocument(JSON.stringify({ list: Array.from({ length: 350 }, (_, index) => index), b: {} }))
const root = document.root()
const [list] = document.children(root.start, 0, 1)
const page = (from: number) => document.children(list?.start ?? -1, from, 100)

const shown = (open: Map<number, OpenPart>) =>
  rowsOf(root, open).map((row) =>
    row.kind === "node" ? `${" ".repeat(row.depth)}${row.node.key ?? "root"}` : `${" ".repeat(row.depth)}…${row.count}`,
  )

test("a closed tree is one row; an open one shows its children", () => {
  expect(shown(new Map())).toEqual(["root"])
  expect(shown(new Map([[root.start, { from: 0, children: document.children(root.start, 0, 9) }]]))).toEqual([
    "root",
    " list",
    " b",
  ])
})

test("of a long list a page is shown, and how many come before and after", () => {
  const open = (from: number) =>
    new Map([
      [root.start, { from: 0, children: document.children(root.start, 0, 9) }],
      [list?.start ?? -1, { from, children: page(from) }],
    ])
  expect(shown(open(0)).slice(0, 4)).toEqual(["root", " list", "  0", "  1"])
  expect(shown(open(0)).slice(-2)).toEqual(["  …250", " b"])
  const middle = shown(open(200))
  expect([middle[2], middle[3], middle.at(-2)]).toEqual(["  …100", "  200", "  …50"])
})

test("pages join where they meet; one apart takes the place", () => {
  const first = withPage(undefined, 100, page(100))
  expect(withPage(first, 200, page(200))).toMatchObject({ from: 100, children: { length: 200 } })
  expect(withPage(first, 0, page(0))).toMatchObject({ from: 0, children: { length: 200 } })
  expect(withPage(first, 250, page(250))).toMatchObject({ from: 250, children: { length: 100 } })
})
