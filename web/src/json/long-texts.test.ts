import { expect, test } from "vitest"
import { JsonDocument } from "./json-document.ts"
import { rowsOf } from "./json-tree.ts"
import { inOneLine, isLongText, textOf, withTexts } from "./long-texts.ts"

const long = "word ".repeat(100)
const json = JSON.stringify({ short: "one", lines: "one\ntwo", long })
const document = new JsonDocument(json)
const root = document.root()
const open = new Map([[root.start, { from: 0, children: document.children(root.start, 0, 10) }]])
const rows = rowsOf(root, open)
const nodes = rows.flatMap((row) => (row.kind === "node" ? row.node : []))

test("strings of several lines, and those that are cut, open", () => {
  expect(nodes.filter(isLongText).map(({ key }) => key)).toEqual(["lines", "long"])
})

test("what an open string says stands below its row", () => {
  const lines = nodes.find(({ key }) => key === "lines")!
  const shown = withTexts(rows, new Set([lines.start, root.start]))
  expect(shown.map(({ kind, depth }) => [kind, depth])).toEqual([
    ["node", 0],
    ["node", 1],
    ["node", 1],
    ["text", 2],
    ["node", 1],
  ])
  expect(textOf(json, lines)).toEqual({ text: "one\ntwo", isWhole: true })
  expect(textOf(json, nodes.at(-1)!)).toEqual({ text: long, isWhole: true })
})

test("a row shows a string of several lines in one", () => {
  expect(inOneLine("one\r\ntwo\n\tthree")).toBe("one↵ two↵  three")
})
