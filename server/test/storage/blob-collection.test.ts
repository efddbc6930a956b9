/** The collector removes data that nothing needs any more, and no other, whatever happens at the same time. */
import { readdir } from "node:fs/promises"
import path from "node:path"
import { text } from "node:stream/consumers"
import { setTimeout as sleep } from "node:timers/promises"
import { sql } from "kysely"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { collectBlobs } from "../../src/storage/blob-collector.ts"
import { spentBlobs } from "../../src/storage/catalog/files/blob-references.ts"
import { BlobHolds } from "../../src/storage/blobs/blob-holds.ts"
import { seededRandom } from "../support/seeded-random.ts"
import { groupsOf, newModel, openTrainingApp, type TrainingApp } from "../support/training-app.ts"

let opened: TrainingApp
beforeAll(async () => (opened = await openTrainingApp()))
afterAll(() => opened.close())

const database = () => opened.app.stores.catalog
const inAnHour = () => new Date(Date.now() + 3_600_000)
const collect = (before = inAnHour()) => collectBlobs(opened.app.stores, before)

async function blobsOnDisk(): Promise<string[]> {
  const folder = path.join(opened.config.dataDir, "blobs")
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  return entries.filter((entry) => entry.isFile()).map((entry) => entry.name)
}

async function upload(content: string): Promise<string> {
  const form = new FormData()
  form.set("file", new Blob([content]), "rows.jsonl")
  const request = new Request("http://x", { method: "POST", body: form })
  const headers = {
    authorization: `Bearer ${opened.acme.key}`,
    "content-type": request.headers.get("content-type") ?? "",
  }
  const payload = Buffer.from(await request.arrayBuffer())
  const answer = await opened.app.server.inject({ method: "POST", url: "/v1/files", headers, payload })
  expect(answer.statusCode).toBe(200)
  return (answer.json() as { id: string }).id
}

async function startJob(url: string, body: object): Promise<string> {
  const answer = await opened.acme.post(url, body)
  expect(answer.status).toBe(200)
  return (answer.body as { id: string }).id
}

const startRlJob = (model_id: string) =>
  startJob("/v1/preview/training-jobs", { model_id, trajectory_groups: groupsOf([0, 1]) })
const startSftJob = (model_id: string, training_data_url: string) =>
  startJob("/v1/preview/sft-training-jobs", { model_id, training_data_url })

const statusOf = async (job: string) =>
  ((await opened.acme.get(`/v1/preview/training-jobs/${job}`)).body as { status: string }).status

async function ended(job: string): Promise<void> {
  await expect.poll(() => statusOf(job), { timeout: 30_000, interval: 20 }).toMatch(/succeeded|completed/i)
}

/** Makes `train` wait until the returned function is called. */
function holdTraining(): () => void {
  const { train } = opened.fake.handlers
  if (train === undefined) throw new Error("the fake engine has no train")
  const { promise, resolve } = Promise.withResolvers<void>()
  opened.fake.handlers.train = async (params, call) => {
    await promise
    return train(params, call)
  }
  return () => {
    opened.fake.handlers.train = train
    resolve()
  }
}

const row = (answer: string) =>
  JSON.stringify({
    messages: [
      { role: "user", content: "q" },
      { role: "assistant", content: answer },
    ],
  })

describe("the collector", () => {
  test("removes a job's data some time after its end; the job can still be read, and another made of the same data", async () => {
    const { id: model } = await newModel(opened.acme)
    const job = await startRlJob(model)
    await ended(job)
    const before = await blobsOnDisk()
    expect(await collect(new Date(Date.now() - 3_600_000))).toBe(0)
    expect(await blobsOnDisk()).toEqual(before)
    expect(await collect()).toBe(1)
    expect(await blobsOnDisk()).toEqual([])
    expect(await collect()).toBe(0)
    expect((await opened.acme.get(`/v1/preview/training-jobs/${job}/events`)).status).toBe(200)
    await ended(await startRlJob(model))
    expect(await collect()).toBe(1)
  })

  test("keeps the data of an open job, also when its upload is deleted", async () => {
    const { id: model } = await newModel(opened.acme)
    const file = await upload(row("a"))
    const first = await startSftJob(model, file)
    await ended(first)
    const goOn = holdTraining()
    const second = await startSftJob(model, file)
    expect((await opened.acme.delete(`/v1/files/${file}`)).status).toBe(200)
    expect(await collect()).toBe(0)
    expect(await blobsOnDisk()).toHaveLength(1)
    goOn()
    await ended(second)
    expect(await collect()).toBe(1)
    expect(await blobsOnDisk()).toEqual([])
  })

  test("keeps an upload until it is deleted, whatever became of the jobs made from it", async () => {
    const { id: model } = await newModel(opened.acme)
    const file = await upload(row("b"))
    await ended(await startSftJob(model, file))
    expect(await collect()).toBe(0)
    expect((await opened.acme.get(`/v1/files/${file}/content`)).body).toBe(row("b"))
    await opened.acme.delete(`/v1/files/${file}`)
    expect(await collect()).toBe(1)
    expect(await blobsOnDisk()).toEqual([])
  })

  test("keeps logged trajectories as long as their model", async () => {
    const { id: model } = await newModel(opened.acme)
    const body = { split: "val", trajectory_groups: groupsOf([0, 1]) }
    expect((await opened.acme.post(`/v1/preview/models/${model}/log`, body)).status).toBe(200)
    expect(await collect()).toBe(0)
    expect(await blobsOnDisk()).toHaveLength(1)
    expect((await opened.acme.delete(`/v1/preview/models/${model}`)).status).toBe(200)
    expect(await collect()).toBe(1)
    expect(await blobsOnDisk()).toEqual([])
  })

  test("knows every column that may name a blob", async () => {
    const { rows } = await sql<{ name: string }>`
      select table_name || '.' || column_name as name from information_schema.columns
      where table_schema = 'public' and column_name ~ 'sha256|blob' order by 1`.execute(database())
    const ofNoBlob = [
      "api_keys.sha256",
      "checkpoints.manifest_sha256",
      "invitations.sha256",
      "sessions.sha256",
      "sign_in_tokens.sha256",
    ]
    expect(rows.map(({ name }) => name).filter((name) => !ofNoBlob.includes(name))).toEqual([
      "artifact_contents.sha256",
      "artifact_manifests.sha256",
      "artifact_parts.sha256",
      "project_files.sha256",
      "run_files.sha256",
      "training_jobs.data_sha256",
      "trajectory_logs.data_sha256",
      "uploads.sha256",
    ])
  })
})

const histories = process.env["HEDDLE_SLOW_TESTS"] === undefined ? 3 : 30

test.each(Array.from({ length: histories }, (_, index) => index + 1))(
  "random history %i: uploads, jobs, deletions and collections of the same few contents at once",
  async (seed) => {
    const random = seededRandom(seed)
    const { id: model } = await newModel(opened.acme)
    const contents = ["x", "y"].map((name) => row(`${name}${seed}`))
    const jobs: string[] = []
    const actor = async () => {
      for (let step = 0; step < 8; step++) {
        await sleep(random() * 5)
        const content = contents[random() < 0.5 ? 0 : 1] as string
        const file = await upload(content)
        await sleep(random() * 5)
        expect((await opened.acme.get(`/v1/files/${file}/content`)).body).toBe(content)
        if (random() < 0.5) jobs.push(await startSftJob(model, file))
        expect((await opened.acme.delete(`/v1/files/${file}`)).status).toBe(200)
      }
    }
    let over = false
    const collector = async () => {
      for (; !over; await sleep(random() * 4)) await collect()
    }
    const collecting = Promise.all([collector(), collector()])
    await Promise.all([actor(), actor(), actor(), actor()])
    // The fake engine reads the data of each job, so a job whose blob was removed would fail.
    for (const job of jobs) await ended(job)
    over = true
    await collecting
    await collect()
    expect(await blobsOnDisk()).toEqual([])
  },
)

test("a held blob stays, and a removal that has begun ends before anyone takes hold", async () => {
  const { blobs } = opened.app.stores
  const content = async function* () {
    yield Buffer.from("held")
  }
  const { sha256 } = await blobs.put(content())
  expect(await blobs.removeUnless(sha256, () => Promise.resolve(false))).toBe(false)
  expect(await text(blobs.read(sha256))).toBe("held")
  blobs.release(sha256)
  const asked = Promise.withResolvers<void>()
  const answer = Promise.withResolvers<boolean>()
  const removal = blobs.removeUnless(sha256, () => (asked.resolve(), answer.promise))
  await asked.promise
  const again = blobs.put(content())
  await sleep(20)
  answer.resolve(false)
  expect(await removal).toBe(true)
  await again
  expect(await text(blobs.read(sha256))).toBe("held")
  blobs.release(sha256)
  expect(await blobs.removeUnless(sha256, () => Promise.resolve(false))).toBe(true)
})

test("a hold that comes during a removal waits for its end", async () => {
  const holds = new BlobHolds()
  const order: string[] = []
  const removal = holds.removing("a", async () => {
    await sleep(10)
    order.push("removed")
    return true
  })
  const hold = holds.hold("a").then(() => order.push("held"))
  await Promise.all([removal, hold])
  expect(order).toEqual(["removed", "held"])
})

test("a starting server removes data of jobs that ended a day ago, and keeps that of an hour ago", async () => {
  const { id: model } = await newModel(opened.acme)
  const [old, recent] = [await upload(row("old")), await upload(row("recent"))]
  const jobs = [await startSftJob(model, old), await startSftJob(model, recent)]
  for (const job of jobs) await ended(job)
  for (const file of [old, recent]) await opened.acme.delete(`/v1/files/${file}`)
  expect(await blobsOnDisk()).toHaveLength(2)
  const endedAgo = (job: string | undefined, hours: number) =>
    sql`update training_jobs set ended_at = now() - ${hours} * interval '1 hour' where id = ${job}`.execute(database())
  await endedAgo(jobs[0], 25)
  await endedAgo(jobs[1], 1)
  await opened.app.server.listen({ host: "127.0.0.1", port: 0 })
  const aDayAgo = new Date(Date.now() - 24 * 3_600_000)
  // The file goes before the row that names it.
  await expect.poll(() => spentBlobs(database(), aDayAgo), { timeout: 10_000 }).toEqual([])
  expect(await blobsOnDisk()).toHaveLength(1)
  expect(await collect()).toBe(1)
  expect(await blobsOnDisk()).toEqual([])
})
