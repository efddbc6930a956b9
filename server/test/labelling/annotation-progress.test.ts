/** Progress of annotators on items (evaluation-store-objects 2.5), and handing items out under leases. */
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { filledQueue, type QueueUser } from "../support/annotation-queues.ts"
import { completedCall, uuid } from "../support/completed-call.ts"
import { type EvaluationApp, type EvaluationCaller, openEvaluationApp } from "../support/evaluation-app.ts"

let opened: EvaluationApp
let ann: EvaluationCaller
let ben: EvaluationCaller
let cem: EvaluationCaller
beforeAll(async () => {
  opened = await openEvaluationApp()
  ann = await opened.addColleague("ann")
  ben = await opened.addColleague("ben")
  cem = await opened.addColleague("cem")
})
afterAll(() => opened.close())

const absent = "0190a1b2-0000-7000-8000-000000000009"
const conflict = { status: 409, body: { error_type: "conflict" } }

/** Ends all leases of the queue, by times in the past: only the database's clock counts. */
async function endLeases(user: QueueUser) {
  await opened.app.stores.catalog
    .updateTable("annotation_leases")
    .set({ expires_at: new Date(0) })
    .where("queue_id", "=", user.queue)
    .execute()
}

describe("objects 2.5: POST …/items/{item_id}/progress", () => {
  test("every cell of the table, over HTTP", async () => {
    const asked = ["in_progress", "completed", "skipped"]
    const statuses: Record<string, number[]> = {}
    for (const own of ["none", ...asked]) {
      const user = await filledQueue(opened.acme, 3)
      const ids = await user.itemIds()
      if (own !== "none") for (const id of ids) await user.moved(id, own)
      const answers = await Promise.all(asked.map((state, index) => user.progress(ids[index] ?? "", state)))
      statuses[own] = answers.map(({ status }) => status)
    }
    expect(statuses).toEqual({
      none: [200, 200, 200],
      in_progress: [200, 200, 200],
      completed: [400, 200, 400],
      skipped: [400, 400, 200],
    })
  })

  test("states that cannot be asked for and final ones that would change: 400 ValueError with both texts", async () => {
    const user = await filledQueue(opened.acme, 1)
    const [item = ""] = await user.itemIds()
    for (const state of ["unstarted", "done", ""]) {
      expect(await user.progress(item, state)).toMatchObject({
        status: 400,
        body: { error_type: "ValueError", reason: expect.stringContaining(`"${state}"`) },
      })
    }
    await user.moved(item, "skipped")
    expect(await user.progress(item, "completed")).toMatchObject({ status: 400, body: { error_type: "ValueError" } })
    // The state is checked before the item is looked up.
    expect(await user.progress(absent, "unstarted")).toMatchObject({ status: 400, body: { error_type: "ValueError" } })
    const url = `${user.url}/items/${item}/progress`
    for (const [body, field] of [
      [{ project_id: user.project }, "annotation_state"],
      [{ annotation_state: "completed" }, "project_id"],
    ] as const) {
      expect(await opened.acme.post(url, body)).toMatchObject({
        status: 422,
        body: { detail: [{ loc: ["body", field], type: "missing" }] },
      })
    }
  })

  test("an item or queue that is not there is 404", async () => {
    const user = await filledQueue(opened.acme, 1)
    const [item = ""] = await user.itemIds()
    const other = await filledQueue(opened.acme, 1)
    for (const id of [absent, "no-uuid", ...(await other.itemIds())]) {
      expect(await user.progress(id, "completed")).toMatchObject({ status: 404, body: { error_type: "NotFoundError" } })
    }
    await opened.acme.delete(`${user.url}${user.inProject}`)
    expect(await user.progress(item, "completed")).toMatchObject({
      status: 404,
      body: { reason: `Queue ${user.queue} not found or has been deleted` },
    })
  })

  test("the annotator is the caller, whatever the body says; others' records never block", async () => {
    const user = await filledQueue(opened.acme, 1)
    const [item = ""] = await user.itemIds()
    const answer = await user.as(ann).post(`/items/${item}/progress`, {
      annotation_state: "completed",
      wb_user_id: "somebody",
      annotator_user_id: "somebody",
    })
    const annId = (answer.body as { item: { annotator_user_id: string } }).item.annotator_user_id
    expect(annId).not.toBe("somebody")
    const bens = await user.as(ben).moved(item, "in_progress")
    expect(bens).toMatchObject({ annotation_state: "in_progress", position_in_queue: null })
    expect(bens.annotator_user_id).not.toBe(annId)
    expect(await user.as(ben).moved(item, "skipped")).toMatchObject({ annotation_state: "skipped" })
  })

  test("objects 6.3: state and annotator are those of the record that changed last, after a no-op too", async () => {
    const user = await filledQueue(opened.acme, 1)
    const [item = ""] = await user.itemIds()
    await user.as(ann).moved(item, "completed")
    const bens = await user.as(ben).moved(item, "in_progress")
    expect(await user.as(ann).moved(item, "completed")).toEqual(bens)
    expect(await user.items()).toEqual([bens])
  })
})

describe("handing items out", () => {
  test("each annotator gets an item of their own, in order, and the same one until it is done", async () => {
    const user = await filledQueue(opened.acme, 3)
    const [a, b] = [user.as(ann), user.as(ben)]
    const first = await a.next()
    expect(first).toMatchObject({ item: { call_id: uuid(1), annotation_state: "unstarted" }, leased_by_others: 0 })
    expect(await b.nextCall()).toBe(uuid(2))
    expect(await a.nextCall()).toBe(uuid(1))
    await a.moved(first.item?.id ?? "", "completed")
    expect(await a.nextCall()).toBe(uuid(3))
    expect(await user.as(cem).next()).toEqual({ item: null, lease: null, leased_by_others: 2 })
  })

  test("a completed item is not handed out again, and a skipped one goes to somebody else", async () => {
    const user = await filledQueue(opened.acme, 2)
    const [a, b] = [user.as(ann), user.as(ben)]
    await a.moved((await a.next()).item?.id ?? "", "skipped")
    await a.moved((await a.next()).item?.id ?? "", "completed")
    expect(await a.nextCall()).toBeNull()
    expect(await b.nextCall()).toBe(uuid(1))
  })

  test("lease_seconds: the request's, else the queue's", async () => {
    const user = await filledQueue(opened.acme, 2, { lease_seconds: 60 })
    expect(await user.read()).toMatchObject({ lease_seconds: 60 })
    const seconds = async (fields: Record<string, unknown>) => {
      const began = Date.now()
      const { lease } = await user.next(fields)
      return (Date.parse(lease?.expires_at ?? "") - began) / 1000
    }
    expect(Math.round(await seconds({}))).toBe(60)
    expect(Math.round(await seconds({ lease_seconds: 600 }))).toBe(600)
    for (const lease_seconds of [0, -1, 604_801, 1.5, "60"]) {
      expect((await user.post("/items/next", { lease_seconds })).status).toBe(422)
    }
  })

  test("a lease ends by the database's clock, without anybody's doing", async () => {
    const user = await filledQueue(opened.acme, 1)
    expect((await user.as(ann).next({ lease_seconds: 1 })).item).toMatchObject({ call_id: uuid(1) })
    expect(await user.as(ben).nextCall()).toBeNull()
    await new Promise((resolve) => setTimeout(resolve, 1100))
    expect(await user.as(ben).nextCall()).toBe(uuid(1))
    expect(await user.as(ann).nextCall()).toBeNull()
  })

  test("an item whose lease ended is handed out also to annotators who have passed it", async () => {
    const user = await filledQueue(opened.acme, 3)
    const [a, b] = [user.as(ann), user.as(ben)]
    await a.next()
    for (const call of [2, 3]) {
      const { item } = await b.next()
      expect(item?.call_id).toBe(uuid(call))
      await b.moved(item?.id ?? "", "completed")
    }
    expect(await b.nextCall()).toBeNull()
    await endLeases(user)
    expect(await b.nextCall()).toBe(uuid(1))
  })

  test("a lease is prolonged, given back, and taken on an item of one's choice", async () => {
    const user = await filledQueue(opened.acme, 2)
    const [a, b] = [user.as(ann), user.as(ben)]
    const [first = "", second = ""] = await user.itemIds()
    const held = await a.held(second, { lease_seconds: 60 })
    expect(held).toMatchObject({ item: { id: second } })
    expect((await a.held(second, { lease_seconds: 90 })).lease.expires_at > held.lease.expires_at).toBe(true)
    expect(await b.lease(second)).toMatchObject(conflict)
    expect(await a.nextCall()).toBe(uuid(2))
    expect((await a.release(second)).body).toEqual({})
    expect((await a.release(second)).status).toBe(200)
    expect(await b.lease(second)).toMatchObject({ status: 200 })
    await b.moved(second, "completed")
    expect(await b.lease(second)).toMatchObject(conflict)
    expect(await b.nextCall()).toBe(uuid(1))
    expect(await a.lease(first)).toMatchObject(conflict)
    expect((await a.lease(absent)).status).toBe(404)
  })

  test("an item that somebody works on without asking for it is not handed out to others", async () => {
    const user = await filledQueue(opened.acme, 2)
    const [first = ""] = await user.itemIds()
    await user.as(ann).moved(first, "in_progress")
    expect(await user.as(ben).nextCall()).toBe(uuid(2))
    expect(await user.as(ann).nextCall()).toBe(uuid(1))
  })

  test("calls that are added later are handed out to those who had seen the end", async () => {
    const user = await filledQueue(opened.acme, 1)
    await user.moved((await user.next()).item?.id ?? "", "completed")
    expect(await user.nextCall()).toBeNull()
    await opened.acme.post(`/v2/${user.project}/calls/complete`, {
      batch: [completedCall(user.project, { id: 9 })],
    })
    await user.add([uuid(9)])
    expect(await user.nextCall()).toBe(uuid(9))
  })
})

describe("required_annotators", () => {
  test("no more annotators than required complete an item, in whatever way they do", async () => {
    const user = await filledQueue(opened.acme, 1, { required_annotators: 2 })
    expect(await user.read()).toMatchObject({ required_annotators: 2 })
    const [a, b, c] = [user.as(ann), user.as(ben), user.as(cem)]
    const [item = ""] = await user.itemIds()
    expect(await a.nextCall()).toBe(uuid(1))
    expect(await b.nextCall()).toBe(uuid(1))
    expect(await c.nextCall()).toBeNull()
    for (const state of ["in_progress", "completed"]) expect(await c.progress(item, state)).toMatchObject(conflict)
    await a.moved(item, "completed")
    expect(await c.progress(item, "completed")).toMatchObject(conflict)
    await b.moved(item, "skipped")
    expect(await c.nextCall()).toBe(uuid(1))
    await c.moved(item, "completed")
    expect(await b.progress(item, "completed")).toMatchObject({ status: 400 })
  })

  test("an annotator who finishes after the lease ended and another took the item gets a conflict", async () => {
    const user = await filledQueue(opened.acme, 1, { required_annotators: 1 })
    const [item = ""] = await user.itemIds()
    await user.as(ann).next()
    await endLeases(user)
    await user.as(ben).next()
    expect(await user.as(ann).progress(item, "completed")).toMatchObject({
      ...conflict,
      body: { reason: expect.stringContaining("ask for the next item") },
    })
    await user.as(ben).moved(item, "completed")
  })

  test("an annotator who finishes after the lease ended, and before anybody else, completes the item", async () => {
    const user = await filledQueue(opened.acme, 1, { required_annotators: 1 })
    const [item = ""] = await user.itemIds()
    await user.as(ann).next()
    await endLeases(user)
    expect(await user.as(ann).moved(item, "completed")).toMatchObject({ annotation_state: "completed" })
  })

  test("a higher number opens what was done, a lower one closes what was open; 0 stops counting", async () => {
    const user = await filledQueue(opened.acme, 2, { required_annotators: 1 })
    const [a, b] = [user.as(ann), user.as(ben)]
    const put = (required_annotators: number) =>
      opened.acme.put(user.url, { project_id: user.project, required_annotators })
    await a.moved((await a.next()).item?.id ?? "", "completed")
    await b.moved((await b.next()).item?.id ?? "", "completed")
    expect(await b.nextCall()).toBeNull()
    expect((await put(2)).body).toMatchObject({ queue: { required_annotators: 2 } })
    expect(await b.nextCall()).toBe(uuid(1))
    expect(await a.nextCall()).toBe(uuid(2))
    await a.release((await a.next()).item?.id ?? "")
    expect((await put(1)).status).toBe(200)
    expect(await a.nextCall()).toBeNull()
    expect((await put(0)).body).not.toHaveProperty("queue.required_annotators")
    const [, second = ""] = await user.itemIds()
    expect(await a.moved(second, "completed")).toMatchObject({ annotation_state: "completed" })
    expect((await put(-1)).status).toBe(422)
  })

  test("two annotators finish at the same instant for one place: one of them gets it", async () => {
    const user = await filledQueue(opened.acme, 1, { required_annotators: 1 })
    const [item = ""] = await user.itemIds()
    const answers = await Promise.all([ann, ben, cem].map((each) => user.as(each).progress(item, "completed")))
    expect(answers.map(({ status }) => status).filter((status) => status === 200)).toHaveLength(1)
    for (const answer of answers) expect([200, 409]).toContain(answer.status)
    const stats = await opened.acme.post("/annotation_queues/stats", {
      project_id: user.project,
      queue_ids: [user.queue],
    })
    expect(stats.body).toMatchObject({ stats: [{ total_items: 1, completed_items: 1 }] })
  })
})

describe("taking back", () => {
  test("completed and skipped become in_progress again, held for their annotator; history tells it all", async () => {
    const user = await filledQueue(opened.acme, 1, { required_annotators: 1 })
    const [a, b] = [user.as(ann), user.as(ben)]
    const [item = ""] = await user.itemIds()
    await a.next()
    await a.moved(item, "completed")
    const back = await a.undone(item)
    expect(back).toMatchObject({ item: { annotation_state: "in_progress" }, lease: { expires_at: expect.any(String) } })
    expect(await a.undone(item)).toEqual({ item: back.item, lease: null })
    expect(await b.nextCall()).toBeNull()
    expect(await a.nextCall()).toBe(uuid(1))
    await a.moved(item, "skipped")
    await a.undone(item)
    await a.moved(item, "completed")
    const { history } = (await opened.acme.get(`${user.url}/items/${item}/history${user.inProject}`)).body as {
      history: { event: string; state_before: string; state_after: string }[]
    }
    expect(history.map((one) => [one.event, one.state_before, one.state_after])).toEqual([
      ["complete", "unstarted", "completed"],
      ["undo", "completed", "in_progress"],
      ["skip", "in_progress", "skipped"],
      ["undo", "skipped", "in_progress"],
      ["complete", "in_progress", "completed"],
    ])
  })

  test("only one's own work is taken back, and a skip only while the item has a free place", async () => {
    const user = await filledQueue(opened.acme, 1, { required_annotators: 1 })
    const [a, b] = [user.as(ann), user.as(ben)]
    const [item = ""] = await user.itemIds()
    await a.moved(item, "skipped")
    expect(await b.post(`/items/${item}/progress/undo`)).toMatchObject({
      status: 400,
      body: { error_type: "ValueError" },
    })
    await b.moved(item, "completed")
    expect(await a.post(`/items/${item}/progress/undo`)).toMatchObject(conflict)
    const stats = await opened.acme.post("/annotation_queues/stats", {
      project_id: user.project,
      queue_ids: [user.queue],
    })
    expect(stats.body).toMatchObject({ stats: [{ completed_items: 1 }] })
  })
})

describe("a queue that is deleted while it is labelled", () => {
  test("from then on everything answers 404, and nothing is written", async () => {
    const user = await filledQueue(opened.acme, 2)
    const item = (await user.as(ann).next()).item?.id ?? ""
    const [deleted, ...others] = await Promise.all([
      opened.acme.delete(`${user.url}${user.inProject}`),
      ...Array.from({ length: 5 }, () => user.as(ben).post("/items/next")),
    ])
    expect(deleted.status).toBe(200)
    for (const { status } of others) expect([200, 404]).toContain(status)
    const before = await storedRows(user)
    for (const answer of [
      await user.as(ann).progress(item, "completed"),
      await user.as(cem).post("/items/next"),
      await user.as(ann).lease(item),
      await user.as(ann).release(item),
      await user.as(ann).post(`/items/${item}/progress/undo`),
    ]) {
      expect(answer).toMatchObject({ status: 404, body: { error_type: "NotFoundError" } })
    }
    expect(await storedRows(user)).toEqual(before)
  })

  async function storedRows({ queue }: QueueUser) {
    const { catalog } = opened.app.stores
    const items = await catalog
      .selectFrom("annotation_items")
      .selectAll()
      .where("queue_id", "=", queue)
      .orderBy("id")
      .execute()
    const leases = await catalog
      .selectFrom("annotation_leases")
      .selectAll()
      .where("queue_id", "=", queue)
      .orderBy("item_id")
      .execute()
    return { items, leases }
  }
})
