import { expect, test } from "vitest"
import { checkAnnotationValue } from "./feedback-annotation.ts"

const ref = "weave:///acme/p/object/quality:abc"

function check(field_schema: unknown, value: unknown): string {
  try {
    checkAnnotationValue(JSON.stringify({ _class_name: "AnnotationSpec", field_schema }), ref, value)
    return "accepted"
  } catch (error) {
    return (error as Error).message
  }
}

test.each([
  [{ type: "string", maxLength: 3 }, "abc", "abcd"],
  [{ type: "number", minimum: 0, maximum: 1 }, 0.5, 2],
  [{ type: "integer" }, 1, 1.5],
  [{ type: "boolean" }, true, 1],
  [{ type: "string", enum: ["good", "bad"] }, "good", "ugly"],
  [{ type: "string", pattern: "^b+$" }, "bb", "bc"],
  [{ anyOf: [{ type: "string" }, { type: "null" }] }, null, 1],
  [{ type: "array", prefixItems: [{ type: "string" }] }, ["a", 1], [1]],
  [{ $ref: "#/$defs/x", $defs: { x: { type: "object", required: ["a"] } } }, { a: 1 }, {}],
  [{ $schema: "http://json-schema.org/draft-07/schema#", items: [{ type: "string" }] }, ["a"], [1]],
  [{ $id: "https://example.com/one", type: "string" }, "a", 1],
])("objects 2.3: a value must satisfy %j", (schema, good, bad) => {
  expect(check(schema, good)).toBe("accepted")
  expect(check(schema, bad)).toMatch(/^Feedback payload does not match annotation spec weave:.*: the value /)
})

test("format is not checked, as Python's jsonschema does not; an empty schema takes anything", () => {
  expect(check({ type: "string", format: "email" }, "nobody")).toBe("accepted")
  expect(check({}, null)).toBe("accepted")
  expect(check(undefined, [1])).toBe("accepted")
})

test.each([[{ type: "nonsense" }], [{ $ref: "https://example.com/elsewhere" }], [{ type: "string", pattern: "(" }]])(
  "a schema that cannot be used says so: %j",
  (schema) => {
    expect(check(schema, "a")).toContain(`the schema of ${ref} cannot be used`)
  },
)

test("a pattern that backtracks for ever is given up", () => {
  expect(check({ type: "string", pattern: "^(a+)+$" }, `${"a".repeat(60)}!`)).toContain("timed out")
})

test("an object of another class is no spec", () => {
  expect(() => checkAnnotationValue('{"_class_name":"Dataset"}', ref, 1)).toThrow("does not name an AnnotationSpec")
})
