/** The queue of a label, and the queues of a call: evaluation-store-objects 2.3, 2.4, evaluation-store-calls 3.6. */
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { filledQueue, newQueue, QueueUser, storedCalls } from "../support/annotation-queues.ts"
import { uuid } from "../support/completed-call.ts"
import { type EvaluationApp, openEvaluationApp } from "../support/evaluation-app.ts"
import { createdFeedback, feedbackItem, foundFeedback } from "../support/feedback-items.ts"

let opened: EvaluationApp
beforeAll(async () => (opened = await openEvaluationApp()))
afterAll(() => opened.close())

const field = (path: string) => ({ $getField: path })
const equal = (path: string, value: unknown) => ({ $eq: [field(path), { $literal: value }] })

describe("objects 2.3: queue_id of feedback", () => {
  test("a live queue of the project is stored and found again", async () => {
    const { project, queue } = await filledQueue(opened.acme, 1)
    const { id } = await createdFeedback(opened.acme, project, { queue_id: queue })
    await createdFeedback(opened.acme, project)
    const found = await foundFeedback(opened.acme, project, { query: { $expr: equal("queue_id", queue) } })
    expect(found).toMatchObject({ total_count: 1, result: [{ id, queue_id: queue }] })
  })

  test("another project's, a deleted one, or none: 400, and nothing of the batch is stored", async () => {
    const { project, queue, ...user } = await filledQueue(opened.acme, 1)
    const other = opened.acme.newProject()
    const deleted = await newQueue(opened.acme, project)
    await opened.acme.delete(`/annotation_queues/${deleted}?project_id=${encodeURIComponent(project)}`)
    for (const [of, queue_id] of [
      [other, queue],
      [project, deleted],
      [project, "no-uuid"],
    ] as const) {
      const batch = [feedbackItem(of), feedbackItem(of, { queue_id })]
      expect(await user.caller.post("/feedback/batch/create", { batch })).toMatchObject({
        status: 400,
        body: { error_type: "InvalidRequest", reason: `Queue ${queue_id} not found or has been deleted` },
      })
    }
    expect(await foundFeedback(opened.acme, project)).toMatchObject({ total_count: 0 })
  })
})

describe("calls 3.6: annotation_queue_items.queue_id", () => {
  test("finds the calls of a queue, also of one of several, and loses those that are taken out", async () => {
    const first = await filledQueue(opened.acme, 4)
    const second = new QueueUser(opened.acme, first.project, await newQueue(opened.acme, first.project))
    await second.add([uuid(2), uuid(4)])
    const [, , third = ""] = await first.itemIds()
    await opened.acme.delete(`${first.url}/items/${third}${first.inProject}`)
    const calls = async ($expr: unknown) => {
      const body = { project_id: first.project, query: { $expr } }
      const rows = await opened.acme.lines("/calls/stream_query", body)
      return rows.map((row) => Number((row as { id: string }).id.slice(-2)))
    }
    const name = "annotation_queue_items.queue_id"
    expect(await calls(equal(name, first.queue))).toEqual([1, 2, 4])
    expect(await calls(equal(name, second.queue))).toEqual([2, 4])
    expect(await calls({ $in: [field(name), [{ $literal: second.queue }, { $literal: "x" }]] })).toEqual([2, 4])
    expect(await calls({ $and: [equal(name, first.queue), equal(name, second.queue)] })).toEqual([2, 4])
    expect(await calls({ $not: [equal(name, second.queue)] })).toEqual([1])
    expect(await calls(equal(name, null))).toEqual([3])
    expect(await calls(equal(name, "another"))).toEqual([])
    const stats = await opened.acme.post("/calls/query_stats", {
      project_id: first.project,
      query: { $expr: equal(name, first.queue) },
    })
    expect(stats.body).toMatchObject({ count: 3 })
  })

  test("a queue named in capitals is the same queue, in calls and labels", async () => {
    const user = await filledQueue(opened.acme, 0)
    const loud = new QueueUser(opened.acme, user.project, user.queue.toUpperCase())
    await storedCalls(opened.acme, user.project, 1)
    await loud.add([uuid(1)])
    const query = { $expr: equal("annotation_queue_items.queue_id", user.queue) }
    expect(await opened.acme.lines("/calls/stream_query", { project_id: user.project, query })).toHaveLength(1)
    expect(await loud.read()).toMatchObject({ id: user.queue })
  })

  test("other names of the table are no fields: 422", async () => {
    const { project } = await filledQueue(opened.acme, 1)
    for (const path of ["annotation_queue_items", "annotation_queue_items.id"]) {
      const answer = await opened.acme.post("/calls/stream_query", {
        project_id: project,
        query: { $expr: equal(path, "x") },
      })
      expect(answer).toMatchObject({ status: 422, body: { error_type: "InvalidFieldError" } })
    }
  })
})
