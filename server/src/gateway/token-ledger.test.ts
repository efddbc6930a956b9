import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import path from "node:path"
import { afterAll, beforeAll, expect, test } from "vitest"
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
