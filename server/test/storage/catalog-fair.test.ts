/** Many reads of the catalog by one user do not delay another team's (law 8). */
import { sql } from "kysely"
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from "vitest"
import { defaultLimits } from "../../src/limits.ts"
import { currentScope, inScope } from "../../src/work/work-scope.ts"
import { type EvaluationApp, type EvaluationCaller, openEvaluationApp } from "../support/evaluation-app.ts"
import { callServer } from "../support/leaving-client.ts"
import { busyGauges, readMetrics } from "../support/metrics.ts"

const mostWaiting = 300
const soon = { timeout: 60_000 }

let opened: EvaluationApp
let server: URL
beforeAll(async () => {
  opened = await openEvaluationApp({
    limits: { ...defaultLimits, catalog_connections: 4, catalog_waiting_per_user: mostWaiting },
  })
  server = new URL(await opened.app.server.listen({ host: "127.0.0.1", port: 0 }))
  for (const team of [opened.acme, opened.rival]) {
    const obj = { project_id: `${team.entity}/objects`, object_id: "one", val: { n: 1 } }
    expect((await team.post("/obj/create", { obj })).status).toBe(200)
  }
})
// Uses both keys after a change of quotas, which makes the server forget them: so it knows them anew, for a while, without
// reading the catalog.
beforeEach(async () => {
  const changed = await opened.admin.post("/v1/organization/teams/acme/quotas", { requests_per_minute: null })
  expect(changed.status).toBe(200)
  for (const team of [opened.acme, opened.rival]) expect((await list(team)).status).toBe(200)
})
afterAll(() => opened.close())

const listBody = (team: EvaluationCaller) => ({ project_id: `${team.entity}/objects` })
const list = (team: EvaluationCaller) => team.post("/objs/query", listBody(team))

function catalogQueue() {
  const queue = opened.app.stores.queues.find((one) => one.snapshot().name === "catalog")
  if (queue === undefined) throw new Error("the catalog has no queue")
  return queue
}

/** What a request of the caller does its work in. */
async function scopeOf(team: EvaluationCaller) {
  const { body } = await team.get("/v1/organization/me")
  const { id: userId } = body as { id: string }
  return { userId, teamId: userId, signal: null }
}

/** Counts the statements of users that ask for a connection from now on, apart from those of the server's own. */
function countAsked(): () => number {
  const queue = catalogQueue()
  const enter = queue.enter.bind(queue)
  let asked = 0
  vi.spyOn(queue, "enter").mockImplementation((kind) => {
    if (currentScope() !== undefined) asked += 1
    return enter(kind)
  })
  return () => asked
}

let giveBack: () => Promise<void> = async () => undefined
afterEach(async () => {
  vi.restoreAllMocks()
  await giveBack()
})

/** Takes every connection, so that all requests wait until `giveBack`. */
async function holdCatalog(): Promise<void> {
  const gate = Promise.withResolvers<void>()
  const { slots } = catalogQueue()
  const held = Array.from({ length: slots }, () =>
    opened.app.stores.catalog.transaction().execute(async (transaction) => {
      await sql`select 1`.execute(transaction)
      await gate.promise
    }),
  )
  giveBack = async () => {
    gate.resolve()
    await Promise.all(held)
  }
  await expect.poll(() => catalogQueue().snapshot().running.heavy, soon).toBe(slots)
}

test("security H4: hundreds of requests of one user that wait for the catalog do not hold up another team's", async () => {
  await holdCatalog()
  const order: string[] = []
  const ask = async (team: EvaluationCaller) => {
    const { status } = await list(team)
    order.push(`${team.entity} ${status}`)
  }
  const asked = countAsked()
  const all = Array.from({ length: mostWaiting }, () => ask(opened.acme))
  await expect.poll(asked, soon).toBe(mostWaiting)
  all.push(ask(opened.rival))
  await expect.poll(asked, soon).toBe(mostWaiting + 1)
  await giveBack()
  await Promise.all(all)
  // It would be the last if the queue kept the order of arrival.
  expect(order.indexOf("rival 200")).toBeLessThan(mostWaiting / 2)
  expect(order.filter((answer) => answer === "acme 200")).toHaveLength(mostWaiting)
})

test("security H4: a request with thousands of statements lets another team's be read and answered meanwhile", async () => {
  let left = 1_500
  const statements = inScope(await scopeOf(opened.acme), () =>
    Promise.all(
      Array.from({ length: left }, async () => {
        await sql`select count(*) from generate_series(1, 1000)`.execute(opened.app.stores.catalog)
        left -= 1
      }),
    ),
  )
  const answer = await callServer(server, opened.rival.key, "/objs/query", listBody(opened.rival)).answer
  expect(answer?.status).toBe(200)
  expect(left).toBeGreaterThan(500)
  await statements
})

test("security H4: requests whose clients have left leave the queue at once and do nothing in the catalog", async () => {
  const before = catalogQueue().snapshot().cancelled.waiting
  await holdCatalog()
  const asked = countAsked()
  const calls = Array.from({ length: 200 }, () =>
    callServer(server, opened.acme.key, "/objs/query", listBody(opened.acme)),
  )
  await expect.poll(asked, soon).toBe(200)
  for (const call of calls) call.leave()
  await expect.poll(() => catalogQueue().snapshot().waiting.heavy, soon).toBeLessThan(10)
  await expect.poll(() => catalogQueue().snapshot().cancelled.waiting - before, soon).toBe(200)
  await giveBack()
  expect((await list(opened.acme)).body).toMatchObject({ objs: [{ object_id: "one" }] })
  await expect.poll(() => busyGauges(opened.admin), soon).toEqual([])
})

test("law 8: beyond the statements that one user may have waiting, 429 says when to come again", async () => {
  const scope = await scopeOf(opened.acme)
  await holdCatalog()
  const asked = countAsked()
  const statement = () => sql`select 1`.execute(opened.app.stores.catalog)
  const statements = inScope(scope, () => Promise.all(Array.from({ length: mostWaiting }, statement)))
  await expect.poll(asked, soon).toBe(mostWaiting)
  const refused = await list(opened.acme)
  expect([refused.status, refused.headers["retry-after"], refused.body]).toMatchObject([
    429,
    "2",
    {
      reason:
        "300 statements of the catalog that you asked for wait already, and no user may have more; " +
        "wait for some of their answers, then send this again",
    },
  ])
  const other = list(opened.rival)
  // Refused ones have asked too.
  await expect.poll(asked, soon).toBe(mostWaiting + 2)
  await giveBack()
  expect([(await statements).length, (await other).status]).toEqual([mostWaiting, 200])
  expect((await readMetrics(opened.admin)).get('heddle_queue_refused_total{queue="catalog",reason="user"}')).toBe(1)
})

test("law 8: when a key was first used is stored on nobody's account: neither refused with its user's work, nor lost", async () => {
  const colleague = await opened.addColleague("late")
  const scope = await scopeOf(colleague)
  await holdCatalog()
  const statement = () => sql`select 1`.execute(opened.app.stores.catalog)
  const statements = inScope(scope, () => Promise.all(Array.from({ length: mostWaiting }, statement)))
  await expect.poll(() => catalogQueue().snapshot().waiting.heavy, soon).toBeGreaterThan(mostWaiting)
  await giveBack()
  await statements
  const keys = opened.app.stores.catalog.selectFrom("api_keys").select("last_used_at")
  const lastUses = () => keys.where("user_id", "=", scope.userId).execute()
  await expect.poll(lastUses, soon).toEqual([{ last_used_at: expect.any(Date) }])
})
