/**
 * Random histories of annotators at one queue agree with a model in memory: no two annotators hold the same slot of an
 * item, no item gets more annotators than required, and every item is finished.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { filledQueue, type QueueUser } from "../support/annotation-queues.ts"
import { type EvaluationApp, type EvaluationCaller, openEvaluationApp } from "../support/evaluation-app.ts"
import { seededRandom } from "../support/seeded-random.ts"

const itemCount = 12
const steps = 120

let opened: EvaluationApp
let annotators: EvaluationCaller[]
beforeAll(async () => {
  opened = await openEvaluationApp()
  annotators = []
  for (const name of ["ada", "bob", "cleo", "dan", "eve"]) annotators.push(await opened.addColleague(name))
})
afterAll(() => opened.close())

type Finished = "completed" | "skipped"

/** The state of one item: the annotators who hold it, and those who are done with it. */
interface ItemModel {
  holders: Set<number>
  done: Map<number, Finished>
}

class Model {
  readonly items: Map<string, ItemModel>
  readonly required: number

  constructor(ids: readonly string[], required: number) {
    this.items = new Map(ids.map((id) => [id, { holders: new Set(), done: new Map() }]))
    this.required = required
  }

  item(id: string): ItemModel {
    const item = this.items.get(id)
    if (item === undefined) throw new Error(`unknown item ${id}`)
    return item
  }

  held(annotator: number): string | undefined {
    return [...this.items].find(([, { holders }]) => holders.has(annotator))?.[0]
  }

  isFor(annotator: number, { holders, done }: ItemModel): boolean {
    return !done.has(annotator) && this.taken({ holders, done }) < this.required
  }

  taken({ holders, done }: ItemModel): number {
    return holders.size + [...done.values()].filter((state) => state === "completed").length
  }

  check(): void {
    for (const [id, item] of this.items) {
      expect(this.taken(item), `places of ${id}`).toBeLessThanOrEqual(this.required)
    }
  }
}

class History {
  readonly model: Model
  readonly users: QueueUser[]
  readonly random: () => number

  constructor(model: Model, users: QueueUser[], random: () => number) {
    this.model = model
    this.users = users
    this.random = random
  }

  user(annotator: number): QueueUser {
    const user = this.users[annotator]
    if (user === undefined) throw new Error(`no annotator ${annotator}`)
    return user
  }

  /** Asks for an item. With `alone` nobody else acts meanwhile, so that getting none must agree with the model. */
  async next(annotator: number, alone: boolean): Promise<string | null> {
    const { item } = await this.user(annotator).next()
    if (item === null) {
      if (alone) for (const one of this.model.items.values()) expect(this.model.isFor(annotator, one)).toBe(false)
      return null
    }
    const held = this.model.held(annotator)
    if (held !== undefined) expect(item.id).toBe(held)
    expect(this.model.item(item.id).done.has(annotator)).toBe(false)
    this.model.item(item.id).holders.add(annotator)
    return item.id
  }

  async finish(annotator: number, id: string, state: Finished): Promise<void> {
    const { status } = await this.user(annotator).progress(id, state)
    if (status === 409) return expect(state).toBe("completed")
    expect(status).toBe(200)
    this.model.item(id).holders.delete(annotator)
    this.model.item(id).done.set(annotator, state)
  }

  async undo(annotator: number, id: string): Promise<void> {
    const answer = await this.user(annotator).post(`/items/${id}/progress/undo`)
    if (answer.status === 409) return expect(this.model.item(id).done.get(annotator)).toBe("skipped")
    expect(answer.status).toBe(200)
    const { lease } = answer.body as { lease: object | null }
    this.model.item(id).done.delete(annotator)
    if (lease !== null) this.model.item(id).holders.add(annotator)
  }

  async release(annotator: number, id: string): Promise<void> {
    expect((await this.user(annotator).release(id)).status).toBe(200)
    this.model.item(id).holders.delete(annotator)
  }

  /** Does one random thing that this annotator may do now. */
  async act(annotator: number, alone: boolean): Promise<void> {
    const held = this.model.held(annotator)
    const finished = [...this.model.items].filter(([, { done }]) => done.has(annotator)).map(([id]) => id)
    const chance = this.random()
    if (chance < 0.1 && finished.length > 0 && held === undefined) return this.undo(annotator, this.pick(finished))
    if (chance < 0.2) {
      const open = [...this.model.items].filter(([, { done }]) => !done.has(annotator)).map(([id]) => id)
      return open.length === 0 ? undefined : this.finish(annotator, this.pick(open), "completed")
    }
    if (held === undefined || chance < 0.4) return void (await this.next(annotator, alone))
    if (chance < 0.5) return this.release(annotator, held)
    return this.finish(annotator, held, chance < 0.65 ? "skipped" : "completed")
  }

  /** Ends the lease of a random annotator. */
  async expire(queue: string): Promise<void> {
    const annotator = Math.floor(this.random() * this.users.length)
    const held = this.model.held(annotator)
    if (held === undefined) return
    const catalog = opened.app.stores.catalog
    const before = await catalog.selectFrom("annotation_leases").selectAll().where("queue_id", "=", queue).execute()
    const userId = await this.userId(annotator)
    expect(before.some((lease) => lease.item_id === held && lease.user_id === userId)).toBe(true)
    await catalog
      .updateTable("annotation_leases")
      .set({ expires_at: new Date(0) })
      .where("item_id", "=", held)
      .where("user_id", "=", userId)
      .execute()
    this.model.item(held).holders.delete(annotator)
  }

  async userId(annotator: number): Promise<string> {
    const { username } = (await this.user(annotator).caller.get("/v1/organization/me")).body as { username: string }
    const row = await opened.app.stores.catalog
      .selectFrom("users")
      .select("id")
      .where("username", "=", username)
      .executeTakeFirstOrThrow()
    return row.id
  }

  pick(ids: readonly string[]): string {
    return ids[Math.floor(this.random() * ids.length)] ?? ""
  }
}

describe("random histories of a queue", () => {
  for (const [seed, required] of [
    [1, 1],
    [2, 2],
    [3, 3],
    [4, 5],
  ] as const) {
    test(`seed ${seed}, ${required} annotators to an item`, async () => {
      const owner = await filledQueue(opened.acme, itemCount, { required_annotators: required })
      const users = annotators.map((caller) => owner.as(caller))
      const model = new Model(await owner.itemIds(), required)
      const history = new History(model, users, seededRandom(seed))
      for (let step = 0; step < steps; step++) {
        if (history.random() < 0.1) await history.expire(owner.queue)
        const busy = users.map((_, index) => index).filter(() => history.random() < 0.5)
        await Promise.all(busy.map((annotator) => history.act(annotator, busy.length === 1)))
        model.check()
      }
      await drain(history)
      for (const item of model.items.values()) {
        expect(item.holders.size).toBe(0)
        const everybody = item.done.size === users.length
        expect(model.taken(item) === required || everybody).toBe(true)
      }
    })
  }
})

/** Lets all annotators work until none gets an item. */
async function drain(history: History): Promise<void> {
  for (let idle = 0, turn = 0; idle < history.users.length; turn++) {
    const annotator = turn % history.users.length
    const id = await history.next(annotator, true)
    if (id === null) idle++
    else {
      idle = 0
      await history.finish(annotator, id, "completed")
    }
  }
}
