/** Feedback that was deleted leaves the disk, and does not come back. */
import { afterAll, beforeAll, expect, test } from "vitest"
import { removeDeletedFeedback } from "../../src/storage/traces/labelling/deleted-feedback.ts"
import { uuid } from "../support/completed-call.ts"
import { type EvaluationApp, openEvaluationApp } from "../support/evaluation-app.ts"
import { createdFeedback, foundFeedback } from "../support/feedback-items.ts"

let opened: EvaluationApp
beforeAll(async () => (opened = await openEvaluationApp()))
afterAll(() => opened.close())

/** Payloads that the store has under an id, however many rows there are. */
async function storedPayloads(id: string): Promise<string[]> {
  const rows = await opened.app.stores.traces.rows<{ payload: string }>(
    "select payload from feedback where id = {id:String} and payload != '' order by version",
    { id },
  )
  return rows.map(({ payload }) => payload)
}

test("payloads of deleted feedback are removed; others, and what is stored under the same id since, stay", async () => {
  const { traces } = opened.app.stores
  // A merge, which nobody can tell the time of, would do the same.
  await traces.command("system stop merges feedback")
  const project = opened.acme.newProject()
  const purge = (id: string) =>
    opened.acme.post("/feedback/purge", {
      project_id: project,
      query: { $expr: { $eq: [{ $getField: "id" }, { $literal: id }] } },
    })
  const [gone, kept, again] = [uuid(1), uuid(2), uuid(3)]
  for (const id of [gone, kept, again]) await createdFeedback(opened.acme, project, { id, payload: { secret: id } })
  for (const id of [gone, again]) expect((await purge(id)).status).toBe(200)
  await createdFeedback(opened.acme, project, { id: again, payload: { other: 1 } })

  expect([await storedPayloads(gone), await storedPayloads(again)].map(({ length }) => length)).toEqual([1, 2])
  await traces.command("system start merges feedback")
  await removeDeletedFeedback(traces)
  expect(await storedPayloads(gone)).toEqual([])
  expect(await storedPayloads(kept)).toEqual([`[{"secret":"${kept}"}]`])
  expect(await storedPayloads(again)).toEqual(['[{"other":1}]'])
  const sort_by = [{ field: "id", direction: "asc" }]
  const { result } = await foundFeedback(opened.acme, project, { fields: ["id"], sort_by })
  expect(result).toEqual([{ id: kept }, { id: again }])
  expect(await removeDeletedFeedback(traces)).toBe(false)
})
