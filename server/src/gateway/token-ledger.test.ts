import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import path from "node:path"
import { afterAll, beforeAll, expect, test } from "vitest"
import { HeddleError } from "../errors.ts"
import { openTraces } from "../storage/traces/open-traces.ts"
import type { LedgerRow } from "../storage/traces/token-ledger.ts"
import type { TraceStore } from "../storage/traces/store/trace-store.ts"
import { TokenLedger } from "./token-ledger.ts"

const mine = "11111111-1111-4111-8111-111111111111"
const other = "22222222-2222-4222-8222-222222222222"
const log = { error: (_object: object, message: string) => expect.fail(message) }
let folder: string
let traces: TraceStore

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "heddle-ledger-"))
  traces = await openTraces({ clickhouseUrl: null, folder })
})
afterAll(async () => {
  await traces.close()
  await rm(folder, { recursive: true, force: true })
})

function row(key: string): LedgerRow {
  return {
    ledger_key: key,
    project_id: mine,
    model_id: other,
    step: 3,
    prompt_token_ids: [1, 4294967295],
    token_ids: [7],
    logprobs: [-0.12345678901234568],
    finish_reason: "stop",
    sampling: '{"temperature":1}',
    fingerprint: "f",
  }
}

const entry = { prompt_token_ids: [1, 4294967295], token_ids: [7], logprobs: [-0.12345678901234568] }

test("engine 5.4: what was just added is found, before and after it was stored, and by another server", async () => {
  const ledger = new TokenLedger(traces, log)
  ledger.add([row("a:0"), row("a:1")])
  expect(await ledger.find(mine, ["a:1", "none"])).toMatchObject([{ ledger_key: "a:1", ...entry }])
  const elsewhere = new TokenLedger(traces, log)
  expect(await elsewhere.find(mine, ["a:0", "none"])).toEqual([{ ledger_key: "a:0", ...entry }])
})

test("a row is another project's secret, in memory and in the store", async () => {
  const ledger = new TokenLedger(traces, log)
  ledger.add([row("b:0")])
  expect(await ledger.find(other, ["b:0"])).toEqual([])
  expect(await new TokenLedger(traces, log).find(other, ["b:0"])).toEqual([])
})

test("rows that the store refuses are kept for another try", async () => {
  let refusals = 1
  const flaky = new Proxy(traces, {
    get: (target, name) =>
      name === "insert" && refusals-- > 0
        ? () => Promise.reject(new Error("disk full"))
        : (Reflect.get(target, name) as (...args: unknown[]) => unknown).bind(target),
  })
  const logged: string[] = []
  const ledger = new TokenLedger(flaky, { error: (_object, message) => logged.push(message) })
  ledger.add([row("c:0")])
  await ledger.flush()
  expect(logged).toEqual(["the token ledger could not be written; trying again"])
  await ledger.flush()
  expect(await new TokenLedger(traces, log).find(mine, ["c:0"])).toHaveLength(1)
})

/** A row with this many numbers. */
function largeRow(key: string, count: number): LedgerRow {
  const numbers = Array<number>(count / 2).fill(7)
  return { ...row(key), prompt_token_ids: numbers, token_ids: numbers, logprobs: [] }
}

/** The store, which refuses inserts while `isAway` says so; `inserts` has the keys of each that it took. */
function storeThatMayBeAway(isAway: () => boolean) {
  const inserts: string[][] = []
  const insert = async (table: string, text: string) => {
    if (isAway()) throw new HeddleError("traces_unavailable", "the trace store cannot be reached")
    inserts.push(text.split("\n").map((line) => (JSON.parse(line) as LedgerRow).ledger_key))
    await traces.insert(table, text)
  }
  const store = new Proxy(traces, {
    get: (target, name) =>
      name === "insert" ? insert : (Reflect.get(target, name) as (...args: unknown[]) => unknown).bind(target),
  })
  return { store, inserts }
}

test("law 8: rows that waited for the store are written in several inserts, each of what a store has memory for", async () => {
  const { store, inserts } = storeThatMayBeAway(() => false)
  const ledger = new TokenLedger(store, log)
  ledger.add([row("d:0"), ...[1, 2, 3].map((place) => largeRow(`d:${place}`, 400_000)), largeRow("d:4", 2_000_000)])
  await ledger.flush()
  expect(inserts).toEqual([["d:0", "d:1", "d:2"], ["d:3"], ["d:4"]])
  const sizes = await new TokenLedger(traces, log).measure(mine, inserts.flat())
  expect(sizes.reduce((sum, { prompt_tokens: count }) => sum + count, 0)).toBe(2 + 3 * 200_000 + 1_000_000)
})

test("law 8: a store that is away for long costs the oldest rows and not the memory, and the log says so once", async () => {
  let isAway = true
  const { store } = storeThatMayBeAway(() => isAway)
  const logged: string[] = []
  const ledger = new TokenLedger(store, { error: (_object, message) => logged.push(message) })
  ledger.add([largeRow("e:0", 20_000)])
  await ledger.flush()
  expect(logged).toEqual([])
  ledger.add([largeRow("e:1", 31_990_000)])
  ledger.add([largeRow("e:2", 20_000), row("e:3")])
  expect(logged).toEqual(["the trace store is away for too long: the token ledger loses its oldest rows"])
  isAway = false
  await ledger.flush()
  const found = await new TokenLedger(traces, log).measure(mine, ["e:0", "e:1", "e:2", "e:3"])
  expect(found.map(({ ledger_key: key }) => key).toSorted()).toEqual(["e:2", "e:3"])
})
