/** Progress of queues and their annotators, and items held ahead; the reference has neither. */
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { queueWorkAnswer } from "../../src/wire/labelling/annotation-work.ts"
import { strictly } from "../support/answers.ts"
import { filledQueue, newQueue, type QueueUser } from "../support/annotation-queues.ts"
import { uuid } from "../support/completed-call.ts"
import { type EvaluationApp, type EvaluationCaller, openEvaluationApp } from "../support/evaluation-app.ts"

let opened: EvaluationApp
let ann: EvaluationCaller
let ben: EvaluationCaller
beforeAll(async () => {
  opened = await openEvaluationApp()
  ann = await opened.addColleague("ann")
  ben = await opened.addColleague("ben")
})
afterAll(() => opened.close())

async function workOf(user: QueueUser, queue_ids: readonly string[] = [user.queue]) {
  const body = { project_id: user.project, queue_ids }
  return strictly(queueWorkAnswer, await user.caller.post("/annotation_queues/work", body))
}

const callsOf = (items: readonly { item: { call_id: string } }[] | undefined) =>
  (items ?? []).map(({ item }) => item.call_id)

describe("the progress of a queue", () => {
  test("each item counts once; own counts are the caller's; annotators by name, with what they hold", async () => {
    const owner = await filledQueue(opened.acme, 6, { required_annotators: 2 })
    const [a, b] = [owner.as(ann), owner.as(ben)]
    const [first = "", second = "", third = "", fourth = ""] = await owner.itemIds()
    await a.moved(first, "completed")
    await b.moved(first, "completed")
    await a.moved(second, "completed")
    await b.moved(third, "skipped")
    await a.held(fourth)
    const { caller, queues } = await workOf(a)
    expect(caller).toMatchObject({ username: "ann", may_label: true, may_write: true })
    const time = expect.stringMatching(/^\d{4}-/) as string
    expect(queues).toEqual([
      {
        queue_id: owner.queue,
        total_items: 6,
        items: { finished: 1, held: 1, part: 1, returned: 1, open: 2 },
        own: { completed: 2, skipped: 0, open: 4 },
        annotators: [
          {
            annotator_user_id: caller.user_id,
            username: "ann",
            completed: 2,
            skipped: 0,
            holding: 1,
            last_active_at: time,
          },
          {
            annotator_user_id: expect.any(String) as string,
            username: "ben",
            completed: 1,
            skipped: 1,
            holding: 0,
            last_active_at: time,
          },
        ],
      },
    ])
    expect((await workOf(b)).queues[0]?.own).toEqual({ completed: 1, skipped: 1, open: 4 })
  })

  test("a lease that has run out holds nothing", async () => {
    const owner = await filledQueue(opened.acme, 1, { required_annotators: 1, lease_seconds: 1 })
    await owner.as(ann).next()
    await expect
      .poll(async () => (await workOf(owner)).queues[0]?.items, { timeout: 10_000 })
      .toMatchObject({ held: 0, open: 1 })
    expect((await workOf(owner.as(ben))).queues[0]).toMatchObject({ own: { open: 1 }, annotators: [] })
  })

  test("queues in the order asked for; an empty one has zeros, a deleted or unknown one is left out", async () => {
    const owner = await filledQueue(opened.acme, 1)
    const empty = await newQueue(opened.acme, owner.project)
    const gone = await newQueue(opened.acme, owner.project)
    await opened.acme.delete(`/annotation_queues/${gone}${owner.inProject}`)
    const { queues } = await workOf(owner, [empty, gone, "no-uuid", owner.queue])
    expect(queues.map(({ queue_id, total_items }) => [queue_id, total_items])).toEqual([
      [empty, 0],
      [owner.queue, 1],
    ])
  })

  test("the answer says what the caller may do in the queue, by role", async () => {
    const owner = await filledQueue(opened.acme, 1)
    const cem = await opened.addColleague("cem")
    for (const [role, may_label, may_write] of [
      ["viewer", false, false],
      ["annotator", true, false],
      ["member", true, true],
    ] as const) {
      await opened.admin.post("/v1/organization/teams/acme/members/cem", { role })
      expect((await workOf(owner.as(cem))).caller).toMatchObject({ username: "cem", may_label, may_write })
    }
  })
})

describe("items held ahead", () => {
  test("so many behind the one in hand, in order, and nobody else is handed them", async () => {
    const owner = await filledQueue(opened.acme, 8)
    const [a, b] = [owner.as(ann), owner.as(ben)]
    const first = await a.next({ ahead: 3 })
    expect(first.item?.call_id).toBe(uuid(1))
    expect(callsOf(first.ahead)).toEqual([2, 3, 4].map(uuid))
    expect(await b.nextCall()).toBe(uuid(5))
    await a.moved(first.item?.id ?? "", "completed")
    const second = await a.next({ ahead: 3 })
    expect(second.item?.call_id).toBe(uuid(2))
    expect(callsOf(second.ahead)).toEqual([3, 4, 6].map(uuid))
    expect(callsOf((await a.next({ ahead: 3 })).ahead)).toEqual([3, 4, 6].map(uuid))
  })

  test("near the end there are fewer, and without `ahead` the answer is as it was", async () => {
    const owner = await filledQueue(opened.acme, 2)
    expect(callsOf((await owner.next({ ahead: 3 })).ahead)).toEqual([uuid(2)])
    expect(Object.keys(await owner.next())).toEqual(["item", "lease", "leased_by_others"])
    expect((await owner.next({ ahead: 0 })).ahead).toEqual([uuid(2)].map(() => expect.anything() as object))
  })

  test("an annotator without items gets the last one that another holds ahead; items in hand or begun stay", async () => {
    const owner = await filledQueue(opened.acme, 3)
    const [a, b] = [owner.as(ann), owner.as(ben)]
    const { ahead } = await a.next({ ahead: 2 })
    await a.moved(ahead?.[0]?.item.id ?? "", "in_progress")
    // An annotator who does not send `ahead` waits for a lease to end.
    expect(await b.next()).toMatchObject({ item: null, leased_by_others: 3 })
    expect(await b.next({ ahead: 3 })).toMatchObject({ item: { call_id: uuid(3) }, leased_by_others: 0, ahead: [] })
    expect(callsOf((await a.next({ ahead: 2 })).ahead)).toEqual([uuid(2)])
    const cem = owner.as(opened.acme)
    expect(await cem.next({ ahead: 3 })).toMatchObject({ item: null, ahead: [], leased_by_others: 3 })
    expect((await a.lease(ahead?.[1]?.item.id ?? "")).status).toBe(409)
  })

  test("an item held ahead does not go to an annotator who has skipped or completed it", async () => {
    const owner = await filledQueue(opened.acme, 2)
    const [a, b] = [owner.as(ann), owner.as(ben)]
    const [first = "", second = ""] = await owner.itemIds()
    for (const id of [first, second]) await b.moved(id, "skipped")
    expect(callsOf((await a.next({ ahead: 3 })).ahead)).toHaveLength(1)
    expect(await b.next({ ahead: 3 })).toMatchObject({ item: null, ahead: [] })
  })

  test("every item goes to as many as it needs, to each once, whatever is held ahead", async () => {
    const owner = await filledQueue(opened.acme, 40, { required_annotators: 2 })
    const people = [owner.as(ann), owner.as(ben), owner]
    const work = async (user: QueueUser): Promise<string[]> => {
      const done: string[] = []
      for (;;) {
        const { item } = await user.next({ ahead: 3 })
        if (item === null) return done
        await user.moved(item.id, "completed")
        done.push(item.id)
      }
    }
    const hands = await Promise.all(people.map(work))
    const late = await Promise.all(people.map(work))
    const all = hands.map((own, index) => [...own, ...(late[index] ?? [])])
    for (const own of all) expect(new Set(own).size).toBe(own.length)
    const times = Map.groupBy(all.flat(), (id) => id)
    expect([times.size, ...new Set([...times.values()].map(({ length }) => length))]).toEqual([40, 2])
  })

  test("more than 50, or fewer than none: 422", async () => {
    const owner = await filledQueue(opened.acme, 1)
    for (const ahead of [51, -1, 1.5, "3"]) {
      expect((await owner.post("/items/next", { ahead })).status).toBe(422)
    }
  })
})
