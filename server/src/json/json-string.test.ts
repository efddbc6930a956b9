import { expect, test } from "vitest"
import { seededRandom } from "../../test/support/seeded-random.ts"
import { endOfString } from "./json-string.ts"

/** Where the string that opens `text` closes, found one character after the other. */
function closing(text: string): number {
  for (let at = 1; at < text.length; at++) {
    if (text[at] === "\\") at++
    else if (text[at] === '"') return at
  }
  return -1
}

test("the end of a string is found however escapes and plain stretches of all lengths follow each other", () => {
  const random = seededRandom(7)
  const below = (most: number) => Math.floor(random() * most)
  const pieces = [() => "\\".repeat(below(5)), () => '"', () => '\\"', () => "x".repeat(below(80)), () => "\\\\"]
  for (let turn = 0; turn < 20_000; turn++) {
    const text = `"${Array.from({ length: below(12) }, () => pieces[below(pieces.length)]?.()).join("")}`
    expect([text, endOfString(text, 0)]).toEqual([text, closing(text)])
  }
})

test("a string that opens within a text ends at an offset of the text", () => {
  expect(endOfString('{"a":"b\\"c","d":1}', 5)).toBe(10)
  expect(endOfString('{"a":"b\\"c', 5)).toBe(-1)
})
