/** Usage rows over an absence of the catalog, and over a stop that falls into it (inference-api 1: each request has one row). */
import { randomUUID } from "node:crypto"
import { readdir, writeFile } from "node:fs/promises"
import path from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import type { KyselyPlugin } from "kysely"
import { afterAll, beforeAll, beforeEach, expect, test, vi } from "vitest"
import { openTestCatalog, type TestCatalog } from "../../test/support/test-catalog.ts"
import { diskFull, HeddleError } from "../errors.ts"
import type { UsageRow } from "../storage/catalog/inference/completion-usage.ts"
import { recoverUsage, UsageJournal } from "./usage-journal.ts"
import { UsageWriter } from "./usage-writer.ts"

const noted = "usage-in-progress.jsonl"
let catalog: TestCatalog
let isAway = false
let isFull = false
let logged: string[] = []
const log = { error: (_object: object, message: string) => void logged.push(message) }

const outage: KyselyPlugin = {
  transformQuery: ({ node }) => {
    if (isAway) throw new HeddleError("catalog_unavailable", "the catalog cannot be reached")
    if (isFull) throw diskFull()
    return node
  },
  transformResult: ({ result }) => Promise.resolve(result),
}

beforeAll(async () => {
  catalog = await openTestCatalog()
})
afterAll(() => catalog.close())
beforeEach(async () => {
  isAway = false
  isFull = false
  logged = []
  await catalog.database.deleteFrom("completion_usage").execute()
  // Nobody waits for the answers of these requests.
  const timeout = vi.spyOn(AbortSignal, "timeout").mockImplementation(() => AbortSignal.abort())
  return () => timeout.mockRestore()
})

function open(left: UsageRow[] = []) {
  const writer = new UsageWriter(catalog.database.withPlugin(outage), log, left)
  const journal = new UsageJournal(catalog.dataDir, () => writer.waiting, log)
  const close = async () => {
    await writer.close()
    await journal.close()
  }
  return { writer, close }
}

function usageOf(request_id: string): UsageRow {
  return {
    request_id,
    api_key_id: randomUUID(),
    user_id: randomUUID(),
    project_id: randomUUID(),
    model: "heddle/tiny",
    model_id: null,
    step: null,
    base_model: "heddle/tiny",
    input_tokens: 3,
    input_cached_tokens: 1,
    output_tokens: 2,
  }
}

const stored = async () => {
  const rows = await catalog.database
    .selectFrom("completion_usage")
    .select("request_id")
    .orderBy("request_id")
    .execute()
  return rows.map((row) => row.request_id)
}
const files = async () => (await readdir(catalog.dataDir)).filter((name) => name.startsWith(noted))

/** Adds the rows of so many requests, each of which is answered that the catalog is away. */
async function addWhileAway(writer: UsageWriter, count: number): Promise<void> {
  isAway = true
  const added = Array.from({ length: count }, (_, place) => writer.add(usageOf(`${place}`.padStart(5, "0"))))
  const outcomes = await Promise.allSettled(added)
  expect(outcomes.filter(({ status }) => status === "rejected")).toHaveLength(count)
}

test("a server that stops while the catalog is away leaves its rows to the next start, which stores each once", async () => {
  const { writer, close } = open()
  await addWhileAway(writer, 2)
  await close()
  expect([await files(), logged]).toEqual([[noted], []])
  await expect(recoverUsage(catalog.dataDir, catalog.database.withPlugin(outage), log)).rejects.toThrow(
    "cannot be reached",
  )
  isAway = false
  await recoverUsage(catalog.dataDir, catalog.database, log)
  expect([await stored(), await files(), logged]).toEqual([["00000", "00001"], [], []])
})

test("a server that starts while the catalog has no room keeps what the one before left, and stores it when there is some", async () => {
  const before = open()
  await addWhileAway(before.writer, 2)
  await before.close()
  ;[isAway, isFull] = [false, true]
  const left = await recoverUsage(catalog.dataDir, catalog.database.withPlugin(outage), log)
  expect([left.length, await files()]).toEqual([2, [noted]])
  const { close } = open(left)
  await close()
  expect([await stored(), await files()]).toEqual([[], [noted]])
  isFull = false
  await open(await recoverUsage(catalog.dataDir, catalog.database.withPlugin(outage), log)).close()
  expect([await stored(), await files(), logged]).toEqual([["00000", "00001"], [], []])
})

test("inference-api 1: a row counts for the time of its request, also when it is stored much later", async () => {
  const { writer, close } = open()
  const began = Date.now()
  await addWhileAway(writer, 1)
  const ended = Date.now()
  await sleep(20)
  await close()
  isAway = false
  await recoverUsage(catalog.dataDir, catalog.database, log)
  const row = await catalog.database.selectFrom("completion_usage").select("created_at").executeTakeFirstOrThrow()
  expect(row.created_at.getTime()).toBeGreaterThanOrEqual(began)
  expect(row.created_at.getTime()).toBeLessThanOrEqual(ended)
})

test("the last try of a stop takes more rows than one statement has room for", async () => {
  const { writer, close } = open()
  await addWhileAway(writer, 6_000)
  const closed = close()
  isAway = false
  await closed
  expect([(await stored()).length, await files(), logged]).toEqual([6_000, [], []])
})

test("a line of the file that was never whole is told, and the others are stored", async () => {
  const whole = JSON.stringify({ id: randomUUID(), ...usageOf("whole") })
  await writeFile(path.join(catalog.dataDir, noted), `${whole}\n{"id": "half\n\0\0\0\0`)
  await recoverUsage(catalog.dataDir, catalog.database, log)
  const lost = "the tokens of requests could not be stored in the usage ledger"
  expect([await stored(), await files(), logged]).toEqual([["whole"], [], [lost, lost]])
})
