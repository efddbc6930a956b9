/**
 * Whose training job is next. Invariants of every claim, checked over random histories (`HEDDLE_TEST_HISTORIES` sets how many):
 * 1. No team with a job that may run has fewer jobs running than the team that was chosen.
 * 2. Of the teams with as few, none has used the engine for a shorter time in the last hour.
 * 3. Among the users of the chosen team, and then among the projects of the chosen user, 1 and 2 hold as well.
 * 4. In a project a user's jobs come in order of their creation; a model's jobs never run beside each other.
 */
import { sql } from "kysely"
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest"
import {
  addJob,
  addModel,
  addProject,
  addTenant,
  openTestCatalog,
  type TestCatalog,
} from "../../../../test/support/test-catalog.ts"
import { addImportedCheckpoint } from "./imported-checkpoints.ts"
import { claimJob, type JobMove } from "./job-claims.ts"

const histories = Number(process.env["HEDDLE_TEST_HISTORIES"] ?? 5)
const operations = 40

const claim: JobMove = { from: ["queued"], to: "running", terminal: null }

let catalog: TestCatalog
beforeAll(async () => (catalog = await openTestCatalog()))
afterAll(() => catalog.close())
beforeEach(() => catalog.database.deleteFrom("training_jobs").execute())

interface Job {
  id: string
  team: string
  user: string
  project: string
  model: string
  state: "queued" | "running" | "ended"
  /** Run time within the last hour. */
  seconds: number
}

class Queue {
  readonly jobs: Job[] = []
  readonly teams: { id: string; users: string[]; models: { id: string; project: string }[] }[] = []

  async addTeam(name: string, users: number, projects: number, models: number): Promise<void> {
    const { database } = catalog
    const tenant = await addTenant(database, name)
    const userIds = [tenant.userId]
    for (let at = 1; at < users; at++) userIds.push((await addTenant(database, `${name}-${at}`)).userId)
    const team = { id: tenant.entityId, users: userIds, models: [] as { id: string; project: string }[] }
    for (let at = 0; at < projects; at++) {
      const project = await addProject(database, tenant.entityId, `p${at}`)
      for (let number = 0; number < models; number++) {
        team.models.push({ id: await addModel(database, project, `m${number}`), project })
      }
    }
    this.teams.push(team)
  }

  async submit(team: number, user: number, model: number): Promise<void> {
    const { id, users, models } = this.teams[team] ?? fail()
    const userId = users[user % users.length] ?? fail()
    const chosen = models[model % models.length] ?? fail()
    const job = await addJob(catalog.database, { modelId: chosen.id, userId })
    const { project } = chosen
    this.jobs.push({ id: job, team: id, user: userId, project, model: chosen.id, state: "queued", seconds: 0 })
  }

  /** Claims a job; null: none may run. The clock of the catalog stands still for it: what runs has used no time yet. */
  async claim(): Promise<Job | null> {
    const claimed = await claimJob(catalog.database, claim, "server", 3600)
    const job = claimed === null ? null : (this.jobs.find(({ id }) => id === claimed.id) ?? fail())
    return job
  }

  /** Ends a job that has run for so many seconds, the last of them a moment ago. */
  async end(job: Job, seconds: number): Promise<void> {
    job.state = "ended"
    job.seconds = seconds
    await catalog.database
      .updateTable("training_jobs")
      .set({
        status: "succeeded",
        ended_at: sql<Date>`now()`,
        started_at: sql<Date>`now() - make_interval(secs => ${seconds})`,
      })
      .where("id", "=", job.id)
      .execute()
  }

  mayRun(): Job[] {
    return this.jobs.filter(
      (job, at) =>
        job.state === "queued" &&
        !this.jobs.slice(0, at).some((earlier) => earlier.model === job.model && earlier.state !== "ended"),
    )
  }

  standing(
    key: "team" | "user" | "project",
    among: (job: Job) => boolean,
    value: string,
  ): { running: number; seconds: number } {
    const own = this.jobs.filter((job) => among(job) && job[key] === value)
    return {
      running: own.filter((job) => job.state === "running").length,
      seconds: own.reduce((sum, job) => sum + job.seconds, 0),
    }
  }
}

function fail(): never {
  throw new Error("the test asks for what is not there")
}

function checkTurn(queue: Queue, before: readonly Job[], chosen: Job): void {
  const levels = [
    { key: "team", among: () => true },
    { key: "user", among: (job: Job) => job.team === chosen.team },
    { key: "project", among: (job: Job) => job.team === chosen.team && job.user === chosen.user },
  ] as const
  for (const { key, among } of levels) {
    const own = queue.standing(key, among, chosen[key])
    for (const rival of new Set(before.filter(among).map((job) => job[key]))) {
      const { running, seconds } = queue.standing(key, among, rival)
      expect(own.running).toBeLessThanOrEqual(running)
      // A running job has used some milliseconds, which the model does not count.
      if (own.running === running) expect(own.seconds).toBeLessThanOrEqual(seconds + 0.9 * secondsOfMoment)
    }
  }
  const peers = before.filter((job) => job.user === chosen.user && job.project === chosen.project)
  expect(peers[0]).toBe(chosen)
  expect(queue.jobs.filter((job) => job.model === chosen.model && job.state === "running")).toEqual([])
}

/** Jobs run for multiples of this, so that the time which the test itself takes never decides. */
const secondsOfMoment = 60

/** mulberry32. */
function randomOf(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296) * below)
  }
}

test.each(Array.from({ length: histories }, (_, seed) => seed + 1))(
  "random history %i keeps the turns",
  async (seed) => {
    const random = randomOf(seed)
    const queue = new Queue()
    await queue.addTeam(`many-${seed}`, 2, 6, 1)
    await queue.addTeam(`few-${seed}`, 3, 1, 3)
    await queue.addTeam(`one-${seed}`, 1, 1, 1)
    let claims = 0
    for (let operation = 0; operation < operations; operation++) {
      const running = queue.jobs.filter((job) => job.state === "running")
      const act = random(10)
      if (act < 5) await queue.submit(random(3), random(3), random(6))
      else if (act < 7 && running.length > 0) {
        await queue.end(running[random(running.length)] ?? fail(), secondsOfMoment * (1 + random(8)))
      } else if (running.length < 4) {
        const before = queue.mayRun()
        const chosen = await queue.claim()
        expect(chosen === null).toBe(before.length === 0)
        if (chosen === null) continue
        checkTurn(queue, before, chosen)
        chosen.state = "running"
        claims += 1
      }
    }
    expect(claims).toBeGreaterThan(5)
  },
)

test("a team with a job in each of 50 projects is not served before a team with one job twice", async () => {
  const queue = new Queue()
  await queue.addTeam("crowd", 1, 50, 1)
  await queue.addTeam("alone", 1, 1, 1)
  for (let model = 0; model < 50; model++) await queue.submit(0, 0, model)
  const first = (await queue.claim()) ?? fail()
  await queue.submit(1, 0, 0)
  await queue.end(first, 1)
  expect((await queue.claim())?.team).toBe(queue.teams[1]?.id)
  expect((await queue.claim())?.team).toBe(queue.teams[0]?.id)
})

test("a user who makes projects does not get ahead of another user of the team", async () => {
  const queue = new Queue()
  await queue.addTeam("shared", 2, 30, 1)
  for (let model = 0; model < 29; model++) await queue.submit(0, 0, model)
  await queue.submit(0, 1, 29)
  const users = [(await queue.claim())?.user, (await queue.claim())?.user]
  expect(users).toEqual([queue.teams[0]?.users[0], queue.teams[0]?.users[1]])
})

test("what ran more than an hour ago no longer counts", async () => {
  const queue = new Queue()
  await queue.addTeam("yesterday", 1, 2, 1)
  await queue.addTeam("today", 1, 2, 1)
  await queue.submit(0, 0, 0)
  await queue.end((await queue.claim()) ?? fail(), 50_000)
  await catalog.database
    .updateTable("training_jobs")
    .set({ ended_at: sql<Date>`now() - interval '2 hours'` })
    .execute()
  await queue.submit(1, 0, 0)
  await queue.end((await queue.claim()) ?? fail(), 10)
  await queue.submit(1, 0, 1)
  await queue.submit(0, 0, 1)
  expect((await queue.claim())?.team).toBe(queue.teams[0]?.id)
})

test("a job whose model gets a checkpoint from elsewhere while it is claimed makes the step after that", async () => {
  const { database } = catalog
  const queue = new Queue()
  await queue.addTeam("importing", 1, 1, 1)
  await queue.submit(0, 0, 0)
  const imported = {
    modelId: queue.teams[0]?.models[0]?.id ?? fail(),
    step: null,
    path: "checkpoints/imported",
    sizeBytes: 1,
    manifestSha256: "0".repeat(64),
  }
  const isPlacing = Promise.withResolvers<void>()
  const mayCommit = Promise.withResolvers<void>()
  const importing = addImportedCheckpoint(database, imported, async () => {
    isPlacing.resolve()
    await mayCommit.promise
  })
  await isPlacing.promise
  const claiming = claimJob(database, claim, "server", 3600)
  // In the embedded catalog, which has one connection, the claim waits for the import.
  const meanwhile = process.env["HEDDLE_TEST_POSTGRES_URL"] === undefined ? null : await claiming
  mayCommit.resolve()
  expect([await importing, meanwhile]).toEqual([1, null])
  const claimed = (await claiming) ?? (await claimJob(database, claim, "server", 3600))
  expect(claimed?.lastStep).toBe(1)
})
