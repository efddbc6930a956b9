/** Rows of tables that lie in one part of the store, in several, and in parts that are merged meanwhile. */
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import path from "node:path"
import { afterAll, afterEach, beforeAll, expect, test } from "vitest"
import { newClickHouseUrl } from "../../../test/support/clickhouse-database.ts"
import { openTraces } from "./open-traces.ts"
import type { TraceParameters, TraceStore } from "./store/trace-store.ts"
import { neighbouringTexts } from "./table-row-parts.ts"
import { insertTableRows, tableRowLine } from "./table-rows.ts"

const projectId = "11111111-1111-4111-8111-111111111111"
let folder: string
let store: TraceStore
/** The store, which takes note of what its statements are about. */
let traces: TraceStore
const asked: TraceParameters[] = []

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "heddle-rows-"))
  store = await openTraces({ clickhouseUrl: newClickHouseUrl(), folder })
  const rows: TraceStore["rows"] = (sql, parameters = {}, limits) => {
    asked.push(parameters)
    return store.rows(sql, parameters, limits)
  }
  traces = Object.assign(Object.create(store) as TraceStore, { rows })
  await store.command("system stop merges table_rows")
  for (const upload of ["a", "b", "c"]) await insertTableRows(store, projectId, linesOf(rowsOf(upload, 0, 100)))
})
afterAll(async () => {
  await store.close()
  await rm(folder, { recursive: true, force: true })
})
afterEach(() => void asked.splice(0))

/** Digests of rows; the rows of one `upload` lie in one part. */
const rowsOf = (upload: string, from: number, to: number) =>
  Array.from({ length: to - from }, (_, index) => `${(from + index) % 7}-${upload}-${from + index}`)
const textOf = (digest: string) => `{"row":"${digest}"}`
const linesOf = (digests: string[]) =>
  Buffer.from(digests.map((digest) => tableRowLine(projectId, digest, textOf(digest))).join(""))
const read = (neighbourhood: string, digests: string[]) =>
  neighbouringTexts(traces, { projectId, neighbourhood }, digests, {})
const textsOf = (digests: string[]) => new Map(digests.map((digest) => [digest, textOf(digest)]))
const inOrder = (texts: ReadonlyMap<string, string>) => new Map([...texts].toSorted(([a], [b]) => a.localeCompare(b)))

test("a page is read from the part that its ends lie in, and the next one from the same part at once", async () => {
  const [first, second] = [rowsOf("a", 0, 30), rowsOf("a", 30, 60)]
  expect(inOrder(await read("one part", first))).toEqual(inOrder(textsOf(first)))
  expect(asked).toHaveLength(2)
  asked.splice(0)
  expect(inOrder(await read("one part", second))).toEqual(inOrder(textsOf(second)))
  expect(asked).toMatchObject([{ parts: [expect.any(String)] }])
})

test("rows between the ends that lie in other parts come too, and rows that are not stored are left out", async () => {
  const page = [...rowsOf("a", 0, 10), ...rowsOf("b", 0, 10), ...rowsOf("x", 0, 5), ...rowsOf("c", 0, 1)]
  const stored = textsOf(page.filter((digest) => !digest.includes("x")))
  for (let round = 0; round < 2; round++) expect(inOrder(await read("mixed", page))).toEqual(inOrder(stored))
})

test("a row that is stored after its page was read is in the same page then", async () => {
  const page = [...rowsOf("a", 60, 80), "late"]
  expect((await read("late", page)).has("late")).toBe(false)
  await insertTableRows(store, projectId, linesOf(["late"]))
  expect(inOrder(await read("late", page))).toEqual(inOrder(textsOf(page)))
})

test("a page of parts that were merged meanwhile is whole", async () => {
  const page = rowsOf("b", 20, 40)
  expect((await read("merged", page)).size).toBe(20)
  await store.command("system start merges table_rows")
  await store.command("optimize table table_rows final")
  expect(inOrder(await read("merged", page))).toEqual(inOrder(textsOf(page)))
  asked.splice(0)
  await read("merged", page)
  expect(asked).toHaveLength(1)
})
