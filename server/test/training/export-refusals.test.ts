/**
 * Exports of checkpoints that are refused, or whose engine, client or checkpoint goes meanwhile, by the fake engine.
 */
import { execFile } from "node:child_process"
import { once } from "node:events"
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import path from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { promisify } from "node:util"
import { afterAll, beforeAll, beforeEach, expect, test, vi } from "vitest"
import { EngineFailure } from "../../src/engines/engine.ts"
import { type FakeHandler, untilCancelled } from "../../src/engines/fake-engine.ts"
import { defaultLimits } from "../../src/limits.ts"
import type { Caller } from "../support/test-app.ts"
import { newModel, openTrainingApp, trained, type TrainingApp } from "../support/training-app.ts"
import { setRoom } from "../support/team-room.ts"

const command = path.resolve(import.meta.dirname, "../../../scripts/heddle.mjs")
const maximumBytes = 1000

let opened: TrainingApp
let url: string
let modelId: string
let name: string
beforeAll(async () => {
  opened = await openTrainingApp({ limits: { ...defaultLimits, checkpoint_export_bytes: maximumBytes } })
  url = await opened.app.server.listen({ port: 0, host: "127.0.0.1" })
  const model = await newModel(opened.acme)
  modelId = model.id
  name = model.name
  await trained(opened.acme, modelId)
})
afterAll(() => opened.close())

/** A handler by which the fake engine writes an export of so many bytes. */
const writing =
  (sizeBytes: number): FakeHandler<"checkpoint.export"> =>
  async ({ output }, { emit, cancelled }) => {
    emit("planned", { size_bytes: sizeBytes })
    // Waits for the server, which cancels an export whose planned size it refuses.
    await Promise.race([once(cancelled, "abort"), sleep(50)])
    if (cancelled.aborted) throw new EngineFailure("cancelled", "cancelled")
    await writeFile(output.path, "x".repeat(sizeBytes))
    return { size_bytes: sizeBytes }
  }

beforeEach(() => {
  opened.fake.handlers["checkpoint.export"] = writing(10)
  opened.fake.calls.length = 0
})

const callsOf = (wanted: string) => opened.fake.calls.filter(({ method }) => method === wanted).length
const exportsMade = () => callsOf("checkpoint.export")
const pathOf = (query: string, step: number | string = 1, model = modelId) =>
  `/v1/preview/models/${model}/checkpoints/${step}/download?${query}`
const ask = (query: string, step: number | string = 1, caller: Caller = opened.acme) => caller.get(pathOf(query, step))
const filesLeft = () =>
  readdir(path.join(opened.config.dataDir, "checkpoint-exports")).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return []
    throw error
  })
/** Makes a model with one step; `remove` deletes it with its exports. */
async function anotherStep(): Promise<{ path: (query: string) => string; remove: () => Promise<void> }> {
  const { id } = await newModel(opened.acme)
  await trained(opened.acme, id)
  opened.fake.calls.length = 0
  const remove = async () => {
    await opened.acme.delete(`/v1/preview/models/${id}`)
    await vi.waitUntil(async () => (await filesLeft()).length === 0)
  }
  return { path: (query) => pathOf(query, 1, id), remove }
}

test("a format or dtype that there is not is named with those that there are", async () => {
  const unknown = await ask("format=onnx")
  expect(unknown).toMatchObject({ status: 422, body: { detail: [{ loc: ["query", "format"] }] } })
  expect(JSON.stringify(unknown.body)).toContain("gguf")
  expect(await ask("format=gguf&dtype=int4")).toMatchObject({
    status: 422,
    body: { detail: [{ loc: ["query", "dtype"] }] },
  })
  expect(await ask("dtype=float16")).toMatchObject({
    status: 422,
    body: { detail: [{ loc: ["query", "dtype"], msg: expect.stringContaining("choose format merged or gguf") }] },
  })
  expect(exportsMade()).toBe(0)
})

test("a step that there is not, and a model of another team, are not found; nothing is made for them", async () => {
  expect(await ask("format=gguf", 7)).toMatchObject({
    status: 404,
    body: { detail: `no step 7 of the model "${name}": its newest step so far is 1` },
  })
  expect((await ask("format=merged", 1, opened.rival)).status).toBe(404)
  expect(exportsMade()).toBe(0)
})

test("a refusal of the engine comes with its reason, and the next request asks the engine again", async () => {
  const step = await anotherStep()
  opened.fake.handlers["checkpoint.export"] = () => {
    throw new EngineFailure("invalid", "its tokenizer is SentencePiece", "format")
  }
  const refused = await opened.acme.get(step.path("format=gguf"))
  expect(refused).toMatchObject({ status: 400, body: { detail: "its tokenizer is SentencePiece" } })
  opened.fake.handlers["checkpoint.export"] = writing(10)
  expect((await opened.acme.get(step.path("format=gguf"))).status).toBe(200)
  expect(exportsMade()).toBe(2)
  await step.remove()
})

test("more bytes than exports may take is refused before anything is written; older ones give way", async () => {
  const step = await anotherStep()
  opened.fake.handlers["checkpoint.export"] = writing(1001)
  const refused = await opened.acme.get(step.path("format=gguf"))
  expect(refused.status).toBe(413)
  expect(JSON.stringify(refused.body)).toContain("about 1001 bytes")
  expect(JSON.stringify(refused.body)).toContain("HEDDLE_LIMIT_CHECKPOINT_EXPORT_BYTES")
  expect([await filesLeft(), callsOf("chat.cancel")]).toEqual([[], 1])
  opened.fake.handlers["checkpoint.export"] = writing(600)
  for (const dtype of ["float32", "float16"]) {
    expect((await opened.acme.get(step.path(`format=gguf&dtype=${dtype}`))).status).toBe(200)
  }
  expect((await filesLeft()).length).toBe(1)
  await step.remove()
})

test("a team without room is told so before anything is written", async () => {
  const quota = (bytes: number | null) => setRoom(opened.admin, bytes)
  const step = await anotherStep()
  await quota(1)
  const refused = await opened.acme.get(step.path("format=gguf"))
  expect(refused.status).toBe(403)
  expect([await filesLeft(), callsOf("chat.cancel")]).toEqual([[], 1])
  await quota(null)
  await step.remove()
})

test("an engine that is killed while it writes: 503, and nothing is left", async () => {
  const writes = Promise.withResolvers<void>()
  opened.fake.handlers["checkpoint.export"] = async ({ output }, call) => {
    await writeFile(`${output.path}.part`, "half")
    writes.resolve()
    return untilCancelled(call)
  }
  const asked = ask("format=merged")
  await writes.promise
  opened.fake.die()
  expect(await asked).toMatchObject({ status: 503, body: { detail: expect.stringContaining("try it again") } })
  expect(await filesLeft()).toEqual([])
})

test("an export that nobody waits for ends in the engine when its checkpoint is deleted", async () => {
  const step = await anotherStep()
  const writes = Promise.withResolvers<void>()
  const ended = Promise.withResolvers<void>()
  opened.fake.handlers["checkpoint.export"] = async (_params, call) => {
    writes.resolve()
    return untilCancelled(call).finally(() => ended.resolve())
  }
  const left = new AbortController()
  const headers = { authorization: `Bearer ${opened.acme.key}` }
  const download = fetch(url + step.path("format=merged"), { headers, signal: left.signal })
  await writes.promise
  left.abort()
  await expect(download).rejects.toThrow("abort")
  await step.remove()
  await ended.promise
})

test("training-api 4.3: a checkpoint that is deleted takes its exports with it", async () => {
  const { id } = await newModel(opened.acme)
  await trained(opened.acme, id)
  expect((await opened.acme.get(pathOf("format=gguf", 1, id))).status).toBe(200)
  expect((await filesLeft()).length).toBe(1)
  await opened.acme.delete(`/v1/preview/models/${id}/checkpoints`, { steps: [1] })
  await vi.waitUntil(async () => (await filesLeft()).length === 0)
  expect((await opened.acme.get(pathOf("format=gguf", 1, id))).status).toBe(404)
})

test("the command writes the export of a named model's step as a file, or says in a sentence why not", async () => {
  const folder = await mkdtemp(path.join(tmpdir(), "heddle-export-command-"))
  const env = { ...process.env, HEDDLE_URL: url, HEDDLE_API_KEY: opened.acme.key }
  const named = ["export", "--what", "checkpoint", "--project", "acme/tests", "--name"]
  const heddle = (...args: string[]) => promisify(execFile)(process.execPath, [command, ...args], { cwd: folder, env })
  const { stdout } = await heddle(...named, name, "--out", "model.gguf", "--dtype", "float16")
  expect([stdout, await readFile(path.join(folder, "model.gguf"), "utf8")]).toEqual([
    "model.gguf: 10 bytes\n",
    "x".repeat(10),
  ])
  expect(opened.fake.calls.at(-1)?.params).toMatchObject({ format: "gguf", dtype: "float16", title: `${name}-step1` })
  const wrong: [string[], string][] = [
    [["nobody", "--out", "x.gguf"], '--name is "nobody": acme/tests has no such model'],
    [[name, "--out", "x.tar", "--format", "onnx"], '--format is "onnx": choose one of peft, merged, gguf'],
    [[name, "--out", "x.gguf", "--step", "9"], "no step 9 of the model"],
    [[name], "--out is missing"],
  ]
  for (const [args, reason] of wrong) await expect(heddle(...named, ...args)).rejects.toThrow(reason)
  expect(await readdir(folder)).toEqual(["model.gguf"])
  await rm(folder, { recursive: true })
})

test("requests for the same export share one, whole or in ranges; a start removes it, and what a kill left", async () => {
  const [one, two] = await Promise.all([ask("format=gguf"), ask("format=gguf", "latest")])
  expect([one.status, two.status, exportsMade()]).toEqual([200, 200, 1])
  const range = await opened.app.server.inject({
    url: pathOf("format=gguf"),
    headers: { authorization: `Bearer ${opened.acme.key}`, range: "bytes=2-4" },
  })
  expect([range.statusCode, range.body, range.headers["content-range"]]).toEqual([206, "xxx", "bytes 2-4/10"])
  expect(exportsMade()).toBe(1)
  await opened.restart()
  expect(await filesLeft()).toEqual([])
  const left = path.join(opened.config.dataDir, "checkpoint-exports/left-by-a-kill")
  await mkdir(left, { recursive: true })
  await writeFile(path.join(left, "model.gguf.part"), "half")
  await opened.restart()
  expect(await filesLeft()).toEqual([])
})
