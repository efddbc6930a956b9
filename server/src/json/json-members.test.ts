import { expect, test } from "vitest"
import { elementText, memberText, textAt, withMembers, withoutMembers, withTextAt } from "./json-members.ts"

test("parts of a text come as they are spelled", () => {
  const text = String.raw`{"a\u0062": [1.0, {"x" : 1e5}, "last"], "b": 1, "b": 2.50}`
  expect(memberText(text, "ab")).toBe('[1.0, {"x" : 1e5}, "last"]')
  expect(memberText(text, "b")).toBe("2.50")
  expect(memberText(text, "c")).toBeNull()
  expect(memberText(String.raw`{"a\/b": 1.0}`, "a/b")).toBe("1.0")
  expect(memberText("[1]", "0")).toBeNull()
  expect(elementText('[1.0, {"x" : 1e5}]', 1)).toBe('{"x" : 1e5}')
  expect(elementText("[1, 2]", -1)).toBe("2")
  expect(elementText("[1]", 1)).toBeNull()
  expect(elementText("[]", 0)).toBeNull()
  expect(elementText('{"0":1}', 0)).toBeNull()
})

test("a path leads through members, the last one of a name", () => {
  const text = '{"a": 1, "a": {"b": {"c": 1.50}}, "n": null}'
  expect(textAt(text, ["a", "b", "c"])).toBe("1.50")
  expect(textAt(text, [])).toBe(text)
  expect(textAt(text, ["a", "x", "c"])).toBeNull()
  expect(textAt(text, ["n", "b"])).toBeNull()
})

test("members are put in place of those of their names, the others stay as they are spelled", () => {
  expect(withMembers(' {"x" : 1.0 } ', { y: "2" })).toBe(' {"x" : 1.0,"y":2}')
  expect(withMembers("{ }", { y: "2" })).toBe('{"y":2}')
  expect(withMembers(String.raw`{"\u0079": 1, "x": 1e5}`, { y: "2" })).toBe('{"x":1e5,"y":2}')
  expect(withMembers(String.raw`{"a\/b": 1, "a\"b": 1}`, { "a/b": "2", 'a"b': "3" })).toBe(
    String.raw`{"a/b":2,"a\"b":3}`,
  )
  expect(withMembers("[1]", { y: "2" })).toBe('{"y":2}')
  expect(withMembers("[1]", {})).toBe("[1]")
})

test("members are taken out, and the value at a path is replaced", () => {
  expect(withoutMembers('{"a": 1, "b": 2.0, "a": 3}', ["a"])).toBe('{"b":2.0}')
  expect(withTextAt('{"a": {"b": 1, "c": 2.0}, "d": []}', ["a", "b"], "null")).toBe('{"a":{"b":null,"c":2.0},"d":[]}')
  expect(withTextAt('{"a": 1}', [], "2")).toBe("2")
})
