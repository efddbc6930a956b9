/** Spans of deleted calls leave the disk. */
import { afterAll, beforeAll, expect, test } from "vitest"
import { removeMaskedSpans } from "../../src/storage/traces/agents/span-table.ts"
import { sendSpans, spanId } from "../support/agent-spans.ts"
import { type EvaluationApp, openEvaluationApp } from "../support/evaluation-app.ts"

let opened: EvaluationApp
beforeAll(async () => (opened = await openEvaluationApp()))
afterAll(() => opened.close())

/** Rows that the parts of the table hold, masked ones too. */
async function rowsOnDisk(): Promise<number> {
  const [row] = await opened.app.stores.traces.rows<{ n: string }>(
    `select sum(rows) as n from system.parts
      where database = currentDatabase() and table = 'agent_spans' and active`,
  )
  return Number(row?.n)
}

test("spans of deleted calls are removed from the disk, those of others stay", async () => {
  const { traces } = opened.app.stores
  const project = opened.acme.newProject()
  await sendSpans(opened.acme, project, { trace: "1", id: "1", at: 0 }, { trace: "2", id: "2", at: 1 })
  expect(await removeMaskedSpans(traces)).toBe(false)
  const deleted = await opened.acme.post("/calls/delete", { project_id: project, call_ids: [spanId("1")] })
  expect(deleted.body).toEqual({ num_deleted: 1 })
  expect(await rowsOnDisk()).toBe(2)

  expect(await removeMaskedSpans(traces)).toBe(true)
  expect(await rowsOnDisk()).toBe(1)
  const spans = await traces.rows<{ span_id: string }>("select span_id from agent_spans")
  expect(spans).toEqual([{ span_id: spanId("2") }])
  expect(await removeMaskedSpans(traces)).toBe(false)
})
