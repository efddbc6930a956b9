/** The invariants of `fair-queue.ts`, by their numbers: on random histories against a simple model, and one by one. */
import { setImmediate as turn, setTimeout as sleep } from "node:timers/promises"
import { expect, onTestFinished, test } from "vitest"
import { seededRandom } from "../../test/support/seeded-random.ts"
import { HeddleError } from "../errors.ts"
import { FairQueue, type FairQueueOptions, type LeaveQueue } from "./fair-queue.ts"
import type { WorkKind } from "./turns.ts"
import { inScope, outsideOfRequests, toTheEnd, type WorkScope } from "./work-scope.ts"

const options: FairQueueOptions = {
  name: "test",
  work: "queries",
  slots: 4,
  slotsPerUser: 2,
  slotsForLookups: 1,
  waitingPerUser: 5,
  waitingTotal: 9,
  longestWaitMs: 60_000,
}

interface Piece {
  id: number
  teamId: string
  userId: string
  kind: WorkKind
}

/** A plain model of the queue, which checks everything again after each event. */
class Model {
  readonly #waiting: Piece[] = []
  readonly running: Piece[] = []
  /** Who is next comes first. */
  #teams: string[] = []
  #users: string[] = []

  constructor(teams: readonly string[], users: readonly string[]) {
    this.#teams = [...teams]
    this.#users = [...users]
  }

  get waiting(): readonly Piece[] {
    return this.#waiting
  }

  /** Work that starts now, in order, or the code of the refusal. */
  arrive(piece: Piece): Piece[] | string {
    if (this.#mayStart(piece)) {
      this.running.push(piece)
      return [piece]
    }
    const own = this.#waiting.filter((one) => one.userId === piece.userId).length
    if (own >= options.waitingPerUser) return "rate_limit_exceeded"
    if (own > 0 && this.#waiting.length >= options.waitingTotal) return "store_overloaded"
    if (!this.#waiting.some((one) => one.userId === piece.userId && one.teamId === piece.teamId)) {
      // Whoever begins to wait goes to the end of the round.
      this.#users = [...this.#users.filter((user) => user !== piece.userId), piece.userId]
    }
    if (!this.#waiting.some((one) => one.teamId === piece.teamId)) {
      this.#teams = [...this.#teams.filter((team) => team !== piece.teamId), piece.teamId]
    }
    this.#waiting.push(piece)
    return []
  }

  end(piece: Piece): Piece[] {
    this.running.splice(this.running.indexOf(piece), 1)
    const started: Piece[] = []
    for (let next = this.#next(); next !== undefined; next = this.#next()) {
      this.#waiting.splice(this.#waiting.indexOf(next), 1)
      this.#teams = [...this.#teams.filter((team) => team !== next?.teamId), next.teamId]
      this.#users = [...this.#users.filter((user) => user !== next?.userId), next.userId]
      this.running.push(next)
      started.push(next)
    }
    return started
  }

  leave(piece: Piece): void {
    this.#waiting.splice(this.#waiting.indexOf(piece), 1)
  }

  #next(): Piece | undefined {
    for (const team of this.#teams) {
      for (const user of this.#users) {
        const found = this.#waiting.find((one) => one.teamId === team && one.userId === user && this.#mayStart(one))
        if (found !== undefined) return found
      }
    }
    return undefined
  }

  #mayStart({ userId, kind }: Piece): boolean {
    const heavy = this.running.filter((one) => one.kind === "heavy")
    const own = this.running.filter((one) => one.userId === userId)
    if (this.running.length >= 4) return false
    if (kind === "lookup") return own.length < 3
    return heavy.length < 3 && own.filter((one) => one.kind === "heavy").length < 2
  }
}

/** One user belongs to one team here, so that the order of the users is the same for the model and the queue. */
const members = [
  ["red", "ann"],
  ["red", "bob"],
  ["red", "cy"],
  ["blue", "dan"],
  ["green", "eve"],
  ["green", "flo"],
] as const

test.each(Array.from({ length: 25 }, (_, seed) => seed + 1))("invariants 1 to 7 on random history %i", async (seed) => {
  const random = seededRandom(seed)
  const queue = new FairQueue(options)
  const model = new Model(
    members.map(([team]) => team),
    members.map(([, user]) => user),
  )
  const started: number[] = []
  const clients = new Map<number, AbortController>()
  const slots = new Map<number, LeaveQueue>()
  const refusals = new Map<number, string>()
  let left = 0

  const enter = async (piece: Piece, signal: AbortSignal) => {
    const scope: WorkScope = { teamId: piece.teamId, userId: piece.userId, signal }
    try {
      const leave = await inScope(scope, () => queue.enter(piece.kind))
      started.push(piece.id)
      slots.set(piece.id, leave)
    } catch (error) {
      if (error instanceof HeddleError) refusals.set(piece.id, error.code)
      else if (error !== signal.reason) throw error
    }
  }

  let expected: number[] = []
  let refused = 0
  for (let id = 0; id < 200; id++) {
    const act = random()
    const [running, waiting] = [pick(model.running, random), pick(model.waiting, random)]
    if (act < 0.55 || (running === undefined && waiting === undefined)) {
      const [teamId, userId] = pick(members, random) ?? members[0]
      const piece: Piece = { id, teamId, userId, kind: random() < 0.4 ? "lookup" : "heavy" }
      const client = new AbortController()
      clients.set(id, client)
      void enter(piece, client.signal)
      const outcome = model.arrive(piece)
      await turn()
      if (typeof outcome === "string") {
        refused += 1
        expect(refusals.get(id)).toBe(outcome)
      } else expected = [...expected, ...outcome.map((one) => one.id)]
    } else if (act < 0.9 && running !== undefined) {
      slots.get(running.id)?.()
      expected = [...expected, ...model.end(running).map((one) => one.id)]
    } else if (waiting !== undefined) {
      clients.get(waiting.id)?.abort()
      model.leave(waiting)
      left += 1
    }
    await turn()
    expect(started.slice(-5)).toEqual(expected.slice(-5))
    const { running: now, waiting: then } = queue.snapshot()
    expect(now.heavy + now.lookup).toBe(model.running.length)
    expect(then.heavy + then.lookup).toBe(model.waiting.length)
  }
  for (let piece = model.running[0]; piece !== undefined; piece = model.running[0]) {
    slots.get(piece.id)?.()
    expected = [...expected, ...model.end(piece).map((one) => one.id)]
    await turn()
  }
  expect(started).toEqual(expected)
  const end = queue.snapshot()
  expect(end.running).toEqual({ lookup: 0, heavy: 0 })
  expect(end.waiting).toEqual({ lookup: 0, heavy: 0 })
  expect(end.finished.lookup + end.finished.heavy).toBe(started.length)
  expect(end.cancelled).toEqual({ waiting: left, running: 0 })
  expect(end.refused.user + end.refused.total).toBe(refused)
})

const { signal: stays } = new AbortController()
const ann: WorkScope = { teamId: "red", userId: "ann", signal: stays }
const eve: WorkScope = { teamId: "green", userId: "eve", signal: stays }

/** Work that ends when it is told, or with its test, and the order in which pieces of it began. */
function pieces(queue: FairQueue) {
  const began: string[] = []
  const ends = new Map<string, () => void>()
  const all: Promise<void>[] = []
  let isOver = false
  const start = (name: string, scope: WorkScope | null, kind: WorkKind): Promise<void> => {
    const work = () =>
      queue.run(kind, async () => {
        began.push(name)
        if (!isOver) await new Promise<void>((resolve) => ends.set(name, resolve))
      })
    const piece = scope === null ? outsideOfRequests(work) : inScope(scope, work)
    all.push(piece)
    return piece
  }
  // Work that still waited would be refused during a test of another file.
  onTestFinished(async () => {
    isOver = true
    for (const end of ends.values()) end()
    await Promise.allSettled(all)
  })
  return { began, start, end: (name: string) => ends.get(name)?.() }
}

test("invariant 1: a look-up need not wait for heavy work, however much of it there is", async () => {
  const queue = new FairQueue(options)
  const { began, start } = pieces(queue)
  for (const [index, user] of ["a", "b", "c", "d"].entries()) {
    void start(`heavy ${index}`, { teamId: user, userId: user, signal: null }, "heavy")
  }
  void start("look-up", eve, "lookup")
  await turn()
  expect(began).toEqual(["heavy 0", "heavy 1", "heavy 2", "look-up"])
})

test("invariant 4: another team waits for one piece of work of a user who has sent many", async () => {
  const queue = new FairQueue({
    ...options,
    slots: 1,
    slotsPerUser: 1,
    slotsForLookups: 0,
    waitingPerUser: 50,
    waitingTotal: 50,
  })
  const { began, start, end } = pieces(queue)
  for (let index = 0; index < 50; index++) void start(`ann ${index}`, ann, "heavy")
  void start("eve", eve, "heavy")
  await turn()
  end("ann 0")
  await turn()
  end("ann 1")
  await turn()
  expect(began).toEqual(["ann 0", "ann 1", "eve"])
})

test("invariant 4: a team with many users has no more turns than a team with one", async () => {
  const queue = new FairQueue({ ...options, slots: 1, slotsPerUser: 1, slotsForLookups: 0 })
  const { began, start, end } = pieces(queue)
  void start("first", ann, "heavy")
  for (const userId of ["ann", "bob", "cy"]) void start(`red ${userId}`, { ...ann, userId }, "heavy")
  for (const index of [1, 2]) void start(`eve ${index}`, eve, "heavy")
  for (const name of ["first", "red ann", "eve 1", "red bob", "eve 2"]) {
    await turn()
    end(name)
  }
  await turn()
  expect(began).toEqual(["first", "red ann", "eve 1", "red bob", "eve 2", "red cy"])
})

test.each([
  ["background work", null],
  ["what must be done for a user", { ...ann, signal: null }],
])("invariant 6: %s is not refused, however much of it waits", async (_, scope) => {
  const queue = new FairQueue({ ...options, waitingPerUser: 1, waitingTotal: 1, longestWaitMs: 1 })
  const { began, start, end } = pieces(queue)
  for (let index = 0; index < 10; index++) void start(`${index}`, scope, "heavy")
  await sleep(20)
  for (let index = 0; index < 10; index++) {
    await turn()
    end(`${index}`)
  }
  expect(began).toEqual(Array.from({ length: 10 }, (_each, index) => `${index}`))
})

test("invariant 6: what has waited for too long is refused with the way out", async () => {
  const queue = new FairQueue({ ...options, slots: 1, slotsPerUser: 1, slotsForLookups: 0, longestWaitMs: 20 })
  const { start, end } = pieces(queue)
  const running = start("running", ann, "heavy")
  await expect(start("late", eve, "heavy")).rejects.toMatchObject({
    code: "store_overloaded",
    message:
      "the server is busy: this waited 0.02 s for its turn among the queries; send it again a little later, and less at a time",
    details: { retryAfterMs: 2_000 },
  })
  expect(queue.snapshot()).toMatchObject({ refused: { late: 1 }, waiting: { lookup: 0, heavy: 0 } })
  end("running")
  await running
})

test("invariant 6: work of a client that has left does not start, unless it must be done all the same", async () => {
  const queue = new FairQueue(options)
  const signal = AbortSignal.abort(new Error("the client has left"))
  const scope = { ...ann, signal }
  await expect(inScope(scope, () => queue.run("lookup", async () => "done"))).rejects.toThrow("the client has left")
  expect(await inScope(scope, () => toTheEnd(() => queue.run("lookup", async () => "done")))).toBe("done")
  expect(queue.snapshot()).toMatchObject({ finished: { lookup: 1, heavy: 0 }, cancelled: { waiting: 1, running: 0 } })
})

test("invariant 7: work that fails is finished, unless its client left meanwhile", async () => {
  const queue = new FairQueue(options)
  const client = new AbortController()
  const fail = (left: boolean) =>
    queue.run("heavy", async () => {
      if (left) client.abort()
      throw new Error("no such table")
    })
  await expect(inScope({ ...ann, signal: client.signal }, () => fail(false))).rejects.toThrow("no such table")
  await expect(inScope({ ...ann, signal: client.signal }, () => fail(true))).rejects.toThrow("no such table")
  expect(queue.snapshot()).toMatchObject({ finished: { lookup: 0, heavy: 1 }, cancelled: { waiting: 0, running: 1 } })
})

function pick<T>(list: readonly T[], random: () => number): T | undefined {
  return list[Math.floor(random() * list.length)]
}
