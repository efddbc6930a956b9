/** Every expected text and digest was printed by CPython 3.11's `json.dumps`, `repr` and hashlib. */
import { describe, expect, test } from "vitest"
import { contentDigest, tableDigest } from "./digests.ts"
import { JsonTextError } from "./json-text-error.ts"
import { pythonFloat, pythonJson } from "./python-json.ts"

const sorted = { sortKeys: true }

test.each([
  [0.1, "0.1"],
  [1, "1.0"],
  [100, "100.0"],
  [1e15, "1000000000000000.0"],
  [1e16, "1e+16"],
  [123456789012345680, "1.2345678901234568e+17"],
  [1.5e16, "1.5e+16"],
  [1e22, "1e+22"],
  [0.0001, "0.0001"],
  [0.00001, "1e-05"],
  [0.000015, "1.5e-05"],
  [0.00012345, "0.00012345"],
  [-0, "-0.0"],
  [5e-324, "5e-324"],
  [1.7976931348623157e308, "1.7976931348623157e+308"],
  [123456.789, "123456.789"],
  [1 / 3, "0.3333333333333333"],
  [0.1 + 0.2, "0.30000000000000004"],
])("objects 13: the float %d prints as Python's repr", (value, printed) => {
  expect(pythonFloat(value)).toBe(printed)
})

describe("objects 13: canonical JSON", () => {
  test.each([
    [
      String.raw`{"b":1,"a":[1.0,1e16,1E5,-0,-0.0,12345678901234567890123,0.10,NaN,-Infinity,Infinity],"é\u2028":"\u007f\u0000\t\/😀\ud800","a\"":null}`,
      String.raw`{"a": [1.0, 1e+16, 100000.0, 0, -0.0, 12345678901234567890123, 0.1, NaN, -Infinity, Infinity], "a\"": null, "b": 1, "\u00e9\u2028": "\u007f\u0000\t/\ud83d\ude00\ud800"}`,
    ],
    [
      String.raw`{"😀":1,"～":2,"\ud83d":3,"z":{"2":1,"10":2,"1":3}}`,
      String.raw`{"z": {"1": 3, "10": 2, "2": 1}, "\ud83d": 3, "\uff5e": 2, "\ud83d\ude00": 1}`,
    ],
    ['{"a":1,"b":2,"a":{"c":3.50}}', '{"a": {"c": 3.5}, "b": 2}'],
    [" [ ] ", "[]"],
    ['{"x" : { } , "y":[ [],{"__proto__":true} ,false ]}', '{"x": {}, "y": [[], {"__proto__": true}, false]}'],
    [String.raw`"a\u0062"`, '"ab"'],
    ["1E400", "Infinity"],
  ])("%s", (text, printed) => {
    expect(pythonJson(text, sorted)).toBe(printed)
  })

  test("without sorting, keys stay in their order, also those that look like numbers", () => {
    expect(pythonJson('{"b":1,"2":{"y":1,"x":2},"1":3,"b":4}', { sortKeys: false })).toBe(
      '{"b": 4, "2": {"y": 1, "x": 2}, "1": 3}',
    )
  })

  test("strings are mapped, keys are not", () => {
    expect(pythonJson('{"k":["k",{"k":"k"}]}', { sortKeys: true, mapString: (value) => `${value}é` })).toBe(
      String.raw`{"k": ["k\u00e9", {"k": "k\u00e9"}]}`,
    )
  })

  test.each([
    "",
    " ",
    "{",
    "[1",
    '{"a"',
    '{"a":',
    "[1,]",
    "[,1]",
    "{,}",
    '{"a":1,}',
    "[1 2]",
    "{1:2}",
    "[1]]",
    "[1}",
    "[] []",
    '"open',
    String.raw`"open\"`,
    String.raw`"\x"`,
    String.raw`"\u12g4"`,
    '"line\nend"',
    "01",
    "1.",
    ".5",
    "+1",
    "1e",
    "-",
    "nul",
    "True",
    "'a'",
  ])("%j is not JSON", (text) => {
    expect(() => pythonJson(text, sorted)).toThrow(JsonTextError)
    expect(() => pythonJson(text, sorted)).toThrow(expect.objectContaining({ kind: "syntax" }))
  })

  test("objects 1: 200 levels are read, 201 are refused as too deep, and so are 10 million", () => {
    const nested = (levels: number) => "[".repeat(levels) + "]".repeat(levels)
    expect(pythonJson(nested(200), sorted)).toBe(nested(200))
    expect(() => pythonJson(nested(201), sorted)).toThrow(expect.objectContaining({ kind: "too_deep" }))
    expect(() => pythonJson('{"a":'.repeat(10_000_000), sorted)).toThrow(expect.objectContaining({ kind: "too_deep" }))
  })

  test("a string of 20 MB with and without escapes", () => {
    const long = "x".repeat(20_000_000)
    expect(pythonJson(`["${long}"]`, sorted)).toHaveLength(20_000_004)
    expect(pythonJson(`["${long}\\n"]`, sorted)).toHaveLength(20_000_006)
  })
})

test("calls 6.1: the recorded digests of rows and of their table", () => {
  const rows = ['{"a":1,"b":2}', '{"a":3,"b":4}', '{"a":5,"b":6}']
  const digests = rows.map((row) => contentDigest(pythonJson(row, sorted)))
  expect(digests).toEqual([
    "2El9nYJ3CnBykmEJWqmPfvUVTXr0mfgDe2yiUClnhaY",
    "sPyqicZSNerizfVt6DyxLHL8qEmPTfTyiXbx9OhVhDM",
    "XfhC9dNA5D4taMvhKT4MKN2uce7F56Krsyv4Q6mvVMA",
  ])
  expect(tableDigest(digests)).toBe("d2e5de0d792d9f5636b67ab5c8baf8a7749b4703e89c625303b32405e0b17e77")
  expect(tableDigest([])).toBe("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
})

test("objects 13: - becomes X and _ becomes Y, without padding", () => {
  expect(contentDigest(Buffer.from("file 6"))).toBe("Ai6AvTKMp6sw9LWzhH9eRtH0YeXacJYV7osgUMfWzBU")
})
