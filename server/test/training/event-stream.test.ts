/** Events of a job as server-sent events: in order, from the one after the last that was seen, to the job's end. */
import http, { type IncomingMessage } from "node:http"
import { once } from "node:events"
import type { AddressInfo } from "node:net"
import { afterAll, afterEach, beforeAll, expect, test } from "vitest"
import { untilCancelled, writeFakeCheckpoint } from "../../src/engines/fake-engine.ts"
import { moveFor } from "../../src/scheduler/job-states.ts"
import { appendEvents, failJob } from "../../src/storage/catalog/training/job-progress.ts"
import { event as wireEvent, eventPage } from "../../src/wire/training/job.ts"
import { groupsOf, newModel, openTrainingApp, type TrainingApp } from "../support/training-app.ts"

let opened: TrainingApp
let usual: TrainingApp["fake"]["handlers"]["train"]
beforeAll(async () => {
  opened = await openTrainingApp()
  usual = opened.fake.handlers.train
  await opened.app.server.listen({ host: "127.0.0.1", port: 0 })
})
afterEach(() => {
  if (usual !== undefined) opened.fake.handlers.train = usual
})
afterAll(() => opened.close())

const jobsPath = "/v1/preview/training-jobs"
const eventsPath = (id: string) => `${jobsPath}/${id}/events`

async function startJob(): Promise<string> {
  const { id: model_id } = await newModel(opened.acme)
  const { body } = await opened.acme.post(jobsPath, { model_id, trajectory_groups: groupsOf([0, 1]) })
  return (body as { id: string }).id
}

/** Makes the engine take one step, or end its job, each time a test says so. */
function stepwise() {
  let step = Promise.withResolvers<"step" | "end">()
  opened.fake.handlers.train = async (params, call) => {
    call.emit("training_started", { num_sequences: 9 })
    for (let number = 1; ; number++) {
      if ((await Promise.race([step.promise, untilCancelled(call)])) === "end")
        return writeFakeCheckpoint(params, number)
      step = Promise.withResolvers()
      call.emit("gradient_step", { number, metrics: { policy_loss: number } })
    }
  }
  return { do: (what: "step" | "end") => step.resolve(what) }
}

class Stream {
  readonly response: IncomingMessage
  text = ""
  closed = false

  constructor(response: IncomingMessage) {
    this.response = response
    response.setEncoding("utf8")
    response.on("data", (text: string) => (this.text += text))
    response.on("close", () => (this.closed = true))
  }

  get events() {
    return this.text
      .split("\n\n")
      .filter((part) => part.startsWith("id: "))
      .map((part) => {
        const [id, name, data] = part.split("\n").map((line) => line.slice(line.indexOf(":") + 2))
        const parsed = wireEvent.strict().parse(JSON.parse(data ?? ""))
        expect([id, name]).toEqual([parsed.id, parsed.type])
        return parsed
      })
  }

  async has(count: number) {
    await expect.poll(() => this.events.length, { timeout: 30_000, interval: 20 }).toBe(count)
    return this.events
  }

  leave() {
    this.response.destroy()
  }
}

const streams: Stream[] = []
afterAll(() => {
  for (const stream of streams) stream.leave()
})

async function follow(id: string, headers: Record<string, string> = {}, query = ""): Promise<Stream> {
  const { port } = opened.app.server.server.address() as AddressInfo
  const request = http.get({
    port,
    path: `${eventsPath(id)}${query}`,
    agent: false,
    headers: { authorization: `Bearer ${opened.acme.key}`, accept: "text/event-stream", ...headers },
  })
  const [response] = (await once(request, "response")) as [IncomingMessage]
  const stream = new Stream(response)
  streams.push(stream)
  return stream
}

async function listed(id: string) {
  return eventPage.parse((await opened.acme.get(`${eventsPath(id)}?limit=100`)).body).data
}

test("each event comes when it is stored, with the id and content of the list, and the stream ends with the job", async () => {
  const engine = stepwise()
  const id = await startJob()
  const stream = await follow(id)
  expect(stream.response.statusCode).toBe(200)
  expect(stream.response.headers).toMatchObject({
    "content-type": "text/event-stream; charset=utf-8",
    "cache-control": "no-cache, no-store",
  })
  expect((await stream.has(1)).map(({ type }) => type)).toEqual(["training_started"])
  engine.do("step")
  expect((await stream.has(2)).at(-1)).toMatchObject({ type: "gradient_step", data: { policy_loss: 1 } })
  expect(stream.closed).toBe(false)
  engine.do("end")
  await expect.poll(() => stream.closed, { timeout: 30_000 }).toBe(true)
  expect(stream.response.complete).toBe(true)
  expect(stream.text.startsWith("retry: 1000\n\n")).toBe(true)
  expect(stream.events).toEqual(await listed(id))
  expect(stream.events.at(-1)?.type).toBe("training_ended")

  // The stream of an ended job has all events after the given one, and ends.
  const [, second] = stream.events
  const rest = await follow(id, { "last-event-id": second?.id ?? "" })
  await expect.poll(() => rest.closed, { timeout: 30_000 }).toBe(true)
  expect(rest.events).toEqual(stream.events.slice(2))
  // A browser that reconnects repeats its address, so Last-Event-ID counts before `after`.
  const again = await follow(id, { "last-event-id": second?.id ?? "" }, `?after=${stream.events[0]?.id}`)
  await expect.poll(() => again.closed, { timeout: 30_000 }).toBe(true)
  expect(again.events).toEqual(stream.events.slice(2))
  const after = await follow(id, { "last-event-id": "" }, `?after=${stream.events[0]?.id}`)
  await expect.poll(() => after.closed, { timeout: 30_000 }).toBe(true)
  expect(after.events).toEqual(stream.events.slice(1))
})

test("whoever comes and goes at every event gets each one once", async () => {
  const engine = stepwise()
  const id = await startJob()
  const seen: string[] = []
  for (let round = 0; round < 4; round++) {
    const last = seen.at(-1)
    const stream = await follow(id, last === undefined ? {} : { "last-event-id": last })
    const [first] = await stream.has(1)
    seen.push(first?.id ?? "")
    stream.leave()
    engine.do("step")
    await expect.poll(async () => (await listed(id)).length, { timeout: 30_000 }).toBe(round + 2)
  }
  engine.do("end")
  const rest = await follow(id, { "last-event-id": seen.at(-1) ?? "" })
  await expect.poll(() => rest.closed, { timeout: 30_000 }).toBe(true)
  expect([...seen, ...rest.events.map((one) => one.id)]).toEqual((await listed(id)).map((one) => one.id))
})

test("a paused job sends nothing and keeps the stream open; one that is cancelled ends it", async () => {
  stepwise()
  const id = await startJob()
  const stream = await follow(id)
  await stream.has(1)
  await opened.acme.post(`${jobsPath}/${id}/pause`)
  await expect
    .poll(async () => (await opened.acme.get(`${jobsPath}/${id}`)).body, { timeout: 30_000 })
    .toMatchObject({ status: "paused" })
  expect([stream.closed, stream.events.length]).toEqual([false, 1])
  await opened.acme.post(`${jobsPath}/${id}/cancel`)
  await expect.poll(() => stream.closed, { timeout: 30_000 }).toBe(true)
  expect(stream.events.at(-1)).toMatchObject({ type: "training_failed", data: { error_message: "cancelled by acme" } })
})

test.each(["application/json", "application/json, text/event-stream", "*/*"])(
  "whoever accepts %s gets the page",
  async (accept) => {
    const id = await startJob()
    const stream = await follow(id, { accept })
    expect(stream.response.headers["content-type"]).toMatch("application/json")
  },
)

test("an id that is no event of this job, and a job of nobody's or of others: 404 before anything is sent", async () => {
  const [id, other] = [await startJob(), await startJob()]
  await expect.poll(async () => (await listed(other)).length, { timeout: 30_000 }).toBeGreaterThan(0)
  const [foreign] = await listed(other)
  for (const last of ["nonsense", "5f0c3a80-0000-4000-8000-000000000000", foreign?.id ?? ""]) {
    const stream = await follow(id, { "last-event-id": last })
    await expect.poll(() => stream.closed).toBe(true)
    expect([stream.response.statusCode, JSON.parse(stream.text)]).toEqual([
      404,
      { detail: `Last-Event-ID: "${last}" is no event of this job; without it all events come` },
    ])
  }
  const authorization = `Bearer ${opened.rival.key}`
  expect((await follow(id, { authorization })).response.statusCode).toBe(404)
  expect((await follow("nonsense")).response.statusCode).toBe(404)
})

test("a client that leaves, and a server that stops, end the stream: nothing holds up the end", async () => {
  stepwise()
  const id = await startJob()
  const left = await follow(id)
  await left.has(1)
  left.leave()
  const stays = await follow(id)
  await stays.has(1)
  // The server may take longer to stop than this test waits, but the stream ends at once, and its client reconnects.
  await opened.restart(600_000)
  await expect.poll(() => stays.closed).toBe(true)
  expect(stays.response.complete).toBe(true)
  await opened.app.server.listen({ host: "127.0.0.1", port: 0 })
  const back = await follow(id, { "last-event-id": stays.events.at(-1)?.id ?? "" })
  await opened.acme.post(`${jobsPath}/${id}/cancel`)
  await expect.poll(() => back.closed, { timeout: 30_000 }).toBe(true)
  expect(back.events.map(({ type }) => type)).toEqual(["training_failed"])
})

test("training-api 3.2: events that another server stores in the shared catalog come through this one", async () => {
  stepwise()
  const { id: model_id } = await newModel(opened.acme)
  const made = async () => {
    const { body } = await opened.acme.post(jobsPath, { model_id, trajectory_groups: groupsOf([0, 1]) })
    return (body as { id: string }).id
  }
  // The second job waits for the first, so that the test's own server does not run it.
  const [first, id] = [await made(), await made()]
  await opened.acme.post(`${jobsPath}/${first}/pause`)
  const { catalog } = opened.app.stores
  const lease = { jobId: id, owner: "another server" }
  await catalog
    .updateTable("training_jobs")
    .set({ status: "running", lease_owner: lease.owner, lease_expires_at: new Date(Date.now() + 3_600_000) })
    .where("id", "=", id)
    .execute()
  const stream = await follow(id)
  await appendEvents(catalog, lease, [{ sequence: 0, type: "training_started", data: { num_sequences: 2 } }])
  await stream.has(1)
  await appendEvents(catalog, lease, [{ sequence: 1, type: "gradient_step", data: { policy_loss: 1 } }])
  await stream.has(2)
  await failJob(catalog, moveFor("fail"), lease, "the disk of the other server is full")
  await expect.poll(() => stream.closed, { timeout: 30_000 }).toBe(true)
  expect(stream.events).toEqual(await listed(id))
  expect(stream.events.at(-1)?.data).toEqual({ error_message: "the disk of the other server is full" })
  await opened.acme.post(`${jobsPath}/${first}/cancel`)
})
