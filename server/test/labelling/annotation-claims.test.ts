/**
 * Many annotators at one queue at the same time, on PGlite, and on the PostgreSQL server of `HEDDLE_TEST_POSTGRES_URL`.
 */
import { randomUUID, randomUUIDv7 } from "node:crypto"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { targetsOf } from "../../src/labelling/annotation/annotation-states.ts"
import { claimAhead, claimNext } from "../../src/storage/catalog/labelling/annotation-claims.ts"
import { addItems } from "../../src/storage/catalog/labelling/annotation-items.ts"
import { addPlaces, withLockedQueue } from "../../src/storage/catalog/labelling/annotation-lock.ts"
import { applyProgress } from "../../src/storage/catalog/labelling/annotation-progress.ts"
import {
  createQueue,
  deleteQueue,
  type QueueKey,
  readQueueStats,
} from "../../src/storage/catalog/labelling/annotation-queues.ts"
import type { CatalogDatabase } from "../../src/storage/catalog/open-catalog.ts"
import { seededRandom } from "../support/seeded-random.ts"
import { addTenant, openTestCatalog, type TestCatalog } from "../support/test-catalog.ts"

const postgres = process.env["HEDDLE_TEST_POSTGRES_URL"]
const stores = [
  { name: "PGlite", url: null },
  ...(postgres === undefined ? [] : [{ name: "PostgreSQL", url: postgres }]),
]
const annotators = Array.from({ length: 12 }, (_, n) => `annotator-${n}`)

describe.each(stores)("on $name", ({ url }) => {
  let catalog: TestCatalog
  let database: CatalogDatabase
  let projectId: string
  beforeAll(async () => {
    catalog = await openTestCatalog(url)
    database = catalog.database
    projectId = (await addTenant(database, "acme")).projectId
  })
  afterAll(() => catalog.close())

  async function newQueue(items: number, required: number): Promise<QueueKey> {
    const key = { projectId, queueId: randomUUIDv7() }
    const settings = { name: "q", description: "", scorer_refs: [], required_annotators: required, lease_seconds: 60 }
    await createQueue(database, key, settings, "owner")
    await addTo(key, items)
    return key
  }

  async function addTo(key: QueueKey, items: number): Promise<void> {
    const call = { started_at: "2026-01-01T00:00:00.123456Z", ended_at: null, op_name: "op", trace_id: "t" }
    const rows = Array.from({ length: items }, () => ({ id: randomUUIDv7(), call: { ...call, id: randomUUID() } }))
    await withLockedQueue(database, key, (transaction, queue) =>
      addItems(transaction, queue, rows, { displayFields: [], userId: "owner" }),
    )
  }

  const say = (key: QueueKey, itemId: string, userId: string, event: "complete" | "skip") =>
    applyProgress(database, key, { itemId, userId, event, targets: targetsOf(event) })

  /** Claims and completes items until none is left; returns those that this annotator claimed. */
  async function work(key: QueueKey, userId: string): Promise<string[]> {
    const items: string[] = []
    for (;;) {
      const item = (await claimNext(database, key, userId, null))?.item
      if (item == null) return items
      items.push(item.id)
      expect(await say(key, item.id, userId, "complete")).toMatchObject({ outcome: "completed" })
    }
  }

  test("every item goes to as many annotators as it needs, to each once, while more are added", async () => {
    const key = await newQueue(60, 3)
    const [hands] = await Promise.all([Promise.all(annotators.map((one) => work(key, one))), addTo(key, 20)])
    const late = await Promise.all(annotators.map((one) => work(key, one)))
    const all = hands.map((items, index) => [...items, ...(late[index] ?? [])])
    for (const items of all) expect(new Set(items).size).toBe(items.length)
    const times = Map.groupBy(all.flat(), (id) => id)
    expect(times.size).toBe(80)
    for (const each of times.values()) expect(each).toHaveLength(3)
    expect(await readQueueStats(database, projectId, [key.queueId])).toEqual(
      new Map([[key.queueId, { total_items: 80, completed_items: 80 }]]),
    )
  })

  test("all finish one item at the same instant: as many as it needs succeed, the others get a conflict", async () => {
    const key = await newQueue(1, 2)
    const item = (await claimNext(database, key, "annotator-0", null))?.item?.id ?? ""
    const results = await Promise.all(annotators.map((one) => say(key, item, one, "complete")))
    const outcomes = Map.groupBy(results, (result) => result?.outcome)
    expect(outcomes.get("completed")).toHaveLength(2)
    expect(outcomes.get("full")).toHaveLength(10)
    expect(results[0]).toMatchObject({ outcome: "completed" })
  })

  test("a queue deleted at the same instant: before it or after it, never half", async () => {
    const key = await newQueue(20, 1)
    const item = (await claimNext(database, key, "annotator-0", null))?.item?.id ?? ""
    const [deleted, done, ...claims] = await Promise.all([
      deleteQueue(database, key),
      say(key, item, "annotator-0", "complete"),
      ...annotators.map((one) => claimNext(database, key, one, null)),
    ])
    expect(deleted?.deleted_at).not.toBeNull()
    const claimed = claims.flatMap((claim) => claim?.item?.id ?? [])
    expect(new Set(claimed).size).toBe(claimed.length)
    const leases = await database
      .selectFrom("annotation_leases")
      .select("item_id")
      .where("queue_id", "=", key.queueId)
      .execute()
    // The holder of the first item may be handed it again before completing it, which ends its lease.
    const expected = new Set(done === null ? [...claimed, item] : claimed.filter((id) => id !== item))
    expect(new Set(leases.map(({ item_id }) => item_id))).toEqual(expected)
    expect(await claimNext(database, key, "annotator-1", null)).toBeNull()
    expect(await say(key, item, "annotator-1", "complete")).toBeNull()
  })

  test.each([1, 2, 3, 4, 5, 6])(
    "who takes items ahead gets those that somebody else gets one by one, whatever was done before (seed %i)",
    async (seed) => {
      // Two queues that the same happened to: others finished items, skipped them, or hold them still.
      const handed = []
      for (const ahead of [false, true]) {
        const random = seededRandom(seed)
        const key = await newQueue(16, 1 + Math.floor(random() * 2))
        const order = await idsOf(key)
        const one = "annotator-0"
        for (let event = 0; event < 30; event += 1) {
          const who = annotators[Math.floor(random() * 4)] ?? one
          const what = random()
          const item = (await claimNext(database, key, who, null))?.item
          if (item == null) continue
          if (what < 0.6) await say(key, item.id, who, what < 0.3 ? "complete" : "skip")
        }
        const count = 1 + Math.floor(random() * 6)
        const items = ahead ? await takenAhead(key, one, count) : await takenOneByOne(key, one, count)
        handed.push(items.map((id) => order.indexOf(id)))
        expect(handed.flat()).not.toContain(-1)
      }
      expect(handed[1]).toEqual(handed[0])
    },
  )

  /** In the order in which they were added. */
  async function idsOf({ queueId }: QueueKey): Promise<string[]> {
    const items = database.selectFrom("annotation_items").select("id").where("queue_id", "=", queueId)
    return (await items.orderBy("created_at").orderBy("id").execute()).map(({ id }) => id)
  }

  async function takenAhead(key: QueueKey, userId: string, count: number): Promise<string[]> {
    const ahead = await claimAhead(database, key, { userId, count: count - 1, leaseSeconds: null })
    return (ahead?.held ?? []).map(({ item }) => item.id)
  }

  async function takenOneByOne(key: QueueKey, userId: string, count: number): Promise<string[]> {
    const items: string[] = []
    while (items.length < count) {
      const item = (await claimNext(database, key, userId, null))?.item
      if (item == null) break
      items.push(item.id)
      await say(key, item.id, userId, "complete")
    }
    return items
  }

  test("places that are added while annotators work are all used", async () => {
    const key = await newQueue(30, 1)
    const more = withLockedQueue(database, key, async (transaction, queue) => {
      await addPlaces(transaction, queue.id, 1)
      await transaction
        .updateTable("annotation_queues")
        .set({ required_annotators: 2 })
        .where("id", "=", queue.id)
        .execute()
    })
    const [hands] = await Promise.all([Promise.all(annotators.map((one) => work(key, one))), more])
    const late = await Promise.all(annotators.map((one) => work(key, one)))
    const times = Map.groupBy([...hands, ...late].flat(), (id) => id)
    expect([...times.values()].map((each) => each.length)).toEqual(Array.from({ length: 30 }, () => 2))
  })
})
