import { expect, test } from "vitest"
import { exactInteger, holdsNumber, mayChangeNumbers, parseExact } from "./exact-json.ts"

const kept = [
  "1.0",
  "-0",
  "-0.0",
  "0.10",
  "0.0000001",
  "1e3",
  "1E-7",
  "2.50",
  "9007199254740993",
  "-9223372036854775808",
  "0.1000000000000000055",
  "12345678.123456789012",
]

test.each(kept)("%s keeps its spelling wherever it stands", (number) => {
  const text = `{"a":[${number},{"__proto__":${number},"b":${number}}],"c":"${number}"}`
  expect(mayChangeNumbers(text)).toBe(true)
  expect(JSON.stringify(parseExact(text))).toBe(text)
})

test("what JSON.parse keeps anyway stays an ordinary number, and is told from the rest", () => {
  const text = '{"a":[0,-1,12.5,0.001,1234567890],"b":"v2"}'
  expect(mayChangeNumbers(text)).toBe(false)
  expect(parseExact(text)).toEqual({ a: [0, -1, 12.5, 0.001, 1234567890], b: "v2" })
})

test("numbers are found at any depth, digits in strings are none", () => {
  expect(holdsNumber({ a: [{ b: "1", c: null }, [{ d: 0 }]] })).toBe(true)
  expect(holdsNumber({ a: [{ b: "1", c: null }, [true]] })).toBe(false)
})

test("whole numbers come exactly, in any spelling", () => {
  expect(
    ["9007199254740993", "-9223372036854775808", "5.0", "1e3", "7"].map((text) => exactInteger(parseExact(text))),
  ).toEqual([9007199254740993n, -9223372036854775808n, 5n, 1000n, 7n])
})
