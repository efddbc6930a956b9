import { expect, test } from "vitest"
import { previewCsv, previewLines } from "./file-preview.ts"

test("JSON Lines keep their numbers, and empty lines are none", () => {
  expect(previewLines('{"n":12345678901234567890}\n\n {"n":1.0} \n', false)).toEqual({
    rows: [{ val: '{"n":12345678901234567890}' }, { val: '{"n":1.0}' }],
    problem: null,
  })
})

test("what is no JSON, or no object, is named with its line", () => {
  expect(previewLines('{"a":1}\n\n{"a":', false)).toEqual({ rows: [{ val: '{"a":1}' }], problem: "line 3 is no JSON" })
  expect(previewLines("[1]\n", false).problem).toBe("line 1 is no JSON object")
})

test("of the beginning of a file the last line may be half a line", () => {
  expect(previewLines('{"a":1}\n{"a":', true)).toEqual({ rows: [{ val: '{"a":1}' }], problem: null })
  expect(previewCsv("a,b\n1,2\n3,", true)).toEqual({ rows: [{ val: '{"a":1,"b":2}' }], problem: null })
})

test("cells of CSV are JSON where they are, and texts elsewhere", () => {
  const text =
    '\ufeffticket,"section, §",ok,tags\r\n"He said ""no""\nand left",2.10,true,"[""a""]"\r\nplain,§ 4,,""\r\n'
  expect(previewCsv(text, false)).toEqual({
    rows: [
      { val: '{"ticket":"He said \\"no\\"\\nand left","section, §":2.10,"ok":true,"tags":["a"]}' },
      { val: '{"ticket":"plain","section, §":"§ 4","tags":""}' },
    ],
    problem: null,
  })
})

test.each([
  ["a,,b\n1,2,3\n", "line 1 has a column without a name"],
  ["a,b,a\n1,2,3\n", "line 1 names the column “a” twice"],
  ["a,b\n1,2\n3\n", "row 2 has 1 cell, and the first line names 2 columns"],
  ['a,b\n"x\ny"z,2\n3,4\n', "line 2 has a cell whose quotes do not match"],
  ['a,b\n1,2\n3,x"y\n', "line 3 has a cell whose quotes do not match"],
  ['a,b\n1,"open\n3,4\n', "line 2 has a cell whose quotes do not match"],
])("%j", (text, problem) => {
  expect(previewCsv(text, false).problem).toBe(problem)
})

test("lines of CSV end in any way, and a quote that is open where the file is cut is no fault", () => {
  const rows = [{ val: '{"a":1,"b":2}' }]
  expect(previewCsv("a,b\r1,2\r", false)).toEqual({ rows, problem: null })
  expect(previewCsv('a,b\n1,2\n3,"half ""a"" cell', true)).toEqual({ rows, problem: null })
})

test("an empty last cell counts", () => {
  expect(previewCsv("a,b\n1,", false)).toEqual({ rows: [{ val: '{"a":1}' }], problem: null })
})
