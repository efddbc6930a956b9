import { expect, test } from "vitest"
import { jsonLine } from "./json-lines.ts"
import type { JsonCursor } from "./json-cursor.ts"
import { readParts, withoutNotFinite } from "./json-parts.ts"

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

test("a text of more values than anybody needs is refused, what is taken does not count", () => {
  const many = (count: number) => `{"rows":[${"1,".repeat(count - 1)}1],"x":[${"1,".repeat(9)}1]}`
  const takers = { "rows.*": (cursor: JsonCursor) => cursor.value() }
  expect((readParts(many(1_100_000), takers) as { rows: string[] }).rows).toHaveLength(1_100_000)
  expect(() => readParts(many(1_000_000), { "x.*": takers["rows.*"] })).toThrow("more than 1000000 values")
})
