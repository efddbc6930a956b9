import { expect, test } from "vitest"
import { JsonScanner } from "./json-scanner.ts"
import { KeyTable } from "./key-table.ts"
import { seededBelow } from "../../test/support/seeded-random.ts"

/** Whether the scanner takes the whole text as one value, wherever it lies in memory. */
function accepts(text: string | Buffer, offset: number): boolean {
  const memory = Buffer.alloc(Buffer.byteLength(text) + offset, '"')
  const bytes = memory.subarray(offset)
  bytes.set(Buffer.from(text))
  const scanner = new JsonScanner(bytes)
  try {
    scanner.skip()
    scanner.end()
    return true
  } catch {
    return false
  }
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

const documents = [
  '{"a":[1,-2.5e+10,0.1E-7,true,false,null,{"b":{}}],"long enough for words":"x","":[]}',
  ' [ "plain" , "esc \\" \\\\ \\/ \\b\\f\\n\\r\\t \\u00e9 \\ud800" , "ümlaut 🧵 \u2028 \u007f" ]\r\n\t',
  '"a string of more than a word, without an escape, and a few more characters"',
  "[0,-0,10,1e5,123456789012345678901234567890,[[[[]]]]]",
]

test("accepts what JSON.parse accepts, and nothing else, at any alignment", () => {
  const random = seededBelow(20_260_102)
  const pieces = [
    '"',
    "\\",
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "0",
    "1",
    ".",
    "e",
    "-",
    "+",
    " ",
    "\n",
    "\u0001",
    "\u001f",
    "u",
    "true",
    "nul",
    "é",
    "/",
    "x",
  ]
  let accepted = 0
  const wrong: string[] = []
  for (let round = 0; round < 20_000; round++) {
    const document = documents[random(documents.length)] as string
    const at = random(document.length + 1)
    const piece = random(4) === 0 ? "" : (pieces[random(pieces.length)] as string)
    const text = document.slice(0, at) + piece + document.slice(at + random(3))
    if (!text.isWellFormed()) continue
    const valid = isJson(text)
    accepted += Number(valid)
    if (accepts(text, round & 3) !== valid) wrong.push(text)
  }
  expect(wrong).toEqual([])
  expect(accepted).toBeGreaterThan(1000)
})

test.each(["", " ", "NaN ", "Infinity", "-Infinity", "[NaN,-Infinity]"])("%j", (text) => {
  const scanner = new JsonScanner(Buffer.from(text))
  if (text.trim() === "") return expect(accepts(text, 0)).toBe(false)
  scanner.skip()
  scanner.end()
  expect(scanner.sawNotFinite).toBe(true)
})

test.each(["Nan", "infinity", "-NaN", "+1", "-", "tru", "nulll", "--Infinity"])("%s is no value", (text) => {
  expect(accepts(text, 0)).toBe(false)
})

test("a deep value is refused before it costs anything", () => {
  expect(accepts("[".repeat(200) + "]".repeat(200), 0)).toBe(true)
  expect(() => new JsonScanner(Buffer.from("[".repeat(201))).skip()).toThrow("more than 200 levels")
})

test("an error names the byte and its place", () => {
  expect(() => new JsonScanner(Buffer.from('{"a":1 ! }')).skip()).toThrow('unexpected "!" at byte 7')
  expect(() => new JsonScanner(Buffer.from('["a\nb"]')).skip()).toThrow("unexpected byte 0x0a at byte 3")
})

test("keys are found by their bytes, escaped ones and those of equal hashes too", () => {
  const keys = new KeyTable(["start", "end", "é"])
  // "fOd" has the hash of "end": 31 · (31 · "e" + "n") = 31 · (31 · "f" + "O").
  const scanner = new JsonScanner(Buffer.from('{"st\\u0061rt":1,"end":2,"other":3,"en":4,"é":5,"\\u00e9":6,"fOd":7}'))
  const found: number[] = []
  scanner.enterObject()
  do {
    found.push(scanner.keyIn(keys))
    scanner.skip()
  } while (scanner.nextMember())
  expect(found).toEqual([0, 1, -1, -1, 2, 2, -1])
})
