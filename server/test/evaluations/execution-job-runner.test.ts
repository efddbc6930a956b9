/** The queue of execution jobs, with servers that stop, fail and share it: law 7, security 5.3. */
import { afterAll, afterEach, beforeAll, expect, test } from "vitest"
import type { Principal } from "../../src/http/principal.ts"
import { HeddleError } from "../../src/errors.ts"
import { type JobContext, type JobKind, JobRunner } from "../../src/evaluations/execution/jobs/job-runner.ts"
import { findExecutionJob, removeEndedExecutionJobs } from "../../src/storage/catalog/evaluations/execution-jobs.ts"
import type { CatalogDatabase } from "../../src/storage/catalog/open-catalog.ts"
import { addProject, addTenant, openTestCatalog, type TestCatalog, type TestTenant } from "../support/test-catalog.ts"

let catalog: TestCatalog
let database: CatalogDatabase
beforeAll(async () => {
  catalog = await openTestCatalog()
  database = catalog.database
})
afterAll(() => catalog.close())

const open: JobRunner[] = []
afterEach(async () => {
  await Promise.all(open.splice(0).map((each) => each.close()))
  await database.deleteFrom("execution_jobs").execute()
})

const silent = { info: () => undefined, warn: () => undefined, error: () => undefined }

async function runner(kind: JobKind): Promise<JobRunner> {
  const one = new JobRunner({ database, kinds: kindsOf(kind), log: silent, exclusive: false })
  await one.start()
  open.push(one)
  return one
}

function kindsOf(kind: JobKind) {
  return { score_calls: kind, run_action: kind, evaluate_model: kind, rescore: kind }
}

let ids = 0
async function add(to: JobRunner, { userId, apiKeyId, entityId, entity, projectId, project }: TestTenant) {
  const id = `0198c5a0-0000-7000-8000-${String(++ids).padStart(12, "0")}`
  const membership = { id: entityId, name: entity, role: "member" } as const
  const principal: Principal = {
    userId,
    apiKeyId,
    requestId: "req_test",
    requestsPerMinute: null,
    username: entity,
    isAdmin: false,
    defaultEntity: membership,
    entities: [membership],
    projectRoles: new Map(),
    scope: "all",
    right: "write",
  }
  const access = { id: projectId, entityId, entity, project, name: `${entity}/${project}`, userId }
  await to.add("score_calls", id, principal, access, {})
  return id
}

const tenants = new Map<string, TestTenant>()
async function tenant(name: string): Promise<TestTenant> {
  const made = tenants.get(name) ?? (await addTenant(database, name))
  if (!tenants.has(name)) {
    const { userId: user_id, entityId: entity_id } = made
    await database.insertInto("memberships").values({ user_id, entity_id, role: "member" }).execute()
  }
  tenants.set(name, made)
  return made
}

const standing = async ({ projectId }: TestTenant, id: string) => findExecutionJob(database, projectId, id)
const ending = { timeout: 20_000, interval: 50 }

const untilStopped = ({ signal }: JobContext) =>
  new Promise<void>((_, reject) =>
    signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true }),
  )

test.each([
  ["whose key is revoked", "revoked"],
  ["who was disabled", "revoked"],
  ["who left the team", "left the team"],
  ["whose role in the team became that of a viewer", "your role there is viewer"],
  ["whose role in the project became that of an annotator", "your role there is annotator"],
])("security 5.3: work of a user %s is stopped while it runs, and fails", async (how, reason) => {
  const acme = await tenant(how.replaceAll(" ", "-"))
  const began = Promise.withResolvers<void>()
  const one = await runner({
    run: (context) => {
      began.resolve()
      return untilStopped(context)
    },
  })
  const id = await add(one, acme)
  await began.promise
  if (how === "who was disabled") {
    await database.updateTable("users").set({ disabled_at: new Date() }).where("id", "=", acme.userId).execute()
  } else if (reason === "revoked") {
    await database.updateTable("api_keys").set({ revoked_at: new Date() }).where("id", "=", acme.apiKeyId).execute()
  } else if (reason.includes("viewer")) {
    await database.updateTable("memberships").set({ role: "viewer" }).where("user_id", "=", acme.userId).execute()
  } else if (reason.includes("annotator")) {
    const role = { user_id: acme.userId, project_id: acme.projectId, role: "annotator" } as const
    await database.insertInto("project_roles").values(role).execute()
  } else {
    await database.deleteFrom("memberships").where("user_id", "=", acme.userId).execute()
    const own = await database
      .insertInto("entities")
      .values({ name: `own-${how}` })
      .returning("id")
      .execute()
    const entity_id = own[0]?.id ?? ""
    await database.updateTable("users").set({ default_entity_id: entity_id }).where("id", "=", acme.userId).execute()
    await database.insertInto("memberships").values({ user_id: acme.userId, entity_id, role: "member" }).execute()
  }
  await expect
    .poll(() => standing(acme, id), ending)
    .toMatchObject({ status: "failed", error: expect.stringContaining(reason) })
})

test("law 7: a job that broke off unexpectedly begins again when its lease has run out, three times in all", async () => {
  const acme = await tenant("acme")
  const begun: string[] = []
  const one = await runner({
    run: async ({ jobId }) => {
      begun.push(jobId)
      throw new TypeError("the store is away")
    },
  })
  const id = await add(one, acme)
  for (const times of [1, 2, 3]) {
    await expect.poll(() => begun.length, ending).toBe(times)
    // The lease ends: nobody renews it, although this server is alive.
    await expireLeases()
  }
  await expect
    .poll(() => standing(acme, id), ending)
    .toMatchObject({ status: "failed", error: expect.stringContaining("unexpected") })
  expect(begun).toHaveLength(3)
})

test("law 7: the absence of a store does not count as an attempt, and the job goes on when the store is back", async () => {
  const acme = await tenant("acme")
  let tries = 0
  const one = await runner({
    run: async () => {
      tries += 1
      if (tries < 5) throw new HeddleError("traces_unavailable", "the trace store cannot be reached")
    },
  })
  const id = await add(one, acme)
  await expect.poll(() => standing(acme, id), ending).toMatchObject({ status: "done", error: null })
  expect(tries).toBe(5)
  const row = await database.selectFrom("execution_jobs").select("attempts").where("id", "=", id).executeTakeFirst()
  expect(row).toEqual({ attempts: 1 })
})

test("law 7: a failure that cannot be recorded does not leave the job running for ever", async () => {
  const acme = await tenant("acme")
  let away = true
  const one = await runner({
    run: () => Promise.reject(new TypeError("broken")),
    fail: () => (away ? Promise.reject(new Error("the store is away")) : Promise.resolve()),
  })
  const other = await add(one, acme)
  await database.updateTable("execution_jobs").set({ attempts: 3 }).execute()
  await expect.poll(async () => (await leaseOf(other)) !== null, ending).toBe(true)
  away = false
  const status = async () => {
    // At each poll, because the ending job may renew its lease once more.
    await expireLeases()
    return (await standing(acme, other))?.status
  }
  await expect.poll(status, ending).toBe("failed")
})

test("what ended long ago is removed, but for evaluations that failed", async () => {
  const acme = await tenant("acme")
  const one = await runner({ run: () => Promise.resolve() })
  const [old, late, evaluation] = [await add(one, acme), await add(one, acme), await add(one, acme)] as const
  for (const id of [old, late, evaluation]) {
    await expect.poll(() => standing(acme, id), ending).toMatchObject({ status: "done" })
  }
  const ended_at = new Date(Date.now() - 8 * 24 * 3600 * 1000)
  await database.updateTable("execution_jobs").set({ ended_at }).where("id", "in", [old, evaluation]).execute()
  const failed = { kind: "evaluate_model", status: "failed" } as const
  await database.updateTable("execution_jobs").set(failed).where("id", "=", evaluation).execute()
  expect(await removeEndedExecutionJobs(database)).toBe(1)
  expect(await standing(acme, old)).toBeNull()
  expect(await standing(acme, late)).toMatchObject({ status: "done" })
  expect(await standing(acme, evaluation)).toMatchObject({ status: "failed" })
})

const expireLeases = () =>
  database
    .updateTable("execution_jobs")
    .set({ lease_expires_at: new Date(0) })
    .where("status", "=", "running")
    .execute()

const leaseOf = async (id: string) => {
  const query = database.selectFrom("execution_jobs").select("lease_owner").where("id", "=", id)
  return (await query.executeTakeFirstOrThrow()).lease_owner
}

test("law 7: two servers share the queue, each job is done once", async () => {
  const acme = await tenant("acme")
  const done: string[] = []
  const kind = {
    run: async ({ jobId }: JobContext) => {
      done.push(jobId)
    },
  }
  const [first, second] = [await runner(kind), await runner(kind)]
  const added = await Promise.all(Array.from({ length: 20 }, (_, n) => add(n % 2 === 0 ? first : second, acme)))
  await expect.poll(() => done.length, ending).toBe(20)
  expect(done.toSorted()).toEqual(added.toSorted())
})

test("law 8: the long work of one team leaves a place for another's", async () => {
  const [greedy, modest] = [await tenant("greedy"), await tenant("modest")]
  const one = await runner({
    run: async (context) => (context.project.entity === "greedy" ? untilStopped(context) : undefined),
  })
  for (let n = 0; n < 5; n++) await add(one, greedy)
  const id = await add(one, modest)
  await expect.poll(async () => (await standing(modest, id))?.status, ending).toBe("done")
})

test("a caller who waits for a job is answered when the server stops, and the job goes back to the queue", async () => {
  const acme = await tenant("acme")
  const began = Promise.withResolvers<void>()
  const one = await runner({
    run: (context) => {
      began.resolve()
      return untilStopped(context)
    },
  })
  const id = await add(one, acme)
  await began.promise
  const waiting = one.ended(id, 60_000)
  await one.close()
  await waiting
  await one.ended(id, 60_000)
  expect(await standing(acme, id)).toMatchObject({ status: "queued" })
})

test("a user whose jobs are in many projects does not get ahead of another user of the team", async () => {
  const owner = await tenant("many-projects")
  const colleague = await tenant("one-project")
  await database
    .insertInto("memberships")
    .values({ user_id: colleague.userId, entity_id: owner.entityId, role: "member" })
    .execute()
  const began: string[] = []
  const release = Promise.withResolvers<void>()
  const one = new JobRunner({
    database,
    kinds: kindsOf(holding(began, release.promise)),
    log: silent,
    exclusive: false,
  })
  for (const name of ["a", "b", "c"]) {
    await add(one, { ...owner, projectId: await addProject(database, owner.entityId, name), project: name })
  }
  const late = await add(one, { ...owner, userId: colleague.userId, apiKeyId: colleague.apiKeyId })
  await one.start()
  open.push(one)
  // Two jobs of a team run at a time.
  await expect.poll(() => began.length, ending).toBe(2)
  expect(began).toContain(late)
  release.resolve()
  await expect.poll(() => began.length, ending).toBe(4)
})

function holding(began: string[], until: Promise<void>): JobKind {
  return {
    run: async ({ jobId }) => {
      began.push(jobId)
      await until
    },
  }
}
