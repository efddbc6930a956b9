/**
 * The disk under the running server is really full: writes are refused as a whole, stored things stay readable, and
 * once there is room everything goes on.
 */
import { once } from "node:events"
import { readdir } from "node:fs/promises"
import path from "node:path"
import { afterAll, beforeAll, expect, test } from "vitest"
import { copyCatalogTemplate } from "../support/catalog-template.ts"
import { call, launchServer, type RunningServer, startServer } from "../support/server-process.ts"
import { fillDisk, mountDisk, unmountDisk } from "../support/small-disk.ts"
import { adminKey } from "../support/test-app.ts"

/** Size of the disk, of which the empty stores take about half. */
const diskMegabytes = 128

const disk = mountDisk(diskMegabytes)

let server: RunningServer
beforeAll(async () => {
  if (disk === null) return
  await copyCatalogTemplate(disk)
  server = await startServer(disk, { HEDDLE_LOG: "silent" })
})
afterAll(async () => {
  if (disk === null) return
  server.process.kill("SIGTERM")
  await once(server.process, "exit")
  unmountDisk(disk)
})

async function upload(content: string) {
  const form = new FormData()
  form.set("file", new Blob([content]), "rows.jsonl")
  const headers = { authorization: `Bearer ${adminKey}` }
  const answer = await fetch(`${server.url}/v1/files`, { method: "POST", headers, body: form })
  return { status: answer.status, body: (await answer.json()) as { id: string } }
}

async function download(id: string): Promise<string> {
  const headers = { authorization: `Bearer ${adminKey}` }
  return (await fetch(`${server.url}/v1/files/${id}/content`, { headers })).text()
}

async function blobs(folder: string): Promise<string[]> {
  const entries = await readdir(path.join(folder, "blobs"), { recursive: true, withFileTypes: true })
  return entries.filter((entry) => entry.isFile()).map((entry) => entry.name)
}

async function makeModel(name: string): Promise<string> {
  const answer = await call(server, "POST", "/v1/preview/models", { project: "p", name, base_model: "heddle/tiny" })
  expect(answer.status).toBe(200)
  return (answer.body as { id: string }).id
}

/** Starts a job of `groups` groups of four trajectories, with about two gradient steps a group. */
function startJob(model_id: string, groups: number) {
  const trajectory_groups = Array.from({ length: groups }, (_, group) => ({
    trajectories: Array.from({ length: 4 }, (__, index) => trajectory(group, index)),
  }))
  const experimental_config = { packed_sequence_length: 256, logprob_calculation_chunk_size: 256 }
  return call(server, "POST", "/v1/preview/training-jobs", { model_id, trajectory_groups, experimental_config })
}

function trajectory(group: number, index: number) {
  const token_ids = Array.from({ length: 96 }, (_, place) => 10 + ((group * 17 + index * 101 + place * 13) % 480))
  const choice = {
    finish_reason: "stop",
    index: 0,
    message: { role: "assistant", content: "x" },
    logprobs: { content: token_ids.map((id) => ({ token: `token_id:${id}`, logprob: -6 })) },
    token_ids,
    prompt_token_ids: [10, 11, 12],
  }
  return { messages_and_choices: [{ role: "user", content: "q" }, choice], reward: (index * 7 + group) % 4 }
}

interface JobEvent {
  type: string
  data: { error_message?: string }
}

/** Reads the job's events as a client does, which must work on a full disk, too. */
async function eventsOf(job: string): Promise<JobEvent[]> {
  const answer = await call(server, "GET", `/v1/preview/training-jobs/${job}/events?limit=100`)
  expect(answer.status).toBe(200)
  return (answer.body as { data: JobEvent[] }).data
}

const isTerminal = ({ type }: JobEvent) => type === "training_ended" || type === "training_failed"

async function ended(job: string): Promise<JobEvent[]> {
  await expect.poll(async () => (await eventsOf(job)).some(isTerminal), { timeout: 60_000, interval: 50 }).toBe(true)
  return eventsOf(job)
}

const refusal = /disk is full; nothing was stored\. Make room on it/

test.skipIf(disk === null)(
  "a request that needs room is refused with 507 and leaves nothing; afterwards all works as before",
  async () => {
    const folder = disk as string
    const kept = await upload("kept")
    const model = await makeModel("refused")
    const before = await blobs(folder)
    const makeRoom = await fillDisk(folder)

    const refusedUpload = await upload("y".repeat(100_000))
    expect(refusedUpload).toMatchObject({ status: 507, body: { error: { code: "insufficient_storage" } } })
    expect(JSON.stringify(refusedUpload.body)).toMatch(refusal)
    const refusedJob = await startJob(model, 1)
    expect(refusedJob).toEqual({ status: 507, body: { detail: expect.stringMatching(refusal) } })
    expect(await blobs(folder)).toEqual(before)
    expect(await download(kept.body.id)).toBe("kept")
    const files = (await call(server, "GET", "/v1/files")).body as { data: { id: string }[] }
    expect(files.data.map(({ id }) => id)).toEqual([kept.body.id])
    expect((await call(server, "GET", `/v1/preview/models/${model}/checkpoints`)).status).toBe(200)

    await makeRoom()
    const accepted = await upload("y".repeat(100_000))
    expect(accepted.status).toBe(200)
    expect(await download(accepted.body.id)).toBe("y".repeat(100_000))
    const job = await startJob(model, 1)
    expect(job.status).toBe(200)
    expect((await ended((job.body as { id: string }).id)).at(-1)?.type).toBe("training_ended")
  },
)

const project = "local/full"
const startOf = (id: string) => ({
  start: {
    project_id: project,
    id,
    trace_id: "0198c5a0-0000-7000-8000-0000000000ff",
    op_name: "op",
    started_at: "2026-03-01T00:00:00Z",
    attributes: {},
    inputs: {},
  },
})
const [stored, refused] = ["0198c5a0-0000-7000-8000-000000000001", "0198c5a0-0000-7000-8000-000000000002"] as const

test.skipIf(disk === null)(
  "a full disk: calls, feedback, objects and exports are refused with 507, reads are answered, health is degraded while it lasts",
  async () => {
    expect((await call(server, "POST", "/call/start", startOf(stored))).status).toBe(200)
    for (const url of ["/health", "/v1/health"]) {
      expect(await call(server, "GET", url)).toEqual({ status: 200, body: { status: "ok" } })
    }
    const makeRoom = await fillDisk(disk as string)
    const row = {
      project_id: project,
      weave_ref: `weave:///${project}/call/${stored}`,
      feedback_type: "f",
      payload: {},
    }
    const end = { project_id: project, id: stored, ended_at: "2026-03-01T00:00:01Z", summary: {} }
    for (const [url, body] of [
      ["/call/start", startOf(refused)],
      ["/call/end", { end }],
      ["/call/upsert_batch", { batch: [{ mode: "start", req: startOf(refused) }] }],
      [
        `/v2/${project}/calls/complete`,
        { batch: [{ ...startOf(refused).start, ended_at: end.ended_at, summary: {} }] },
      ],
      ["/feedback/create", row],
      ["/table/create", { table: { project_id: project, rows: [{ a: 1 }] } }],
      ["/export/calls", { project_id: project, format: "csv" }],
    ] as const) {
      const { status, body: answer } = await call(server, "POST", url, body)
      expect([url, status]).toEqual([url, 507])
      expect((answer as { reason: string }).reason).toMatch(refusal)
    }
    const degraded = {
      status: "degraded",
      reason: expect.stringMatching(/^the disk of the data folder has only 0\.0 MiB left/),
    }
    for (const url of ["/health", "/v1/health"]) {
      expect(await call(server, "GET", url)).toEqual({ status: 200, body: degraded })
    }
    expect(await call(server, "GET", "/v1/system-check")).toMatchObject({
      status: 503,
      body: { database: true, disk: { success: false, error: expect.stringContaining("Make room on it") } },
    })
    const kept = async () => (await call(server, "POST", "/calls/query_stats", { project_id: project })).body
    expect(await kept()).toMatchObject({ count: 1 })

    await makeRoom()
    expect((await call(server, "GET", "/v1/health")).body).toEqual({ status: "ok" })
    expect((await call(server, "POST", "/call/start", startOf(refused))).status).toBe(200)
    expect(await kept()).toMatchObject({ count: 2 })
  },
)

test.skipIf(disk === null)("a start on a full disk says so in one sentence, and works once there is room", async () => {
  server.process.kill("SIGKILL")
  await once(server.process, "exit")
  const makeRoom = await fillDisk(disk as string)
  const failure = await launchServer(disk as string, { HEDDLE_LOG: "silent" }).url.catch(
    (error: Error) => error.message,
  )
  expect(failure).toBe(
    `Heddle cannot start: the disk of the data folder ${disk} is full. Make room on it, or choose another with --data-dir`,
  )
  await makeRoom()
  server = await startServer(disk as string, { HEDDLE_LOG: "silent" })
  expect((await call(server, "POST", "/calls/query_stats", { project_id: project })).body).toMatchObject({ count: 2 })
})

test.skipIf(disk === null)(
  "training-api 3.1: a job that the full disk meets in training ends once there is room",
  async () => {
    const { id: job } = (await startJob(await makeModel("met"), 16)).body as { id: string }
    await expect.poll(async () => (await eventsOf(job)).length, { timeout: 30_000, interval: 10 }).toBeGreaterThan(3)
    const makeRoom = await fillDisk(disk as string)
    // Meanwhile the job tries several times to store something for which there is no room.
    for (let poll = 0; poll < 30; poll++) {
      await eventsOf(job)
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
    await makeRoom()
    const events = await ended(job)
    expect(events.filter(isTerminal)).toEqual([events.at(-1)])
    const end = events.at(-1)
    if (end?.type === "training_failed") expect(end.data.error_message).toMatch(/disk/)
    else expect(events.slice(1, -1).length).toBeGreaterThan(20)
  },
)
