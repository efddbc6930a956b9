import { expect, test } from "vitest"
import { feedbackSamples, foundFields } from "./found-fields.ts"

const fieldsOf = (values: readonly unknown[]) => foundFields(values.map((value) => ({ path: "row.x", value })))

test("numbers and yes or no score; what is neither a word nor a text is no field", () => {
  expect(fieldsOf([0.5, 3])).toEqual([{ path: "row.x", isScored: true, isText: false, words: [], isOfOnes: false }])
  expect(fieldsOf([true, false])).toMatchObject([{ isScored: true, isText: false, isOfOnes: true }])
  expect(fieldsOf([true, 0.5])).toMatchObject([{ isOfOnes: false }])
  expect(fieldsOf([null, [1, 2]])).toEqual([])
})

test("words that come again score once it is said what they count, and are no answers", () => {
  expect(fieldsOf(["rude", "kind", "kind"])).toMatchObject([
    { isScored: true, isText: false, words: ["kind", "rude"], isOfOnes: true },
  ])
  const many = Array.from({ length: 9 }, (_, index) => `word ${index}`)
  expect(fieldsOf([...many, ...many])).toEqual([])
  expect(fieldsOf(["kind, mostly", "kind, mostly"])).toEqual([])
})

test("texts of which none comes twice may be answers; short ones may be words, too", () => {
  const long = "Thank you for telling us. You can send it back for free."
  expect(fieldsOf([long, `${long} Really.`])).toMatchObject([{ isScored: false, isText: true, words: [] }])
  expect(fieldsOf(["four"])).toMatchObject([{ isScored: true, isText: true, words: ["four"] }])
  expect(fieldsOf(["8", "11"])).toMatchObject([{ isScored: true, isText: true, words: [], isOfOnes: false }])
})

test("members of members have paths of their own, as far as a path can name them", () => {
  const value = { a: { b: { c: 1, d: { e: 2 } } }, "with.dot": 3, n: 4 }
  expect(foundFields([{ path: "scores", value }]).map(({ path }) => path)).toEqual(["scores.a.b.c", "scores.n"])
})

test("of very many fields those that most rows have", () => {
  const samples = Array.from({ length: 50 }, (_, index) => ({ path: `row.n${index}`, value: 1 }))
  const fields = foundFields([...samples, ...samples.slice(10)])
  expect(fields).toHaveLength(40)
  expect(fields.map(({ path }) => path)).not.toContain("row.n9")
})

test("people, scorers and programs put what they say in different places; notes, reactions and votes are no fields", () => {
  const samples = feedbackSamples([
    { feedback_type: "right", payload: { value: true, by: "a" } },
    { feedback_type: "wandb.annotation.tone", payload: { value: "kind", suggestion: { value: "rude" } } },
    { feedback_type: "wandb.runnable.exact", payload: { output: { correct: true }, value: 3 } },
    { feedback_type: "wandb.note.1", payload: { note: "4" } },
    { feedback_type: "wandb.reaction.1", payload: { emoji: "👍" } },
    { feedback_type: "playground.vote", payload: { value: "better" } },
    { feedback_type: "a]b", payload: { value: 1 } },
    { feedback_type: "a*b", payload: { value: 1 } },
    { feedback_type: "a,b", payload: { value: 1 } },
  ])
  expect(foundFields(samples).map(({ path }) => path)).toEqual([
    "feedback.[right].payload.by",
    "feedback.[right].payload.value",
    "feedback.[wandb.annotation.tone].payload.value",
    "feedback.[wandb.runnable.exact].payload.output.correct",
  ])
})
