import { afterAll, expect, test } from "vitest"
import { defaultLimits } from "../../limits.ts"
import { ThreadPool } from "../../threads/thread-pool.ts"
import { checkAnnotationValues } from "./feedback-annotation.ts"

const ref = "weave:///acme/p/object/quality:abc"
const limits = defaultLimits
const threads = new ThreadPool(new URL("../../task-thread.ts", import.meta.url), limits)
afterAll(() => threads.close())

async function check(field_schema: unknown, ...values: unknown[]): Promise<string> {
  try {
    const text = JSON.stringify({ _class_name: "AnnotationSpec", field_schema })
    const texts = values.map((value) => JSON.stringify(value))
    await checkAnnotationValues({ threads, limits }, { ref, text }, texts)
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
])("objects 2.3: a value must satisfy %j", async (schema, good, bad) => {
  expect(await check(schema, good)).toBe("accepted")
  expect(await check(schema, good, bad)).toMatch(
    /^Feedback payload does not match annotation spec weave:.*: the value /,
  )
})

test("format is not checked, as Python's jsonschema does not; an empty schema takes anything", async () => {
  expect(await check({ type: "string", format: "email" }, "nobody")).toBe("accepted")
  expect(await check({}, null)).toBe("accepted")
  expect(await check(undefined, [1])).toBe("accepted")
})

test.each([[{ type: "nonsense" }], [{ $ref: "https://example.com/elsewhere" }], [{ type: "string", pattern: "(" }]])(
  "a schema that cannot be used says so: %j",
  async (schema) => {
    expect(await check(schema, "a")).toContain(`the schema of ${ref} cannot be used`)
  },
)

/** Each level is twice the one below it. */
const doubling = Object.fromEntries(
  Array.from({ length: 60 }, (_, level) => [
    `a${level}`,
    level === 0
      ? { type: "number" }
      : { allOf: [{ $ref: `#/$defs/a${level - 1}` }, { $ref: `#/$defs/a${level - 1}` }] },
  ]),
)

test.each<[string, unknown, unknown]>([
  ["a pattern that backtracks for ever", { type: "string", pattern: "^(a+)+$" }, `${"a".repeat(60)}!`],
  [
    "many patterns that each backtrack for a while",
    { items: { not: { pattern: "^(a+)+$" } } },
    Array.from({ length: 200 }, () => `${"a".repeat(22)}!`),
  ],
  ["definitions that double at each level", { $defs: doubling, $ref: "#/$defs/a59" }, 1],
  ["a comparison of all with all", { uniqueItems: true }, Array.from({ length: 30_000 }, (_, n) => ({ n, l: [n] }))],
])("%s: the schema is given up, and the next one is used", async (_, schema, value) => {
  expect(await check(schema, value)).toBe(`the schema of ${ref} takes more than 200 ms to be used; make it simpler`)
  expect(await check({ type: "number" }, 1)).toBe("accepted")
})

test.each([
  ["262144 bytes", { description: "x".repeat(262_144) }],
  ["10000 values", { enum: Array.from({ length: 10_000 }, (_, n) => n) }],
])("a schema of more than %s is refused", async (most, schema) => {
  const [count, unit] = most.split(" ")
  expect(await check(schema, 1)).toMatch(new RegExp(`^the schema of ${ref} has .*${unit}.* a schema may have .*`))
  expect(await check(schema, 1)).toContain(count)
})

test("an object of another class is no spec", async () => {
  const spec = { ref, text: '{"_class_name":"Dataset"}' }
  await expect(checkAnnotationValues({ threads, limits }, spec, ["1"])).rejects.toThrow(
    "does not name an AnnotationSpec",
  )
})
