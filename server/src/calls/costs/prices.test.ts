import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import path from "node:path"
import { expect, onTestFinished, test } from "vitest"
import type { TokenPriceRow } from "../../storage/traces/token-prices.ts"
import { loadPriceList } from "./price-list.ts"
import { costEntry, priceBook } from "./prices.ts"
import { usageByModel } from "../usage/token-usage.ts"

const row = (fields: Partial<TokenPriceRow>): TokenPriceRow => ({
  id: "1",
  llm_id: "m",
  provider_id: "default",
  effective_date: "2025-01-01T00:00:00.000000Z",
  prompt_token_cost: 1,
  completion_token_cost: 2,
  cache_read_input_token_cost: 0.5,
  cache_creation_input_token_cost: 4,
  prompt_token_cost_unit: "USD",
  completion_token_cost_unit: "USD",
  created_by: "u",
  created_at: "2025-01-01T00:00:00.000000Z",
  ...fields,
})

test("calls 3.2: the project's price before the default one, the latest in effect when the call began", () => {
  const defaults = [row({ id: "d1", effective_date: "2024-01-01T00:00:00.000000Z" }), row({ id: "d2" })]
  const own = [
    row({ id: "p1", effective_date: "2025-06-01T00:00:00.000000Z" }),
    row({ id: "p2", effective_date: "2025-09-01T00:00:00.5Z" }),
    row({ id: "p3", effective_date: "2025-09-01T00:00:00.5Z", created_at: "2025-01-02T00:00:00.000000Z" }),
  ]
  const book = priceBook("acme/p", own, defaults)
  const found = (startedAt: string) => {
    const price = book.find("m", startedAt)
    return price === null ? null : [price.id, price.pricing_level, price.pricing_level_id]
  }
  expect(found("2023-12-31T23:59:59Z")).toBeNull()
  expect(found("2024-05-01T00:00:00Z")).toEqual(["d1", "default", "default"])
  expect(found("2025-05-31T23:59:59.999999Z")).toEqual(["d2", "default", "default"])
  expect(found("2025-06-01T00:00:00Z")).toEqual(["p1", "project", "acme/p"])
  expect(found("2025-09-01T00:00:00.499999Z")).toEqual(["p1", "project", "acme/p"])
  expect(found("2025-09-01T00:00:00.500000Z")).toEqual(["p3", "project", "acme/p"])
  expect(book.find("unknown", "2026-01-01T00:00:00Z")).toBeNull()
  expect(book.changes.map(Number).toSorted((a, b) => a - b)).toEqual(
    ["2024-01-01", "2025-01-01", "2025-06-01", "2025-09-01T00:00:00.500Z"].map((date) => Date.parse(date) * 1000),
  )
})

test("calls 3.2: what a call cost, cached tokens at their own rate", () => {
  const usage = usageByModel({
    m: { prompt_tokens: 10, completion_tokens: 3, cache_read_input_tokens: 4, requests: 1 },
  })
  const price = priceBook("acme/p", [row({})], []).find("m", "2026-01-01T00:00:00Z")
  const tokens = usage.get("m")
  if (price === null || tokens === undefined) throw new Error("neither may be missing")
  expect(costEntry(tokens, price)).toEqual({
    requests: 1,
    prompt_tokens: 10,
    completion_tokens: 3,
    total_tokens: 13,
    cache_read_input_tokens: 4,
    cache_creation_input_tokens: 0,
    prompt_token_cost: 1,
    completion_token_cost: 2,
    cache_read_input_token_cost: 0.5,
    cache_creation_input_token_cost: 4,
    prompt_tokens_total_cost: 6,
    completion_tokens_total_cost: 6,
    cache_read_input_tokens_total_cost: 2,
    cache_creation_input_tokens_total_cost: 0,
    prompt_token_cost_unit: "USD",
    completion_token_cost_unit: "USD",
    effective_date: "2025-01-01T00:00:00.000000Z",
    provider_id: "default",
    pricing_level: "project",
    pricing_level_id: "acme/p",
    created_at: "2025-01-01T00:00:00.000000Z",
    created_by: "u",
  })
  const besides = { ...tokens, prompt_tokens: 1, cache_read_input_tokens: 4 }
  expect(costEntry(besides, price)).toMatchObject({ prompt_tokens_total_cost: 0 })
})

test("calls 4.1: spellings are added, garbage counts 0, empty models are left out", () => {
  const usage = {
    a: { prompt_tokens: 1, input_tokens: 2, completion_tokens: 3, output_tokens: 4, total_tokens: 0 },
    b: { input_tokens: "5", output_tokens: 1.9, total_tokens: 99, requests: null },
    c: { prompt_tokens: "many", completion_tokens: [], requests: {} },
    d: "text",
    e: null,
  }
  const empty = { requests: 0, cache_read_input_tokens: 0, cache_creation_input_tokens: 0 }
  expect(Object.fromEntries(usageByModel(usage))).toEqual({
    a: { ...empty, prompt_tokens: 3, completion_tokens: 7, total_tokens: 10 },
    b: { ...empty, prompt_tokens: 5, completion_tokens: 1, total_tokens: 99 },
  })
  expect([usageByModel(null), usageByModel([1]), usageByModel("x")].map((map) => map.size)).toEqual([0, 0, 0])
})

test("the shipped list has prices for one token, and each name once", async () => {
  const list = await loadPriceList(null)
  expect(list.get("gpt-4o-mini-2024-07-18")).toEqual([
    expect.objectContaining({
      provider_id: "openai",
      prompt_token_cost: 1.5e-7,
      completion_token_cost: 6e-7,
      cache_read_input_token_cost: 7.5e-8,
      effective_date: "2024-07-18T00:00:00.000000Z",
    }),
  ])
  expect(list.get("gpt-4.1-mini")?.[0]?.prompt_token_cost).toBe(4e-7)
  expect(list.get("gpt-4o")).toHaveLength(2)
})

async function listFile(content: string): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), "heddle-prices-"))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const file = path.join(folder, "prices.json")
  await writeFile(file, content)
  return file
}

test("the operator's list stands over the shipped one, model by model", async () => {
  const models = [
    { names: ["gpt-4o", "house-model"], provider: "us", prices: [{ from: "2026-01-01", input: 3, output: 4 }] },
  ]
  const list = await loadPriceList(await listFile(JSON.stringify({ models })))
  expect(list.get("gpt-4o")).toEqual([expect.objectContaining({ provider_id: "us", prompt_token_cost: 3e-6 })])
  expect(list.get("house-model")).toHaveLength(1)
  expect(list.get("gpt-4o-mini")).toHaveLength(1)
})

test.each([
  ["not JSON", "{"],
  [
    "an unknown key",
    '{"models":[{"names":["a"],"provider":"p","prices":[{"from":"2026-01-01","input":1,"output":1,"inputs":2}]}]}',
  ],
  [
    "a negative price",
    '{"models":[{"names":["a"],"provider":"p","prices":[{"from":"2026-01-01","input":-1,"output":1}]}]}',
  ],
  ["no date", '{"models":[{"names":["a"],"provider":"p","prices":[{"from":"soon","input":1,"output":1}]}]}'],
])("an operator's list with %s is refused by name", async (_, content) => {
  const file = await listFile(content)
  await expect(loadPriceList(file)).rejects.toThrow(`HEDDLE_PRICES names, ${file}, cannot be used: `)
})
