import { expect, test } from "vitest"
import { fieldOf, type LabelField } from "../../../labelling/label-fields.ts"
import { askedField, firstChoice, goodWords, isInScore, toggledScore, toggledWord } from "./label-choices.ts"

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

test("a question says what its labels are", () => {
  expect([right, tone, stars, better].map(askedField)).toEqual([
    { path: "label.right", isScored: true, isText: false, words: [], isOfOnes: true },
    { path: "label.tone", isScored: true, isText: false, words: ["kind", "plain", "rude"], isOfOnes: true },
    { path: "label.stars", isScored: true, isText: false, words: [], isOfOnes: false },
    { path: "label.better", isScored: false, isText: true, words: [], isOfOnes: false },
  ])
})

test("a field is taken in and out; the first of yes and no or of words keeps rows from 1 on", () => {
  const [ofRight, ofTone, ofStars] = [right, tone, stars].map(askedField) as [Asked, Asked, Asked]
  expect(toggledScore({}, ofRight)).toEqual({ score: ["label.right"], min: 1 })
  expect(toggledScore({}, ofTone)).toEqual({ score: ["label.tone"], min: 1 })
  expect(toggledScore({}, ofStars)).toEqual({ score: ["label.stars"] })
  expect(toggledScore({ min: 0.5 }, ofRight)).toEqual({ score: ["label.right"] })
  expect(toggledScore({ score: ["label.stars"] }, ofRight)).toEqual({ score: ["label.stars", "label.right"] })
  expect(toggledScore({ score: ["label.stars", "label.right"] }, ofRight)).toEqual({ score: ["label.stars"] })
})

test("a field with a weight is in the score, and is taken out with it", () => {
  const [ofStars, ofRight] = [stars, right].map(askedField) as [Asked, Asked]
  const search = { score: ["label.right", "label.stars * 0.5"] }
  expect(isInScore(search, ofStars)).toBe(true)
  expect(isInScore({ score: ["label.stars2"] }, ofStars)).toBe(false)
  expect(toggledScore(search, ofStars)).toEqual({ score: ["label.right"] })
  expect(toggledScore(search, ofRight)).toEqual({ score: ["label.stars * 0.5"] })
})

test("words that are chosen count 1, the others of the question 0, and what was written besides stays", () => {
  const { words } = askedField(tone)
  const once = toggledWord({ values: ["yes=1"] }, words, "kind")
  expect(once).toEqual(["yes=1", "kind=1", "plain=0", "rude=0"])
  const twice = toggledWord({ values: once }, words, "plain")
  expect(twice).toEqual(["yes=1", "kind=1", "plain=1", "rude=0"])
  expect(goodWords({ values: twice })).toEqual(["yes", "kind", "plain"])
  expect(toggledWord({ values: twice }, words, "kind")).toEqual(["yes=1", "kind=0", "plain=1", "rude=0"])
})

type Asked = ReturnType<typeof askedField>
