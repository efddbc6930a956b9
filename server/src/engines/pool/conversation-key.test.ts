import { expect, test } from "vitest"
import { conversationKey } from "./conversation-key.ts"

const base = { name: "tiny", path: null }
const system = { role: "system", content: "You add numbers." }
const ask = (content: string) => ({ role: "user", content })
const answer = { role: "assistant", content: "7" }

const keyOf = (messages: { role: string; content: unknown }[], changes: object = {}) =>
  conversationKey({ base, adapter: null, messages, sampling: { max_tokens: 1 }, cache_salt: "salt", ...changes })

test("all turns of a conversation have one key, other conversations others", () => {
  const key = keyOf([system, ask("3+4")])
  expect(keyOf([system, ask("3+4"), answer, ask("and 1?")])).toBe(key)
  expect(keyOf([system, ask("5+4")])).not.toBe(key)
  expect(keyOf([ask("3+4")])).not.toBe(key)
})

test("other weights, another base or another salt share no cache", () => {
  const key = keyOf([ask("3+4")])
  const adapter = { key: "model@1", path: "/a" }
  const others = [{ adapter }, { adapter: { key: "model@2", path: "/b" } }, { base: { ...base, name: "other" } }]
  const keys = [key, ...[...others, { cache_salt: "other" }].map((changes) => keyOf([ask("3+4")], changes))]
  expect(new Set(keys).size).toBe(5)
})

test("texts in parts, prompts and ids are told apart by their beginnings", () => {
  const parts = (text: string) => [{ role: "user", content: [{ type: "text", text }, null, { type: "image_url" }] }]
  expect(keyOf(parts("3+4"))).not.toBe(keyOf(parts("3+5")))
  const ofPrompt = (prompt: string) => keyOf([], { messages: null, prompt })
  expect(ofPrompt("one")).not.toBe(ofPrompt("two"))
  const ofIds = (prompt_token_ids: number[]) => keyOf([], { messages: null, prompt_token_ids })
  expect(ofIds([1, 2])).not.toBe(ofIds([1, 3]))
})

test("only the beginning counts, however long a prompt is", () => {
  const long = "x".repeat(1_000_000)
  const many = Array.from({ length: 10_000 }, () => answer)
  expect(keyOf([ask(`${long}a`)])).toBe(keyOf([ask(`${long}b`), ...many]))
  expect(keyOf(many)).toBe(keyOf([...many, ask("late")]))
  const ids = Array.from({ length: 100_000 }, () => 12_345)
  const ofIds = (prompt_token_ids: number[]) => keyOf([], { messages: null, prompt_token_ids })
  expect(ofIds(ids)).toBe(ofIds([...ids, 1]))
  const ofPrompt = (prompt: string) => keyOf([], { messages: null, prompt })
  expect(ofPrompt(`${long}a`)).toBe(ofPrompt(`${long}b`))
})
