/** The real engine downloads base models from a model hub, with Hugging Face's own client. */
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import path from "node:path"
import { afterEach, beforeEach, expect, test } from "vitest"
import { engineEnvironment } from "../../src/engine-environment.ts"
import { type ModelHub, openModelHub, shardedModel } from "../support/model-hub.ts"
import { openTestApp, type TestApp } from "../support/test-app.ts"

const engineFolder = path.resolve(import.meta.dirname, "../../../engine")
const python = process.env["HEDDLE_PYTHON"] ?? path.join(engineFolder, ".venv/bin/python")
const base = "weavers/small"
const shards = ["model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"]

let cache: string
let hub: ModelHub
let opened: TestApp
beforeEach(async () => {
  cache = await mkdtemp(path.join(tmpdir(), "heddle-hub-"))
  hub = await openModelHub(base, await shardedModel(path.join(engineFolder, "models/heddle-tiny")))
  opened = await open()
}, 60_000)
afterEach(async () => {
  await opened.close()
  await hub[Symbol.asyncDispose]()
  await rm(cache, { recursive: true, force: true })
})

/** Opens a new server whose engine uses the hub; the cache of downloads stays from one server to the next. */
const open = () =>
  openTestApp({
    engine: "process",
    python,
    engineEnvironment: { ...engineEnvironment(process.env), HF_HUB_OFFLINE: "0", HF_HOME: cache, ...hub.env },
  })

const register = () =>
  opened.admin.post("/v1/preview/models", { project: "p", name: `from-hub-${Math.random()}`, base_model: base })

const chat = (model: string) =>
  opened.admin.post("/v1/chat/completions", {
    model,
    messages: [{ role: "user", content: "hello" }],
    max_tokens: 2,
    temperature: 0,
  })

const weightsAsked = () => hub.asked.filter((file) => file.endsWith(".safetensors")).toSorted()

test("training-api 1.2: a model is registered on a base of the hub before its weights come, and chats wait for them", async () => {
  hub.setWeights("held back")
  expect(await register()).toMatchObject({ status: 200, body: { base_model: base } })
  expect(weightsAsked()).toEqual([])
  const waiting = chat(base)
  await expect.poll(weightsAsked, { timeout: 30_000 }).toEqual(shards)
  // Chats of another model are answered meanwhile.
  expect((await chat("heddle/tiny")).status).toBe(200)
  hub.setWeights("whole")
  const [fromHub, shipped] = [await waiting, await chat("heddle/tiny")]
  const said = (answer: { body: unknown }) =>
    (answer.body as { choices: [{ message: { content: string } }] }).choices[0].message.content
  expect([fromHub.status, said(fromHub)]).toEqual([200, said(shipped)])
}, 120_000)

test("weights whose download broke off are asked for again, and what came whole is not", async () => {
  hub.setWeights("broken off")
  expect((await register()).status).toBe(200)
  const failed = await chat(base)
  expect(failed.status).toBe(503)
  expect((failed.body as { error: { message: string } }).error.message).toContain(
    `Base model '${base}' is not whole in the Hugging Face cache (`,
  )
  await opened.close()
  hub.setWeights("whole")
  opened = await open()
  expect([(await register()).status, (await chat(base)).status]).toEqual([200, 200])
  const asked = hub.asked.length
  await opened.close()
  opened = await open()
  expect([(await register()).status, (await chat(base)).status]).toEqual([200, 200])
  expect(hub.asked.length).toBe(asked)
}, 180_000)

test("training-api 1.2: a model of the hub without safetensors is refused when it is registered", async () => {
  hub.remove(/safetensors/)
  const answer = await register()
  expect(answer.status).toBe(422)
  expect(JSON.stringify(answer.body)).toContain("has no model.safetensors. The engine reads safetensors weights only")
})
