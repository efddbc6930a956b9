import { readFile } from "node:fs/promises"
import path from "node:path"
import { expect, test } from "vitest"
import { defaultLimits, limitList, readLimits } from "./limits.ts"
import { limitsPage } from "./limits-page.ts"

test("without variables every limit has the default of the list", () => {
  expect(readLimits({})).toEqual(defaultLimits)
  expect(Object.keys(defaultLimits)).toEqual(Object.keys(limitList))
})

test("a variable changes its own limit; an empty one changes nothing", () => {
  const limits = readLimits({ HEDDLE_LIMIT_CHAT_PROMPTS_PER_USER: "7", HEDDLE_LIMIT_BODY_WAIT_MS: "" })
  expect(limits).toEqual({ ...defaultLimits, chat_prompts_per_user: 7 })
})

test("the memory of one user's bodies goes with that of all, unless it is set itself", () => {
  const mebibytes = (all: string, one?: string) => {
    const limits = readLimits({ HEDDLE_LIMIT_BODY_MEMORY_BYTES: all, HEDDLE_LIMIT_BODY_MEMORY_BYTES_PER_USER: one })
    return [limits.body_memory_bytes / 2 ** 20, limits.body_memory_bytes_per_user / 2 ** 20]
  }
  expect(mebibytes(`${64 * 2 ** 20}`)).toEqual([64, 16])
  expect(mebibytes(`${64 * 2 ** 20}`, `${48 * 2 ** 20}`)).toEqual([64, 48])
})

test.each(["0", "-1", "1.5", "1 GiB", "1e99", "none"])("the value %j is refused by name", (value) => {
  expect(() => readLimits({ HEDDLE_LIMIT_BODY_WAIT_MS: value })).toThrow(
    new Error(`HEDDLE_LIMIT_BODY_WAIT_MS must be a whole number above 0, not "${value}"`),
  )
})

test.each([
  ["HEDDLE_LIMIT_AUDIT_LOG_DAYS", 36_500],
  ["HEDDLE_LIMIT_CATALOG_WAIT_MS", 2 ** 31 - 1],
  ["HEDDLE_LIMIT_SESSION_TOTAL_MS", 36_500 * 24 * 3600 * 1000],
])("%s is refused above what dates and timers can be", (name, most) => {
  expect(Object.values(readLimits({ [name]: `${most}` }))).toContain(most)
  expect(() => readLimits({ [name]: `${most + 1}` })).toThrow(
    new Error(`${name} may be ${most} at most, not "${most + 1}"`),
  )
})

test("a variable that names no limit is refused by name", () => {
  expect(() => readLimits({ HEDDLE_LIMIT_CHATS: "7" })).toThrow(
    new Error("there is no limit called HEDDLE_LIMIT_CHATS: docs/guide/limits.md lists those there are"),
  )
})

test("docs/guide/limits.md is printed from the list (scripts/generate-pages.ts writes it)", async () => {
  const page = path.resolve(import.meta.dirname, "../../docs/guide/limits.md")
  expect(await readFile(page, "utf8")).toBe(limitsPage())
})
