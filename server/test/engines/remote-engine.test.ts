/**
 * The whole server with an engine that others have started on another machine: what is trained there is the same, byte for
 * byte, and nothing is lost when the engine, the network or the server goes (laws 7 and 9).
 */
import { spawnSync } from "node:child_process"
import { createHash } from "node:crypto"
import { readdir } from "node:fs/promises"
import path from "node:path"
import { afterAll, beforeAll, expect, test, vi } from "vitest"
import { python, RemoteEngineProcess } from "../support/remote-engine.ts"
import {
  adapterOf,
  chat,
  ended,
  jobsPath,
  openServer,
  type OpenServer,
  patience,
  reached,
  readJob,
  startJob,
} from "../support/long-training.ts"
import { openTestApp, type TestApp } from "../support/test-app.ts"
import { newModel, trained } from "../support/training-app.ts"

let engine: RemoteEngineProcess
let opened: TestApp
/** SHA-256 of the adapter that an engine beside its server makes of `groups`. */
let expected: string
/** Of that step's weights, merged. */
let expectedMerged: string
beforeAll(async () => {
  engine = await RemoteEngineProcess.open()
  opened = await openTestApp({ engine: engine.settings() })
  const beside = await openServer({ HEDDLE_PYTHON: python })
  const { id } = await newModel(beside.acme)
  await ended(beside.acme, await startJob(beside.acme, id))
  expected = await adapterOf(beside, id)
  const { server, acme } = beside
  expectedMerged = await mergedWeights(async (url) => {
    const answer = await fetch(server.url + url, { headers: { authorization: `Bearer ${acme.key}` } })
    return Buffer.from(await answer.arrayBuffer())
  }, id)
  await beside.close()
}, 900_000)
afterAll(async () => {
  await opened.close()
  await engine.close()
})

const stepOf = (name: string, step: number, { entity } = opened.acme) =>
  `wandb-artifact:///${entity}/tests/${name}:step${step}`

test(
  "chats, trains as an engine beside the server does, and answers with the new step",
  { timeout: 300_000 },
  async () => {
    expect((await opened.acme.get("/v1/system-check")).body).toMatchObject({ gpu_queue: { success: true } })
    expect((await chat(opened.acme, "heddle/tiny")).status).toBe(200)
    const { id, name } = await newModel(opened.acme)
    const job = await startJob(opened.acme, id)
    await ended(opened.acme, job)
    expect(await adapterOf(opened, id)).toBe(expected)
    expect((await chat(opened.acme, stepOf(name, 1))).status).toBe(200)
    const record = await opened.acme.get(`${jobsPath}/${job}/trajectory-groups`)
    expect(record.body).toMatchObject({ state: "kept", summary: { trajectories: 120 } })
    const models = path.join(opened.config.dataDir, "checkpoints", id)
    expect(await readdir(models)).toEqual(["step_000001"])
    await vi.waitUntil(async () => (await readdir(path.join(engine.folder, "data/jobs"))).length === 0, patience)
  },
)

test("an engine that has lost all its files gets those that are asked for", { timeout: 900_000 }, async () => {
  const { id, name } = await newModel(opened.acme)
  await trained(opened.acme, id)
  const asked = {
    model: stepOf(name, 1),
    messages: [{ role: "user", content: "hello" }],
    max_tokens: 4,
    temperature: 0,
  }
  const before = await opened.acme.post("/v1/chat/completions", asked)
  await engine.end("SIGTERM")
  await engine.forgetEverything()
  await engine.start()
  await vi.waitUntil(async () => (await chat(opened.acme, "heddle/tiny")).status === 200, patience)
  const after = await opened.acme.post("/v1/chat/completions", asked)
  const said = ({ body }: typeof after) => (body as { choices: { token_ids: number[] }[] }).choices[0]?.token_ids
  expect(after.status).toBe(200)
  expect(said(after)).toEqual(said(before))
  await trained(opened.acme, id)
  expect((await chat(opened.acme, stepOf(name, 2))).status).toBe(200)
  const { body } = await opened.acme.get(`${jobsPath}?model_id=${id}`)
  const events = await opened.acme.get(`${jobsPath}/${(body as { data: { id: string }[] }).data[0]?.id}/events`)
  expect(JSON.stringify(events.body)).not.toContain("starts afresh")
})

test("law 7: kill -9 of the engine during a job; with the next one it goes on", { timeout: 900_000 }, async () => {
  const { id } = await newModel(opened.acme)
  const job = await startJob(opened.acme, id)
  await reached(opened.acme, job, 5)
  await engine.end("SIGKILL")
  const refused = await vi.waitUntil(async () => {
    const answer = await chat(opened.acme, "heddle/tiny")
    return answer.status === 503 && answer
  }, patience)
  expect(Number(refused.headers["retry-after"])).toBeGreaterThan(0)
  expect(JSON.stringify(refused.body)).toContain("cannot reach the engine at tls://127.0.0.1:")
  const check = await opened.acme.get("/v1/system-check")
  expect(check.status).toBe(503)
  expect(JSON.stringify(check.body)).toContain("cannot reach the engine at tls://127.0.0.1:")
  await engine.start()
  await ended(opened.acme, job)
  expect(await adapterOf(opened, id)).toBe(expected)
})

test("law 7: the network is cut during a job; when it is back the job goes on", { timeout: 900_000 }, async () => {
  const { id } = await newModel(opened.acme)
  const job = await startJob(opened.acme, id)
  await reached(opened.acme, job, 5)
  engine.network.cut()
  await vi.waitUntil(async () => (await chat(opened.acme, "heddle/tiny")).status === 503, patience)
  expect(await readJob(opened.acme, job)).toMatchObject({ ended_at: null })
  engine.network.mend()
  await ended(opened.acme, job)
  expect(await adapterOf(opened, id)).toBe(expected)
})

test(
  "law 7: the connection breaks while a checkpoint is fetched; it is fetched again",
  { timeout: 300_000 },
  async () => {
    const plain = await RemoteEngineProcess.open({ isTls: false })
    const app = await openServer(plain.environment())
    try {
      const { id, name } = await newModel(app.acme)
      const job = await startJob(app.acme, id)
      await reached(app.acme, job, 1)
      plain.network.cutAfter('"file.get"')
      await vi.waitUntil(async () => (await chat(app.acme, "heddle/tiny")).status === 503, patience)
      expect(await readJob(app.acme, job)).toMatchObject({ ended_at: null })
      plain.network.mend()
      await ended(app.acme, job)
      expect(await adapterOf(app, id)).toBe(expected)
      expect((await chat(app.acme, stepOf(name, 1, app.acme))).status).toBe(200)
    } finally {
      await app.close()
      await plain.close()
    }
  },
)

test("law 7: the server is started again during a job, which goes on", { timeout: 900_000 }, async () => {
  const { id } = await newModel(opened.acme)
  const job = await startJob(opened.acme, id)
  await reached(opened.acme, job, 5)
  await opened.restart()
  await ended(opened.acme, job)
  expect(await adapterOf(opened, id)).toBe(expected)
})

test("two servers use one engine", { timeout: 900_000 }, async () => {
  const other = await openServer(engine.environment())
  try {
    const apps: OpenServer[] = [opened, other]
    const made = await Promise.all(apps.map(async ({ acme }) => ({ acme, model: await newModel(acme) })))
    await Promise.all(made.map(async ({ acme, model }) => ended(acme, await startJob(acme, model.id))))
    for (const [place, { acme, model }] of made.entries()) {
      expect(await adapterOf(apps[place] ?? opened, model.id)).toBe(expected)
      expect((await chat(acme, stepOf(model.name, 1, acme))).status).toBe(200)
    }
  } finally {
    await other.close()
  }
  expect((await chat(opened.acme, "heddle/tiny")).status).toBe(200)
})

test(
  "law 9: a server with another token, or without the authority's certificate, gets nothing",
  { timeout: 120_000 },
  async () => {
    const wrong = [
      [{ tokenFile: path.join(engine.folder, "wrong-token") }, "refuses the token in HEDDLE_ENGINE_TOKEN_FILE"],
      [{ caFile: null }, "HEDDLE_ENGINE_CA_FILE names the one that has"],
    ] as const
    for (const [changes, reason] of wrong) {
      const app = await openServer(engine.environment(changes))
      try {
        const refused = await vi.waitUntil(async () => {
          const answer = await chat(app.acme, "heddle/tiny")
          return answer.status === 503 && answer
        }, patience)
        expect(JSON.stringify(refused.body)).toContain(reason)
        expect(Number(refused.headers["retry-after"])).toBeGreaterThan(0)
        const check = await app.acme.get("/v1/system-check")
        expect(check).toMatchObject({ status: 503, body: { gpu_queue: { success: false } } })
        expect(JSON.stringify(check.body)).toContain(reason)
        const { id } = await newModel(app.acme)
        const job = await startJob(app.acme, id)
        expect(await readJob(app.acme, job)).toMatchObject({ status: "queued", ended_at: null })
      } finally {
        await app.close()
      }
    }
    expect(engine.log).toContain("did not show the engine's token")
  },
)

test("a step is exported there as by an engine beside the server, and an adapter imported", async () => {
  const { id } = await newModel(opened.acme)
  await ended(opened.acme, await startJob(opened.acme, id))
  expect(await mergedWeights(answered, id)).toBe(expectedMerged)
  expect((await answered(downloadOf(id, "gguf"))).toString("latin1", 0, 4)).toBe("GGUF")
  const other = await newModel(opened.acme)
  const imported = await opened.app.server.inject({
    method: "POST",
    url: `/v1/preview/models/${other.id}/checkpoints`,
    headers: { authorization: `Bearer ${opened.acme.key}`, "content-type": "application/x-tar" },
    payload: await answered(downloadOf(id, "peft")),
  })
  expect(imported).toMatchObject({ statusCode: 200 })
  expect(await mergedWeights(answered, other.id)).toBe(expectedMerged)
  expect(await readdir(path.join(engine.folder, "data/making"))).toEqual([])
}, 900_000)

const downloadOf = (id: string, format: string) => `/v1/preview/models/${id}/checkpoints/1/download?format=${format}`

/** What the server with the engine elsewhere answers. */
async function answered(url: string): Promise<Buffer> {
  const { statusCode, rawPayload } = await opened.app.server.inject({
    url,
    headers: { authorization: `Bearer ${opened.acme.key}` },
  })
  expect(statusCode).toBe(200)
  return rawPayload
}

/** SHA-256 of the weights of the step, merged into those of its base model. `get` reads an address of the server. */
async function mergedWeights(get: (url: string) => Promise<Buffer>, id: string): Promise<string> {
  const input = await get(downloadOf(id, "merged"))
  const only = ["-xO", "--wildcards", "*/model.safetensors"]
  const { stdout, status } = spawnSync("tar", only, { input, maxBuffer: 64 * 1024 ** 2 })
  expect([status, stdout.length > 1_000_000]).toEqual([0, true])
  return createHash("sha256").update(stdout).digest("hex")
}

test("a base model is looked for in the folders that the engine names, and nowhere else", async () => {
  const make = (base_model: string) =>
    opened.admin.post("/v1/preview/models", { project: "tests", name: "in-a-folder", base_model })
  const refused = await make("/etc")
  expect(refused.status).toBe(422)
  expect(JSON.stringify(refused.body)).toContain("in those that the engine reads models from")
})
