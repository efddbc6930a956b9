import { expect, test } from "vitest"
import { jsonLine } from "./json-lines.ts"
import { elementText, memberText, readParts, withoutNotFinite } from "./json-parts.ts"

test("values at the given paths stay text, everything else is parsed", () => {
  const text =
    '{ "table" : {"rows":[ {"a": 1.0} ,{"b":12345678901234567890}],"project_id":"e/p","n":NaN}, "x":[1,{"y":null}] }'
  expect(readParts(text, { "table.rows.*": (cursor) => cursor.value() })).toEqual({
    table: { rows: ['{"a": 1.0}', '{"b":12345678901234567890}'], project_id: "e/p", n: null },
    x: [1, { y: null }],
  })
})

test("a path that is not there, or is no container, is left to the caller's schema", () => {
  const takers = { "obj.val": () => "taken" }
  expect(readParts('{"obj":{"id":1}}', takers)).toEqual({ obj: { id: 1 } })
  expect(readParts('{"obj":[1]}', takers)).toEqual({ obj: [1] })
  expect(readParts('{"obj":"text"}', takers)).toEqual({ obj: "text" })
  expect(readParts("[]", takers)).toEqual([])
})

test("a key named __proto__ is an ordinary key", () => {
  const value = readParts('{"obj":{"__proto__":{"polluted":true},"val":1}}', { "obj.val": (cursor) => cursor.value() })
  expect(Object.keys((value as { obj: object }).obj)).toEqual(["__proto__", "val"])
  expect(({} as { polluted?: boolean }).polluted).toBeUndefined()
})

test("parts of a text come as they are spelled", () => {
  const text = String.raw`{"a\u0062": [1.0, {"x" : 1e5}, "last"], "b": 1, "b": 2.50}`
  expect(memberText(text, "ab")).toBe('[1.0, {"x" : 1e5}, "last"]')
  expect(memberText(text, "b")).toBe("2.50")
  expect(memberText(text, "c")).toBeNull()
  expect(memberText("[1]", "0")).toBeNull()
  expect(elementText('[1.0, {"x" : 1e5}]', 1)).toBe('{"x" : 1e5}')
  expect(elementText("[1, 2]", -1)).toBe("2")
  expect(elementText("[1]", 1)).toBeNull()
  expect(elementText("[]", 0)).toBeNull()
  expect(elementText('{"0":1}', 0)).toBeNull()
})

test("calls 1.1: bare NaN and Infinity become null, the same words in strings stay", () => {
  expect(withoutNotFinite(String.raw`{"NaN":NaN,"a":[-Infinity,Infinity,"NaN \" -Infinity"]}`)).toBe(
    String.raw`{"NaN":null,"a":[null,null,"NaN \" -Infinity"]}`,
  )
})

test("calls 3.4: a line holds no character that ends a line for Python, and reads back as the same value", () => {
  const text = '{\n "a": "x\u0085y\u2028z\u2029",\r\n "b": "\\n"}'
  const line = jsonLine(text)
  expect(line).toBe(String.raw`{  "a": "x\u0085y\u2028z\u2029",   "b": "\n"}` + "\n")
  expect(JSON.parse(line)).toEqual(JSON.parse(text))
})
