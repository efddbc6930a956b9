/** Payloads of deleted calls leave the disk, and the rest of their rows still says that they are deleted. */
import { randomUUID } from "node:crypto"
import { afterAll, beforeAll, expect, test } from "vitest"
import { removeDeletedPayloads } from "../../src/storage/traces/calls/removal/deleted-payloads.ts"
import { type EvaluationApp, openEvaluationApp } from "../support/evaluation-app.ts"

let opened: EvaluationApp
beforeAll(async () => (opened = await openEvaluationApp()))
afterAll(() => opened.close())

const started_at = "2026-03-01T00:00:00Z"
const ended_at = "2026-03-01T00:00:01Z"

/** Number of characters that the store has of a call's payloads. */
async function storedText(id: string): Promise<number> {
  const [row] = await opened.app.stores.traces.rows<{ text: string }>(
    `select sum(length(ifNull(inputs, '')) + length(ifNull(output, '')) + length(ifNull(summary, ''))
      + length(ifNull(attributes, ''))) as text from calls_v2 where id = {id:String}`,
    { id },
  )
  return Number(row?.text)
}

test("payloads of deleted calls are removed, those of others stay, and no later write brings a deleted call back", async () => {
  const project_id = opened.acme.newProject()
  const [gone, kept, running] = [randomUUID(), randomUUID(), randomUUID()]
  const call = { project_id, op_name: "f", started_at, attributes: { a: 1 }, inputs: { text: "x".repeat(1_000) } }
  const batch = [gone, kept].map((id) => ({ ...call, id, trace_id: id, ended_at, output: "y", summary: {} }))
  expect((await opened.acme.post(`/v2/${project_id}/calls/complete`, { batch })).status).toBe(200)
  const start = { ...call, id: running, trace_id: running }
  expect((await opened.acme.post("/call/start", { start })).status).toBe(200)
  await removeDeletedPayloads(opened.app.stores.traces)
  expect(await storedText(gone)).toBeGreaterThan(1_000)

  await opened.acme.post("/calls/delete", { project_id, call_ids: [gone, running] })
  expect(await removeDeletedPayloads(opened.app.stores.traces)).toBe(true)
  expect([await storedText(gone), await storedText(running)]).toEqual([0, 0])
  expect(await storedText(kept)).toBeGreaterThan(1_000)
  expect(await removeDeletedPayloads(opened.app.stores.traces)).toBe(false)

  const end = { project_id, id: running, ended_at, output: "late", summary: {} }
  expect((await opened.acme.post("/call/end", { end })).status).toBe(200)
  expect((await opened.acme.post("/call/start", { start })).status).toBe(200)
  const shown = (await opened.acme.lines("/calls/stream_query", { project_id })) as { id: string; inputs: unknown }[]
  expect(shown).toMatchObject([{ id: kept, inputs: call.inputs }])
  expect(await removeDeletedPayloads(opened.app.stores.traces)).toBe(true)
  expect(await storedText(running)).toBe(0)
})

test("law 8: of more deleted calls than one statement holds, all payloads are removed, and no others", async () => {
  const { traces } = opened.app.stores
  const project = randomUUID()
  const calls = 700_000
  // Stretches of deleted and of other calls, shorter and longer than what is looked at together.
  const isDeleted = "(number < 100000 or number between 120000 and 480000)"
  const from = `from numbers(${calls})`
  await traces.command(
    `insert into calls_v2 (project_id, sort_time, id, started_at, inputs)
      select {project:UUID}, 1772323200000 + number, toString(number), now64(6), '[{"a":1}]' ${from}`,
    { project },
  )
  await traces.command(
    `insert into calls_v2 (project_id, sort_time, id, deleted_at)
      select {project:UUID}, 1772323200000 + number, toString(number), now64(3) ${from} where ${isDeleted}`,
    { project },
  )
  expect(await removeDeletedPayloads(traces)).toBe(true)
  const rows = await traces.rows<{ deleted: number; texts: string }>(
    `select isNotNull(deleted_at) as deleted, countIf(notEmpty(inputs)) as texts from calls_v2 final
      where project_id = {project:UUID} group by deleted order by deleted`,
    { project },
  )
  expect(rows.map(({ texts }) => Number(texts))).toEqual([calls - 460_001, 0])
  expect(await removeDeletedPayloads(traces)).toBe(false)
}, 120_000)
