import { expect, test } from "vitest"
import { isShorter, readDays } from "./retention-words.ts"

test("days are whole numbers from 1 to a hundred years of them", () => {
  expect(["1", " 30 ", "36500"].map(readDays)).toEqual([1, 30, 36_500])
  for (const text of ["", "0", "-1", "1.5", "1e2", "36501", "month"]) {
    expect([text, readDays(text)]).toEqual([text, expect.stringMatching(/^A whole number of days from 1 to 36.500\.$/)])
  }
})

test("a limit where there was none is shorter, and so are fewer days", () => {
  const changes = [
    [7, null],
    [7, 8],
    [8, 8],
    [9, 8],
    [null, 8],
    [null, null],
  ] as const
  expect(changes.map(([next, days]) => isShorter(next, days))).toEqual([true, true, false, false, false, false])
})
