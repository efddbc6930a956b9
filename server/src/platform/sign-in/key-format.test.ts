import { expect, test } from "vitest"
import { keyFault, makeKey } from "./key-format.ts"

test("training-api 5.1: made keys have 48 characters that the wandb SDK takes, and no dash, which it reads as a prefix's end", () => {
  const keys = Array.from({ length: 200 }, makeKey)
  for (const key of keys) expect(key).toMatch(/^[A-Za-z0-9]{48}$/)
  expect(new Set(keys).size).toBe(200)
})

test.each([
  ["k".repeat(40), null],
  ["A-b_9".repeat(8), null],
  ["k".repeat(39), "it has 39 characters, and at least 40 are needed"],
  [`${"k".repeat(40)} `, "it has characters outside A-Z a-z 0-9 _ -"],
  ["ü".repeat(40), "it has characters outside A-Z a-z 0-9 _ -"],
])("%j: %j", (key, fault) => expect(keyFault(key)).toBe(fault))
