import { expect, test } from "vitest"
import {
  parseSearch,
  searchChoice,
  searchKeys,
  searchList,
  searchNumber,
  searchSwitch,
  searchText,
  stringifySearch,
} from "./search.ts"

const readKeys = searchKeys({
  q: searchText,
  smooth: searchNumber,
  live: searchSwitch,
  runs: searchList,
  tab: searchChoice(["chat", "raw"]),
})

const read = (text: string) => readKeys(parseSearch(text))

test("an address is text that a person reads", () => {
  const search = { q: 'op is f and tone < 3 "a b"', smooth: 0.6, live: true, runs: ["a", "b:step3"], tab: "raw" }
  const text = stringifySearch(search)
  expect(text).toBe("?q=op+is+f+and+tone+%3C+3+%22a+b%22&smooth=0.6&live=1&runs=a,b:step3&tab=raw")
  expect(read(text)).toEqual(search)
})

test.each([
  [{ q: "", live: false, runs: [], tab: undefined, smooth: null }, ""],
  [{ smooth: 0 }, "?smooth=0"],
])("%j is %j: what is empty or off is left out", (search, text) => expect(stringifySearch(search)).toBe(text))

test.each([
  { runs: ["a,b"] },
  { runs: ["a,,b"] },
  { runs: [","] },
  { runs: ["x,"] },
  { runs: ["x,", "y"] },
  { runs: ["x", ",y"] },
  { runs: [",", "\\", "\n"] },
  { runs: ["", ""] },
  { runs: ["100,000", "2"] },
  { runs: ["ü/ö", "a b"] },
])("the items $runs come back", ({ runs }) => {
  expect(read(stringifySearch({ runs }))).toEqual({ runs })
})

test.each(["?smooth=much", "?tab=none", "?live=maybe&other=1"])(
  "%s: what cannot be read is as if it were not there",
  (text) => {
    const { q, ...others } = read(text)
    expect(q).toBeUndefined()
    expect(Object.values(others).filter((value) => value !== undefined && value !== false)).toEqual([])
  },
)

test("what a page gives itself is read too", () => {
  expect(readKeys({ runs: ["a"], live: true, smooth: 2 })).toMatchObject({ runs: ["a"], live: true, smooth: 2 })
})
