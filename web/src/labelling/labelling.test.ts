import { describe, expect, test } from "vitest"
import type { JsonText } from "../json/json-text.ts"
import { fieldFaults, fieldSchema, newField, objectName } from "./field-draft.ts"
import { labelledItem, skippedItem } from "./finished-item.ts"
import { answerOf, type Draft, draftText, emptyDraft, openFields, withAnswer, withChoice } from "./label-draft.ts"
import { fieldOf, type LabelField } from "./label-fields.ts"
import type { Item } from "./label-session.ts"
import { givenLabels } from "./suggestions.ts"

const field = (name: string, field_schema: object, description = ""): LabelField => {
  const made = fieldOf(`weave:///e/p/object/${name}:v0`, name, { name, description, field_schema })
  if (made === null) throw new Error("no field")
  return made
}
const tone = field("tone", { type: "string", enum: ["kind", "rude"] }, "Judge the words.")
const warm = field("warm", { type: "integer", minimum: 1, maximum: 5 })
const wrong = field("wrong", { type: "array", items: { enum: ["policy", "made up", "too long"] } })
const score = field("score", { type: "number", minimum: 0, maximum: 1 })
const why = field("why", { type: "string" })
const ok = field("ok", { type: "boolean" })

describe("what a spec asks", () => {
  test.each([
    [tone, "choice", ["kind", "rude"]],
    [warm, "choice", ["1", "2", "3", "4", "5"]],
    [wrong, "many", ["policy", "made up", "too long"]],
    [ok, "choice", ["yes", "no"]],
    [score, "number", []],
    [why, "text", []],
    [field("any", { type: "object" }), "json", []],
    [field("wide", { type: "integer", minimum: 0, maximum: 100 }), "number", []],
  ])("%# is answered by its kind and options", (one, kind, labels) => {
    expect([one.kind, one.options.map(({ label }) => label)]).toEqual([kind, labels])
  })

  test("an object that is no spec asks nothing", () => expect(fieldOf("r", "n", { name: "model" })).toBeNull())
  test("a scale keeps its values numbers", () => expect(warm.options[4]?.value).toBe(5))
})

describe("a draft", () => {
  const chosen = withChoice(tone, emptyDraft, "rude")
  test("a choice takes the place of the one before", () => {
    expect(withChoice(tone, chosen, "kind").answers).toEqual({ tone: "kind" })
  })
  test("of many each goes in and out, in the order of the options", () => {
    const both = withChoice(wrong, withChoice(wrong, emptyDraft, "too long"), "policy")
    expect(both.answers["wrong"]).toEqual(["policy", "too long"])
    expect(withChoice(wrong, both, "policy").answers["wrong"]).toEqual(["too long"])
  })
  test("choices and numbers are required, what is written or ticked is not", () => {
    const fields = [tone, score, why, wrong]
    expect(openFields(fields, chosen).map(({ name }) => name)).toEqual(["score"])
    expect(openFields(fields, withAnswer(score, chosen, "0,5"))).toEqual([])
    expect(openFields([why, wrong], emptyDraft).map(({ name }) => name)).toEqual(["why"])
  })
  test.each([
    ["0,5", { kind: "value", value: 0.5 }],
    ["2", { kind: "bad", why: "At most 1." }],
    ["much", { kind: "bad", why: "“much” is no number." }],
    [" ", { kind: "none" }],
    ["1,000", { kind: "bad", why: "“1,000” may be 1000 or 1.000: write it without the comma." }],
    ["0,125", { kind: "value", value: 0.125 }],
  ])("the number %j", (text, answer) => expect(answerOf(score, withAnswer(score, emptyDraft, text))).toEqual(answer))
  test.each([
    [field("seed", { type: "integer" }), "9007199254740993"],
    [field("any", { type: "object" }), '{"id":9007199254740993,"most":1e400,"share":0.50}'],
  ])("%# keeps the digits that were typed", (one, text) => {
    const answer = answerOf(one, withAnswer(one, emptyDraft, text))
    expect(JSON.stringify(answer)).toBe(`{"kind":"value","value":${text}}`)
  })
  test("an option null is an answer once it is chosen", () => {
    const verdict = field("verdict", { enum: ["good", "bad", null] })
    expect(openFields([verdict], emptyDraft)).toEqual([verdict])
    const none = withChoice(verdict, emptyDraft, null)
    expect([openFields([verdict], none), draftText([verdict], none)]).toEqual([[], "null"])
    const sent = labelledItem({ id: "i", call_id: "c" } as Item, [verdict], none, null)
    expect(sent.labels).toMatchObject([{ field: "verdict", value: null }])
  })
  test("in a line", () => {
    const draft = withChoice(wrong, withChoice(ok, chosen, false), "policy")
    expect(draftText([tone, ok, wrong], draft)).toBe("rude, no, policy")
  })
})

describe("what was said of a call", () => {
  const summary = (feedback: object[]) => JSON.stringify({ weave: { feedback } }) as JsonText
  const scored = (name: string, output: unknown, id = "f1") => ({
    id,
    feedback_type: `wandb.runnable.${name}`,
    payload: { output },
    runnable_ref: "weave:///e/p/op/x:v0",
  })
  const label = (user: string, value: unknown) => ({
    id: "f2",
    feedback_type: "wandb.annotation.tone",
    payload: { value },
    wb_user_id: user,
    runnable_ref: null,
  })

  test("a scorer of the question's name, and a member of any scorer's output, suggest; the newest counts", () => {
    const { suggestions } = givenLabels(
      [tone, warm],
      summary([
        scored("tone", "kind", "old"),
        scored("tone", { label: "rude", confidence: 0.83 }, "new"),
        scored("judge", { warm: 2 }, "j"),
      ]),
      "me",
    )
    expect(suggestions).toEqual({
      tone: { value: "rude", confidence: 0.83, scorer: "tone", feedbackId: "new" },
      warm: { value: 2, confidence: null, scorer: "judge", feedbackId: "j" },
    })
  })
  test("what cannot be chosen is no suggestion", () => {
    expect(givenLabels([tone], summary([scored("tone", "icy")]), "me").suggestions).toEqual({})
  })
  test("labels of others, the newest of each; one's own are none", () => {
    const { others } = givenLabels(
      [tone],
      summary([label("me", "kind"), label("ann", "kind"), label("ann", "rude")]),
      "me",
    )
    expect(others).toEqual([{ field: "tone", value: "rude", userId: "ann" }])
  })
})

describe("what is sent", () => {
  const item = { id: "i", call_id: "c" } as Item
  const draft: Draft = { answers: { tone: "rude", why: "  " }, note: " curt " }
  test("labels of what was answered, with what was suggested and seen, and the note", () => {
    const said = {
      suggestions: { tone: { value: "kind", confidence: null, scorer: "s", feedbackId: "f" } },
      others: [],
    }
    const sent = labelledItem(item, [tone, why], draft, said)
    expect(sent.labels).toMatchObject([
      { field: "tone", ref: tone.ref, value: "rude", suggestion: { value: "kind", feedback_id: "f" } },
    ])
    expect([sent.note?.text, sent.text]).toEqual(["curt", "rude"])
    expect(labelledItem(item, [tone], draft, null).labels[0]?.suggestion).toBeNull()
  })
  test("ids are UUIDs, each another", () => {
    const ids = [0, 1].map(() => labelledItem(item, [tone], draft, null).labels[0]?.feedbackId ?? "")
    for (const id of ids) expect(id).toMatch(/^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/)
    expect(ids[0]).not.toBe(ids[1])
  })
  test("a skip has its reason as a note, and no label", () => {
    expect(skippedItem(item, draft, "in Polish")).toMatchObject({ labels: [], note: { text: "Skipped: in Polish" } })
    expect(skippedItem(item, draft, " ").note).toBeNull()
  })
})

describe("a new question", () => {
  const words = { ...newField, name: "How warm?", words: "kind\nrude\nkind" }
  test("its schema", () => {
    expect(fieldSchema(words)).toEqual({ type: "string", enum: ["kind", "rude"] })
    expect(fieldSchema({ ...newField, shape: "scale" })).toEqual({ type: "integer", minimum: 1, maximum: 5 })
  })
  test("a word holds commas, and ends with its line", () => {
    expect(fieldSchema({ ...words, words: "yes, but late\r\n no \n" })).toMatchObject({ enum: ["yes, but late", "no"] })
  })
  test("its object's name", () => expect(objectName("How warm?")).toBe("How-warm"))
  test.each([
    [words, null],
    [{ ...words, name: "" }, "Give the question a name."],
    [{ ...words, words: "one" }, "Write two words or more, a line each."],
    [{ ...words, shape: "scale" as const, most: "1" }, "A scale goes from one whole number up to another."],
    [{ ...words, name: "tone" }, "The project has a field “tone” already; choose it above."],
  ])("what is missing of %#", (draft, fault) => expect(fieldFaults([draft], ["tone"])).toEqual([fault]))
})
