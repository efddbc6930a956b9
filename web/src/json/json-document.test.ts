import { describe, expect, test } from "vitest"
import { JsonDocument } from "./json-document.ts"
import { memberTexts, readRecord } from "./json-text.ts"

const document = (value: unknown) => new JsonDocument(JSON.stringify(value))

describe("a JsonDocument", () => {
  test("the preview of a number is its text, as it is written", () => {
    const read = new JsonDocument('{"id": 12345678901234567890, "a": 1.0, "b": 1e400, "c": -0}')
    expect(read.children(read.root().start, 0, 9).map(({ key, kind, preview }) => [key, kind, preview])).toEqual([
      ["id", "number", "12345678901234567890"],
      ["a", "number", "1.0"],
      ["b", "number", "1e400"],
      ["c", "number", "-0"],
    ])
  })

  test("the preview of a string is decoded, also with quotes, backslashes and brackets in it", () => {
    const texts = ['a "quoted" word', "back\\", "}]", "line\nbreak", "🧵", ""]
    const read = document(texts)
    expect(read.children(read.root().start, 0, 9).map(({ preview }) => preview)).toEqual(texts)
  })

  test("an object or array has its number of children as size, empty or nested, with blanks anywhere", () => {
    const read = new JsonDocument(' { "a" : [ ] , "b" : { } , "c" : [ 1 , [2, 3] ] } ')
    expect(read.root().size).toBe(3)
    expect(read.children(read.root().start, 0, 9).map(({ key, kind, size }) => [key, kind, size])).toEqual([
      ["a", "array", 0],
      ["b", "object", 0],
      ["c", "array", 2],
    ])
  })

  test.each([1999, 2000, 2001, 4999])("a far page that is asked for from child %i begins with it", (from) => {
    const read = document(Array.from({ length: 5000 }, (_, index) => ({ n: index })))
    const [first] = read.children(read.root().start, from, 3)
    expect(first).toMatchObject({ key: from, preview: `{"n":${from}}` })
    expect(read.children(read.root().start, from, 9000)).toHaveLength(5000 - from)
  })

  test("the preview of a long string is cut before a whole character or escape, and isCut is true", () => {
    const text = `${"a".repeat(237)}é🧵${"b".repeat(1000)}`
    const [node] = document([text]).children(0, 0, 1)
    expect(node?.isCut).toBe(true)
    expect(text.startsWith(node?.preview ?? "-")).toBe(true)
    const escaped = new JsonDocument(`["${"a".repeat(236)}\\u00e9${"b".repeat(9)}"]`).children(0, 0, 1)
    expect(escaped[0]?.preview).toBe("a".repeat(236))
  })

  test("a text that is one scalar is a document", () => {
    expect(new JsonDocument(" 7.0 ").root()).toMatchObject({ kind: "number", preview: "7.0", start: 1, end: 4 })
    expect(new JsonDocument('"x"').root()).toMatchObject({ kind: "string", preview: "x" })
  })

  test.each(["", "[1, 2", '{"a": {}', "[1]]", "1, 2"])(
    "the text %j is no document: the constructor throws a SyntaxError",
    (text) => {
      expect(() => new JsonDocument(text)).toThrow(SyntaxError)
    },
  )
})

describe("JsonDocument.find", () => {
  const value = { a: { list: ["x", "needle 1"] }, b: [{ NEEDLE: 2 }, 3], c: 'say "needle"' }

  test("a search ignores case and finds names and values, and wayTo leads to each", () => {
    const read = document(value)
    const { places, isAll } = read.find("needle", 10)
    expect([places.length, isAll]).toEqual([3, true])
    const keys = places.map((place) => read.wayTo(place).map(({ index }) => index))
    expect(keys).toEqual([[0, 0, 1], [1, 0, 0], [2]])
    expect(read.wayTo(places[0] ?? -1)[0]?.start).toBe(read.root().start)
  })

  test("a search matches decoded text and takes the signs of regular expressions literally", () => {
    const read = document({ c: 'say "needle" (.*)' })
    expect(read.find('"needle"', 10).places).toHaveLength(1)
    expect(read.find("(.*)", 10).places).toHaveLength(1)
    expect(read.find(".*x", 10).places).toHaveLength(0)
    expect(read.find("", 10).places).toHaveLength(0)
  })

  test("a search returns at most as many places as asked for, and isAll false if there are more", () => {
    const read = document(Array.from({ length: 50 }, () => "ab"))
    expect(read.find("ab", 20)).toMatchObject({ isAll: false })
    expect(read.find("ab", 20).places).toHaveLength(20)
    expect(read.find("ab", 50).isAll).toBe(true)
  })
})

describe("records that stay text", () => {
  test("memberTexts returns the text of each member, as it is written", () => {
    const text = '{ "a" : 1.0 , "b\\"" : {"deep": [1, "}"]}, "big": 9007199254740993 ,"e":{} }'
    expect([...memberTexts(text)]).toEqual([
      ["a", "1.0"],
      ['b"', '{"deep": [1, "}"]}'],
      ["big", "9007199254740993"],
      ["e", "{}"],
    ])
    expect([...memberTexts(" {} ")]).toEqual([])
  })

  test("readRecord parses every member except those that stay text", () => {
    const text = '{"id":"x","inputs":{"n":9007199254740993},"started_at":null}'
    const record = readRecord<{ id: string; inputs: unknown; started_at: string | null }, "inputs">(text, ["inputs"])
    expect(record).toEqual({ id: "x", inputs: '{"n":9007199254740993}', started_at: null })
  })
})
