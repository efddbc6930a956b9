import { expect, test } from "vitest"
import { z } from "zod"
import { HeddleError } from "../errors.ts"
import { parse } from "./validation.ts"

const part = z.union([
  z.object({ type: z.literal("text"), text: z.string() }),
  z.object({ type: z.literal("image"), image: z.object({ url: z.string() }) }),
])
const message = z.object({
  content: z.union([z.string().min(1), z.array(part)]).nullable(),
  role: z.enum(["user", "system"]).or(z.null()),
})

/** The findings on a message, each as its place, what is said and its type. */
function findings(value: unknown): unknown[] {
  try {
    parse(message, value, "body")
  } catch (error) {
    if (error instanceof HeddleError) return (error.details.issues ?? []).map(({ loc, msg, type }) => [loc, msg, type])
    throw error
  }
  return []
}

test("training-api 1.4: of a value that has none of its forms, all that it may be is told", () => {
  expect(findings({ content: 5, role: "robot" })).toEqual([
    [["body", "content"], "Invalid input: expected string or array, received number", "invalid_union"],
    [["body", "role"], 'Invalid input: expected "user", "system" or null, received "robot"', "invalid_union"],
  ])
})

test("training-api 1.4: of a value that has one of its forms but for a part, the part is told", () => {
  expect(findings({ content: [{ type: "text", text: 5 }], role: null })).toEqual([
    [["body", "content", 0, "text"], "Invalid input: expected string, received number", "invalid_type"],
  ])
  expect(findings({ content: [{ type: "image" }], role: null })).toEqual([
    [["body", "content", 0, "image"], "Field required", "missing"],
  ])
  expect(findings({ content: [4], role: null })).toEqual([
    [["body", "content", 0], "Invalid input: expected object, received number", "invalid_union"],
  ])
  expect(findings({ content: "", role: null })).toEqual([
    [["body", "content"], "Too small: expected string to have >=1 characters, received 0 characters", "too_small"],
  ])
})

test("training-api 1.4: the words of the schema stand before those made of its forms, and behind what is wrong inside of one", () => {
  const texts = z.union([z.string(), z.array(z.string())], { error: "a text or a list of texts" })
  const told = (value: unknown) => {
    try {
      parse(texts, value, "body")
    } catch (error) {
      return (error as HeddleError).message
    }
    return null
  }
  expect(told(5)).toBe("body: a text or a list of texts")
  expect(told(["a", 5])).toBe("body.1: Invalid input: expected string, received number")
})

test("training-api 1.4: a field of several forms that is not there is missing", () => {
  expect(findings({ role: null })).toEqual([[["body", "content"], "Field required", "missing"]])
})

const limits = z.object({
  limit: z.coerce.number().int().min(1).default(1),
  rate: z.number().multipleOf(0.5).default(1),
  name: z.string().min(2).max(120).default("ab"),
  id: z.uuid().nullish(),
  kind: z.enum(["rl", "sft"]),
  names: z.array(z.string()).max(1).default([]),
  days: z
    .number()
    .min(1, { error: ({ input }) => `${String(input)} is less than a day` })
    .nullish(),
  bias: z.record(z.string().regex(/^\d+$/, "a token id"), z.number()).default({}),
  source: z
    .discriminatedUnion("from", [z.object({ from: z.literal("a") }), z.object({ from: z.literal("b") })])
    .nullish(),
})

test.each([
  [{ limit: "ten" }, 'Invalid input: expected number, received "ten"'],
  [{ limit: "1.5" }, "Invalid input: expected int, received 1.5"],
  [{ limit: "0" }, "Too small: expected number to be >=1, received 0"],
  [{ limit: "" }, 'Too small: expected number to be >=1, received ""'],
  [{ rate: 0.7 }, "Invalid number: must be a multiple of 0.5, received 0.7"],
  [{ name: "a" }, "Too small: expected string to have >=2 characters, received 1 character"],
  [{ name: "x".repeat(121) }, "Too big: expected string to have <=120 characters, received 121 characters"],
  [{ id: "seven" }, 'Invalid UUID, received "seven"'],
  [{ id: "7".repeat(101) }, "Invalid UUID, received 101 characters"],
  [{ kind: "dpo" }, 'Invalid option: expected one of "rl"|"sft", received "dpo"'],
  [{ kind: 5 }, 'Invalid option: expected one of "rl"|"sft", received 5'],
  [{ names: ["a", "b"] }, "Too big: expected array to have <=1 items, received 2 items"],
  [{ days: 0 }, "0 is less than a day"],
  [{ bias: { hot: 1 } }, 'a token id, received "hot"'],
  [{ limit: "$1 $&" }, 'Invalid input: expected number, received "$1 $&"'],
  [{ source: { from: "c" } }, `Invalid discriminator value. Expected 'a' | 'b', received "c"`],
  [{ source: { from: { toString: 1 }, toString: 1 } }, `Invalid discriminator value. Expected 'a' | 'b'`],
])("law 4: what is wrong with a value names it: %j", (value, said) => {
  try {
    parse(limits, { kind: "rl", ...value }, "query")
  } catch (error) {
    return expect((error as HeddleError).details.issues?.map(({ msg }) => msg)).toEqual([said])
  }
  throw new Error("it was taken")
})

test("training-api 1.4: an option that is not there is missing, and so is the member that tells the form of an object", () => {
  expect(() => parse(limits, { kind: "rl", source: { name: "c" } }, "body")).toThrow("body.source.from: Field required")
  expect(() => parse(limits, {}, "body")).toThrow("body.kind: Field required")
})
