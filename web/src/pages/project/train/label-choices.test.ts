import { expect, test } from "vitest"
import { fieldOf, type LabelField } from "../../../labelling/label-fields.ts"
import { firstChoice, goodWords, toggledScore, toggledWord, wordsOf } from "./label-choices.ts"

function field(name: string, field_schema: object): LabelField {
  const found = fieldOf(`weave:///e/p/object/${name}:v0`, name, { name, field_schema })
  if (found === null) throw new Error(`${name} is no field`)
  return found
}

const right = field("right", { type: "boolean" })
const tone = field("tone", { type: "string", enum: ["kind", "plain", "rude"] })
const stars = field("stars", { type: "integer", minimum: 1, maximum: 5 })
const better = field("better", { type: "string" })

test("one question of yes and no chooses its yes, and written answers correct", () => {
  expect(firstChoice([right])).toEqual({ score: ["label.right"], min: 1 })
  expect(firstChoice([tone, right, better])).toEqual({ score: ["label.right"], min: 1, fix: ["label.better"] })
})

test("which of several questions counts, or which words are good, nobody can guess", () => {
  expect(firstChoice([right, field("done", { type: "boolean" })])).toEqual({})
  expect(firstChoice([tone, stars])).toEqual({})
  expect(firstChoice([])).toEqual({})
})

test("a field is taken in and out; the first of yes and no or of words keeps rows from 1 on", () => {
  expect(toggledScore({}, right)).toEqual({ score: ["label.right"], min: 1 })
  expect(toggledScore({}, tone)).toEqual({ score: ["label.tone"], min: 1 })
  expect(toggledScore({}, stars)).toEqual({ score: ["label.stars"] })
  expect(toggledScore({ min: 0.5 }, right)).toEqual({ score: ["label.right"] })
  expect(toggledScore({ score: ["label.stars"] }, right)).toEqual({ score: ["label.stars", "label.right"] })
  expect(toggledScore({ score: ["label.stars", "label.right"] }, right)).toEqual({ score: ["label.stars"] })
})

test("words that are chosen count 1, the others of the question 0, and what was written besides stays", () => {
  const words = wordsOf(tone)
  expect(words).toEqual(["kind", "plain", "rude"])
  expect([wordsOf(right), wordsOf(stars), wordsOf(better)]).toEqual([[], [], []])
  const once = toggledWord({ values: ["yes=1"] }, words, "kind")
  expect(once).toEqual(["yes=1", "kind=1", "plain=0", "rude=0"])
  const twice = toggledWord({ values: once }, words, "plain")
  expect(twice).toEqual(["yes=1", "kind=1", "plain=1", "rude=0"])
  expect(goodWords({ values: twice })).toEqual(["yes", "kind", "plain"])
  expect(toggledWord({ values: twice }, words, "kind")).toEqual(["yes=1", "kind=0", "plain=1", "rude=0"])
})
