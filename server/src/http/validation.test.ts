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
    [["body", "content"], "Too small: expected string to have >=1 characters", "too_small"],
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
