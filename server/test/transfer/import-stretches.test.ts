/** Datasets of so many rows that the table is stored in several stretches of 65,536: evaluation-store-calls 6. */
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest"
import { HeddleError } from "../../src/errors.ts"
import { type EvaluationApp, type EvaluationCaller, openEvaluationApp } from "../support/evaluation-app.ts"
import { readMetrics } from "../support/metrics.ts"

const stretchRows = 65_536
/** Two stretches and the beginning of a third. */
const count = 2 * stretchRows + 1500

const texts = Array.from({ length: count }, (_, n) => `{"n":${n}}`)
const csv = `n\n${Array.from({ length: count }, (_, n) => n).join("\n")}\n`

let world: EvaluationApp
let acme: EvaluationCaller
/** Of the same rows, made by `/table/create` in another project. */
let digest: string
let rowDigests: string[]
beforeAll(async () => {
  world = await openEvaluationApp()
  acme = world.acme
  const body = `{"table":{"project_id":"${acme.newProject()}","rows":[${texts.join(",")}]}}`
  const created = (await acme.post("/table/create", body)).body as { digest: string; row_digests: string[] }
  digest = created.digest
  rowDigests = created.row_digests
}, 240_000)
afterAll(() => world.close())
afterEach(() => void vi.restoreAllMocks())

async function imported(project: string, file: string, more = "") {
  const url = `/import/dataset?project_id=${encodeURIComponent(project)}&format=csv${more}`
  return acme.post(url, file, { "content-type": "application/octet-stream" })
}

async function page(project_id: string, more: object) {
  const { body } = await acme.post("/table/query", { project_id, digest, ...more })
  return (body as { rows: { digest: string; val: { n: number }; original_index: number }[] }).rows
}

/** Whatever reads a table finds nothing of it. */
async function expectNothing(project: string) {
  const [row] = rowDigests.slice(stretchRows)
  for (const more of [
    { limit: 10 },
    { limit: 10, offset: stretchRows },
    { offset: count - 5 },
    { filter: { row_digests: [row] } },
    { sort_by: [{ field: "n", direction: "desc" }], limit: 3 },
  ]) {
    expect([more, await page(project, more)]).toEqual([more, []])
  }
  expect((await acme.post("/table/query_stats", { project_id: project, digest })).status).toBe(404)
  const batch = { project_id: project, digests: [digest], include_storage_size: true }
  expect((await acme.post("/table/query_stats_batch", batch)).body).toEqual({ tables: [] })
  expect((await acme.post("/export/dataset", { project_id: project, table_digest: digest })).status).toBe(404)
  const update = { project_id: project, base_digest: digest, updates: [] }
  expect((await acme.post("/table/update", update)).status).toBe(404)
}

async function expectAll(project: string) {
  expect((await acme.post("/table/query_stats", { project_id: project, digest })).body).toEqual({ count })
  for (const offset of [0, stretchRows - 2, 2 * stretchRows - 2, count - 4]) {
    expect(await page(project, { limit: 4, offset })).toEqual(
      [0, 1, 2, 3].map((n) => ({ digest: rowDigests[offset + n], val: { n: offset + n }, original_index: offset + n })),
    )
  }
  expect(await page(project, { limit: 4, offset: count })).toEqual([])
  expect(await page(project, { sort_by: [{ field: "n", direction: "desc" }], limit: 1 })).toMatchObject([
    { original_index: count - 1 },
  ])
  expect(await page(project, { filter: { row_digests: [rowDigests[stretchRows]] } })).toMatchObject([
    { original_index: stretchRows },
  ])
  const whole = await acme.post("/export/dataset", { project_id: project, table_digest: digest })
  expect(whole.text === `${texts.join("\n")}\n`).toBe(true)
}

test("calls 6.1: the table is the one that /table/create makes of the rows, and every row is read", async () => {
  const project = acme.newProject()
  const { body } = await imported(project, csv, "&name=many")
  expect(body).toMatchObject({ imported: count, failed: 0, table_digest: digest, object_id: "many", version_index: 0 })
  await expectAll(project)
}, 240_000)

test("law 8: the digests of the rows count in the memory for bodies until the table is stored", async () => {
  const { traces } = world.app.stores
  const insert = traces.insert.bind(traces)
  let held = 0
  vi.spyOn(traces, "insert").mockImplementation(async (table, rows) => {
    if (table === "tables") held = (await readMetrics(world.admin)).get("heddle_body_memory_bytes") ?? 0
    await insert(table, rows)
  })
  expect((await imported(acme.newProject(), csv)).body).toMatchObject({ imported: count })
  expect(held).toBeGreaterThan(43 * count)
  expect((await readMetrics(world.admin)).get("heddle_body_memory_bytes")).toBe(0)
}, 240_000)

test("a row with an error at the end of many: the report names it, and nothing is readable", async () => {
  const project = acme.newProject()
  const { status, body } = await imported(project, `${csv}1,2\n`, "&name=many")
  expect([status, body]).toEqual([
    200,
    {
      imported: 0,
      failed: 1,
      errors: [
        { row: count + 1, column: null, value: null, message: "has 2 cells, and the first line names 1 columns" },
      ],
      table_digest: null,
      object_id: null,
      digest: null,
      version_index: null,
    },
  ])
  await expectNothing(project)
  expect((await acme.post("/obj/read", { project_id: project, object_id: "many", digest: "latest" })).status).toBe(404)
}, 240_000)

test("rows behind one with an error are read, and not stored", async () => {
  const insert = vi.spyOn(world.app.stores.traces, "insert")
  const { body } = await imported(acme.newProject(), csv.replace("n\n", "n\n1,2\n").concat("1,2\n"))
  expect(body).toMatchObject({ imported: 0, failed: 2, errors: [{ row: 1 }, { row: count + 2 }] })
  expect(insert.mock.calls.map(([table]) => table)).not.toContain("table_rows")
}, 240_000)

test("a store that fails in the middle of the table: nothing is readable, and the same file again is whole", async () => {
  const project = acme.newProject()
  const { traces } = world.app.stores
  const insert = traces.insert.bind(traces)
  let stored = 0
  vi.spyOn(traces, "insert").mockImplementation(async (table, rows) => {
    if (table === "tables" && stored++ === 2) throw new HeddleError("traces_unavailable", "the store went away")
    await insert(table, rows)
  })
  expect((await imported(project, csv, "&name=many")).status).toBe(503)
  expect(stored).toBe(3)
  await expectNothing(project)
  expect((await imported(project, csv, "&name=many")).body).toMatchObject({ imported: count, table_digest: digest })
  await expectAll(project)
}, 240_000)
