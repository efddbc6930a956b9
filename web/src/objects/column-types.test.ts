import { expect, test } from "vitest"
import type { JsonText } from "../json/json-text.ts"
import { columnTypes } from "./column-types.ts"

const types = (...rows: string[]) => [...columnTypes(rows.map((val) => ({ val: val as JsonText })))]

test("types of columns, in the order in which rows name them", () => {
  expect(
    types('{"q":"1+1","n":1,"ok":true}', '{"q":"1+2","n":null,"tags":["a"],"of":{"a":1}}', '{"none":null}'),
  ).toEqual([
    ["q", "text"],
    ["n", "number"],
    ["ok", "true or false"],
    ["tags", "list"],
    ["of", "object"],
    ["none", "empty"],
  ])
})

test("a column of several types names them all", () => {
  expect(types('{"a":1}', '{"a":"one"}')).toEqual([["a", "number or text"]])
})

test("rows that are no objects have one column without a name", () => {
  expect(types('"one"', "2")).toEqual([["", "text or number"]])
})
