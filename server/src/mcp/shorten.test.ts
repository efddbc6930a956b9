import { expect, test } from "vitest"
import { shorten, sizeOf } from "./shorten.ts"

test("what fits stays as it is", () => {
  const value = { a: [1, "two", null], b: { c: true } }
  expect(shorten(value, 100)).toEqual({ value, isShortened: false })
})

test("a long text keeps its beginning and says what is missing, and no half of a character stays", () => {
  const text = `${"x".repeat(7999)}😀${"y".repeat(2000)}`
  expect(shorten(text, 9000)).toEqual({ value: `${"x".repeat(7999)}… [2002 more characters]`, isShortened: true })
})

test("lists, objects and nests are cut", () => {
  const list = Array.from({ length: 300 }, (_, index) => index)
  expect(shorten({ list }, 1000).value).toEqual({ list: [...list.slice(0, 200), "[100 more items]"] })
  const wide = Object.fromEntries(list.map((index) => [`key ${index}`, "v".repeat(50)]))
  const cut = shorten(wide, 2000).value as Record<string, unknown>
  expect(cut["…"]).toBe("[270 more members]")
  let deep: unknown = "x".repeat(1000)
  for (let count = 0; count < 100; count += 1) deep = { deep }
  expect(JSON.stringify(shorten(deep, 900).value)).toContain("[an object of 1 members]")
})

test("numbers keep their spelling, and names that every object has are names like any other", () => {
  const hostile = JSON.parse('{"__proto__": {"a": 1}, "constructor": "c"}') as object
  const value = { big: JSON.rawJSON("9007199254740993"), hostile, long: "x".repeat(9000) }
  const text = JSON.stringify(shorten(value, 8500).value)
  expect(text).toContain('"big":9007199254740993')
  expect(text).toContain('"hostile":{"__proto__":{"a":1},"constructor":"c"}')
})

test("whatever it is, it fits, and stays of its kind", () => {
  const keys = Object.fromEntries(Array.from({ length: 50 }, (_, index) => ["k".repeat(1000) + index, index]))
  for (const most of [200, 1000, 5000]) {
    expect(sizeOf(shorten(keys, most).value)).toBeLessThanOrEqual(most)
    expect(sizeOf(shorten([keys, keys], most).value)).toBeLessThanOrEqual(most)
  }
  expect(shorten(keys, 200).value).toEqual({ "…": "[an object of 50 members]" })
  expect(shorten([keys, keys], 60).value).toEqual(["[a list of 2 items]"])
})
