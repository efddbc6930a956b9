import { expect, test } from "vitest"
import type { JsonText } from "../json/json-text.ts"
import { countChanges, diffRows, type TableRow } from "./row-diff.ts"

/** Equal values have equal digests. */
const table = (values: readonly unknown[]): TableRow[] =>
  values.map((value, index) => {
    const val = JSON.stringify(value) as JsonText
    return { val, digest: val, original_index: index }
  })

const shown = (before: readonly unknown[], after: readonly unknown[]) =>
  diffRows(table(before), table(after)).map((change) =>
    change.kind === "changed"
      ? ["~", change.before.original_index, change.after.original_index, ...change.columns]
      : change.kind === "added"
        ? ["+", change.after.original_index]
        : ["-", change.before.original_index],
  )

const zip = { ticket: "The zip broke", expected: "Refuse", country: "AT" }
const boots = { ticket: "Sole comes off", expected: "Accept", country: "DE" }
const spam = { ticket: "Reset my password", expected: "Send the link", country: "DE" }
const customs = { ticket: "Who pays customs?", expected: "We do", country: "NO" }

test("rows that only moved are the same", () => {
  expect(shown([zip, boots, spam], [spam, zip, boots])).toEqual([])
})

test("a row that keeps a value of its own is a changed one, wherever it stands", () => {
  const fixed = { ...zip, expected: "Accept as a defect", country: "CH" }
  expect(shown([zip, boots], [boots, fixed])).toEqual([["~", 0, 1, "expected", "country"]])
})

test("a value that several rows share makes no pair: one went, another came", () => {
  const other = { ...customs, country: "DE" }
  expect(shown([zip, boots, spam], [zip, boots, other])).toEqual([
    ["+", 2],
    ["-", 2],
  ])
})

test("at one place, a row that keeps half of its cells is a changed one", () => {
  const rows = [
    { a: 1, b: "x" },
    { a: 1, b: "y" },
    { a: 2, b: "y" },
  ]
  expect(shown(rows, [rows[0], { a: 1, b: "z" }, rows[2]])).toEqual([["~", 1, 1, "b"]])
})

test("a column that came or went is a change of every row", () => {
  expect(
    shown(
      [{ q: "1+1" }, { q: "1+2" }],
      [
        { q: "1+1", a: 2 },
        { q: "1+2", a: 3 },
      ],
    ),
  ).toEqual([
    ["~", 0, 0, "a"],
    ["~", 1, 1, "a"],
  ])
})

test("of equal rows only those beyond the others count", () => {
  expect(shown([zip, zip, zip], [zip])).toEqual([
    ["-", 1],
    ["-", 2],
  ])
})

test("rows that are no objects come and go as a whole", () => {
  expect(shown(["one", 2], ["one", 3])).toEqual([
    ["+", 1],
    ["-", 1],
  ])
})

test("numbers are compared as they are written", () => {
  const written = (val: string): TableRow[] => [{ val: val as JsonText, digest: val, original_index: 0 }]
  const [change] = diffRows(
    written('{"id":"a","n":12345678901234567890}'),
    written('{"id":"a","n":12345678901234567891}'),
  )
  expect(change).toMatchObject({ kind: "changed", columns: ["n"] })
})

test("the counts are of each kind", () => {
  const changes = diffRows(table([zip, spam]), table([{ ...zip, expected: "Accept" }, customs]))
  expect(countChanges(changes)).toEqual({ added: 1, removed: 1, changed: 1 })
})
