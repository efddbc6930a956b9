import { expect, test } from "vitest"
import { countKinds, filterOfKind, kindOfObject } from "./object-kinds.ts"

const object = (base: string | null) => ({ kind: "object" as const, base_object_class: base })
const op = { kind: "op" as const, base_object_class: null }

test("what people make comes first, and classes that are not known have their own name", () => {
  const objects = [op, object("Provider"), object("Dataset"), object(null), object("Prompt"), object("Dataset")]
  expect(countKinds(objects).map(({ id, name, count }) => [id, name, count])).toEqual([
    ["datasets", "Datasets", 2],
    ["prompts", "Prompts", 1],
    ["ops", "Ops", 1],
    ["Provider", "Provider", 1],
    ["values", "Values", 1],
  ])
})

test("scoring rules and questions of queues have words of their own; their class in an address still finds them", () => {
  const kinds = countKinds([object("ScoringRule"), object("AnnotationSpec")])
  expect(kinds.map(({ id, name, noun }) => [id, name, noun])).toEqual([
    ["scoring-rules", "Scoring rules", "scoring rule"],
    ["questions", "Questions", "question"],
  ])
  for (const id of ["scoring-rules", "ScoringRule"]) {
    expect(filterOfKind(id)).toEqual({ base_object_classes: ["ScoringRule"], is_op: false })
  }
})

test("the kind that is open is there without an object", () => {
  expect(countKinds([op], "scorers").map(({ id, name, count }) => [id, name, count])).toEqual([
    ["scorers", "Scorers", 0],
    ["ops", "Ops", 1],
  ])
})

test("an op is one whatever class it says, and a class may have any name", () => {
  expect(kindOfObject({ kind: "op", base_object_class: "Dataset" }).id).toBe("ops")
  expect(kindOfObject(object("constructor")).id).toBe("constructor")
})

test("filters of the API", () => {
  expect(filterOfKind("ops")).toEqual({ is_op: true })
  expect(filterOfKind("datasets")).toEqual({ base_object_classes: ["Dataset"], is_op: false })
  expect(filterOfKind("Provider")).toEqual({ base_object_classes: ["Provider"], is_op: false })
  expect(filterOfKind("values")).toBeNull()
})
