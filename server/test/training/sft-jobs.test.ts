import { readFile } from "node:fs/promises"
import { createServer, type Server } from "node:https"
import type { AddressInfo } from "node:net"
import path from "node:path"
import tls from "node:tls"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { eventPage, job as jobSchema, storedJobConfig } from "../../src/wire/training/job.ts"
import { readMetrics } from "../support/metrics.ts"
import type { Caller } from "../support/test-app.ts"
import { newModel, openTrainingApp, type TrainingApp } from "../support/training-app.ts"

const url = "/v1/preview/sft-training-jobs"
const row = (content: string) =>
  JSON.stringify({
    messages: [
      { role: "user", content: "one plus one" },
      { role: "assistant", content },
    ],
  })
const rows = (count: number) => Array.from({ length: count }, (_, index) => row(`${index}`)).join("\n")

let opened: TrainingApp
let modelId: string
let site: Server
let siteUrl: string
const pages = new Map<string, { status?: number; headers?: Record<string, string>; body?: string }>()

beforeAll(async () => {
  const fixtures = path.join(import.meta.dirname, "../fixtures")
  // A self-signed certificate for localhost, which only this test trusts.
  const [cert, key] = await Promise.all(
    ["localhost.crt", "localhost.key"].map((name) => readFile(path.join(fixtures, name), "utf8")),
  )
  tls.setDefaultCACertificates([...tls.getCACertificates("default"), cert as string])
  site = createServer({ cert, key }, (request, response) => {
    const page = pages.get(request.url ?? "")
    response.writeHead(page?.status ?? (page === undefined ? 404 : 200), page?.headers).end(page?.body)
  })
  await new Promise<void>((resolve) => site.listen(0, "127.0.0.1", resolve))
  siteUrl = `https://localhost:${(site.address() as AddressInfo).port}`
  opened = await openTrainingApp({ fetchAllow: ["127.0.0.1", "::1"], maximumBodyBytes: 1024 * 1024 })
  modelId = (await newModel(opened.acme)).id
})
afterAll(async () => {
  await opened.close()
  site.close()
})

const create = (body: object, caller: Caller = opened.acme) => caller.post(url, { model_id: modelId, ...body })

async function upload(content: string, caller = opened.acme): Promise<string> {
  const form = new FormData()
  form.set("purpose", "fine-tune")
  form.set("file", new Blob([content]), "train.jsonl")
  const request = new Request("http://x", { method: "POST", body: form })
  const answer = await opened.app.server.inject({
    method: "POST",
    url: "/v1/files",
    headers: { authorization: `Bearer ${caller.key}`, "content-type": request.headers.get("content-type") as string },
    payload: Buffer.from(await request.arrayBuffer()),
  })
  expect(answer.statusCode).toBe(200)
  return (answer.json() as { id: string }).id
}

async function stored(answer: { status: number; body: unknown }) {
  expect(answer).toMatchObject({ status: 200 })
  const { id } = jobSchema.parse(answer.body)
  const found = await opened.app.stores.catalog
    .selectFrom("training_jobs")
    .selectAll()
    .where("id", "=", id)
    .executeTakeFirstOrThrow()
  const data = await readFile(path.join(opened.config.dataDir, found.data_path), "utf8")
  return { ...found, config: storedJobConfig.parse(found.config), data }
}

describe("training-api 2.5: data from an uploaded file", () => {
  test("by id, by heddle-file URI and by its address on this server", async () => {
    const content = rows(3)
    const id = await upload(content)
    for (const address of [
      id,
      `heddle-file:///${id}`,
      `http://localhost:80/v1/files/${id}`,
      `http://localhost/v1/files/${id}/content`,
    ]) {
      const job = await stored(await create({ training_data_url: address }))
      expect(job).toMatchObject({ kind: "sft", data: content })
      expect(job.config).toEqual({
        kind: "sft",
        engine: { batch_size: 2, learning_rate: 5e-5, assistant_turns: "all" },
        kl_reference: null,
      })
    }
  })

  test("somebody else's file does not exist", async () => {
    const id = await upload(rows(1), opened.rival)
    const { status, body } = await create({ training_data_url: id })
    expect(status).toBe(422)
    expect(body).toMatchObject({ detail: [{ loc: ["body", "training_data_url"] }] })
  })

  test("a byte order mark in front of a row, or alone in a line, is no part of the data", async () => {
    const job = await stored(
      await create({ training_data_url: await upload(`\uFEFF${row("a")}\r\n\uFEFF\r\n${row("b")}\n`) }),
    )
    expect(job).toMatchObject({ status: "queued", error_message: null })
  })

  test.each([
    ["not JSON", "{nope", "line 3 of the training data: not JSON"],
    ["no messages", "{}", "line 3 of the training data: messages: Field required"],
    ["an unknown role", '{"messages":[{"role":"robot","content":"x"}]}', "messages.0.role"],
    [
      "a last message that is not the assistant's",
      '{"messages":[{"role":"user","content":"x"}]}',
      "the last message must be the assistant's",
    ],
    ["a list", "[]", "line 3 of the training data: Invalid input: expected object, received array"],
    [
      "a number for a text",
      '{"messages":[{"role":"assistant","content":5}]}',
      "line 3 of the training data: messages.0.content: Invalid input: expected string or array, received number",
    ],
    [
      "a value nested deeper than the engine reads",
      `{"messages":[{"role":"assistant","content":"x","deep":${"[".repeat(1000)}${"]".repeat(1000)}}]}`,
      "line 3 of the training data: nested in more than 200 levels",
    ],
    ["U+0000 outside a string", '{"messages":\u0000', "line 3 of the training data: not JSON"],
  ])("%s: the job fails and names the line", async (_, bad, told) => {
    const answer = await create({ training_data_url: await upload(`${row("a")}\n\n${bad}\n`) })
    const job = await stored(answer)
    expect(job).toMatchObject({ status: "failed", error_message: expect.stringContaining(told) })
    const { body } = await opened.acme.get(`/v1/preview/training-jobs/${job.id}/events`)
    expect(eventPage.parse(body).data).toMatchObject([
      { type: "training_failed", data: { error_message: expect.stringContaining(told) } },
    ])
  })

  test("a large row is checked beside the event loop, which serves everybody", async () => {
    const finished = async () =>
      (await readMetrics(opened.admin)).get('heddle_queue_finished_total{queue="payload_threads",kind="heavy"}') ?? NaN
    const before = await finished()
    const large = row("x".repeat(200_000))
    const content = `${row("a")}\n${large}\n${large.replace("assistant", "robot")}\n`
    const job = await stored(await create({ training_data_url: await upload(content) }))
    expect(job.error_message).toMatch(/^line 3 of the training data: messages\.1\.role: /)
    expect(await finished()).toBe(before + 2)
  })

  test("a file without rows: 422", async () => {
    expect((await create({ training_data_url: await upload("\n  \n") })).status).toBe(422)
  })
})

describe("training-api 2.5: config", () => {
  test.each([
    [
      { batch_size: 4, learning_rate: 1e-4, assistant_turns: "last" },
      { batch_size: 4, learning_rate: 1e-4, assistant_turns: "last" },
    ],
    [
      { batch_size: "auto", learning_rate: [1e-4, 5e-5, 0] },
      { batch_size: 2, learning_rate: [1e-4, 5e-5, 0], assistant_turns: "all" },
    ],
    [
      { batch_size: null, learning_rate: null },
      { batch_size: 2, learning_rate: 5e-5, assistant_turns: "all" },
    ],
    [
      { metric_logging: { enabled: true, target_training_step: 1 } },
      { batch_size: 2, learning_rate: 5e-5, assistant_turns: "all" },
    ],
  ])("%j becomes %j", async (config, engine) => {
    const job = await stored(await create({ training_data_url: await upload(rows(5)), config }))
    expect(job.config.engine).toEqual(engine)
    expect(job.requested_config).toEqual({ config, experimental_config: null })
  })

  test("unknown settings are named in warnings", async () => {
    const body = { training_data_url: await upload(rows(1)), config: { seed: 7 }, experimental_config: { x: 1 } }
    expect((await stored(await create(body))).warnings).toEqual([
      "config.seed is not known here and has no effect",
      "experimental_config.x has no effect on SFT jobs",
    ])
  })

  test.each([
    [{ batch_size: 0 }, ["body", "config", "batch_size"]],
    [{ batch_size: "huge" }, ["body", "config", "batch_size"]],
    [{ learning_rate: -1 }, ["body", "config", "learning_rate"]],
    [{ learning_rate: [] }, ["body", "config", "learning_rate"]],
    [{ learning_rate: [1, 2, 3, 4] }, ["body", "config", "learning_rate"]],
    [{ learning_rate: [1, 2] }, ["body", "config", "learning_rate"]],
    [{ assistant_turns: "first" }, ["body", "config", "assistant_turns"]],
  ])("%j: 422", async (config, loc) => {
    const { status, body } = await create({ training_data_url: await upload(rows(6)), config })
    expect(status).toBe(422)
    expect((body as { detail: { loc: unknown }[] }).detail[0]?.loc).toEqual(loc)
  })

  test("training-api 7.5: batches of rows that may be too long for the model need no learning rate", async () => {
    const [short, long] = ["a".repeat(100), "a".repeat(2000)].map((content) =>
      JSON.stringify({ messages: [{ role: "assistant", content }] }),
    )
    const training_data_url = await upload([short, short, long, long, "", long, short].join("\n"))
    const attempt = async (learning_rate: number[]) =>
      (await create({ training_data_url, config: { learning_rate } })).status
    expect(await attempt([1, 1, 1])).toBe(200)
    expect(await attempt([1, 1])).toBe(200)
    expect(await attempt([1])).toBe(422)
    expect(await attempt([1, 1, 1, 1])).toBe(422)
  })

  test("a learning-rate list of the wrong length: 422 with the way out", async () => {
    const { body } = await create({ training_data_url: await upload(rows(6)), config: { learning_rate: [1, 2] } })
    expect((body as { detail: { msg: string }[] }).detail[0]?.msg).toBe(
      "2 values for 3 batches of 2; send one value per batch, or a single number",
    )
  })

  test("an unknown model: 404", async () => {
    expect((await create({ model_id: "nope", training_data_url: await upload(rows(1)) })).status).toBe(404)
  })
})

describe("training-api 2.5: data from an https address", () => {
  test("it is fetched, also over a redirect", async () => {
    pages.set("/train.jsonl", { body: rows(2) })
    pages.set("/moved", { status: 302, headers: { location: "/train.jsonl" } })
    for (const page of ["/train.jsonl", "/moved"]) {
      expect((await stored(await create({ training_data_url: siteUrl + page }))).data).toBe(rows(2))
    }
  })

  test.each([
    ["http://example.com/train.jsonl", "neither the id of a file"],
    ["ftp://example.com/x", "neither the id of a file"],
    ["file:///etc/passwd", "neither the id of a file"],
    ["https://10.0.0.1/x", "10.0.0.1 is not a public address"],
    ["https://169.254.169.254/latest/meta-data", "is not a public address"],
    ["https://[::ffff:10.0.0.1]/x", "is not a public address"],
    ["https://[fd00::1]/x", "is not a public address"],
    ["https://2130706434/x", "127.0.0.2 is not a public address"],
    ["wandb-artifact:///acme/tests/data:v0", "there is no artifact"],
    ["train.jsonl", "neither the id of a file"],
  ])("%s: 422", async (address, told) => {
    const { status, body } = await create({ training_data_url: address })
    expect(status).toBe(422)
    expect(body).toMatchObject({ detail: [{ loc: ["body", "training_data_url"], msg: expect.stringContaining(told) }] })
  })

  test.each([
    ["/absent", {}, "answered 404"],
    ["/inside", { status: 302, headers: { location: "https://10.0.0.1/" } }, "10.0.0.1 is not a public address"],
    ["/plain", { status: 302, headers: { location: "http://localhost/" } }, "is not https"],
    ["/loop", { status: 302, headers: { location: "/loop" } }, "more than 5 redirects"],
    ["/huge", { body: "x".repeat(1024 * 1024 + 1) }, "larger than 1048576 bytes"],
  ])("%s: 422 that says why", async (page, content, told) => {
    if (page !== "/absent") pages.set(page, content)
    const { status, body } = await create({ training_data_url: siteUrl + page })
    expect(status).toBe(422)
    expect(body).toMatchObject({ detail: [{ msg: expect.stringContaining(told) }] })
  })
})
