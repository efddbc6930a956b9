import { expect, test } from "vitest"
import { secondsLeft } from "./time-left.ts"

test.each([
  ["ten steps of 3 s, one of which is under way for 1 s", 12, 2, 3, 1, 29],
  ["a step that takes longer than those before counts as done, and no more", 12, 2, 3, 500, 27],
  ["the last step is done: only the checkpoint is to be written", 12, 12, 3, 40, 0],
  ["to a tenth of a second", 3, 2, 0.333, 0, 0.3],
])("%s", (_name, expected, done, secondsPerStep, secondsSinceStep, left) => {
  expect(secondsLeft(expected, done, { secondsPerStep, secondsSinceStep })).toBe(left)
})

test.each([
  ["how many steps there will be is not known", null, 2, 3],
  ["no two steps were measured", 12, 1, null],
  ["the steps came in one batch, so that no time lies between them", 12, 5, 0],
])("%s: null", (_name, expected, done, secondsPerStep) => {
  expect(secondsLeft(expected, done, { secondsPerStep, secondsSinceStep: 1 })).toBeNull()
})
