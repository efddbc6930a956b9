/** After clients went away in the middle of a body, the server lives on and has kept nothing of it. */
import { readdir } from "node:fs/promises"
import { connect } from "node:net"
import path from "node:path"
import { gzipSync } from "node:zlib"
import { afterAll, beforeAll, expect, test } from "vitest"
import { groupsOf, newModel, openTrainingApp, type TrainingApp } from "../support/training-app.ts"

let opened: TrainingApp
let address: URL
let modelId: string
beforeAll(async () => {
  opened = await openTrainingApp()
  modelId = (await newModel(opened.acme)).id
  address = new URL(await opened.app.server.listen({ host: "127.0.0.1", port: 0 }))
})
afterAll(() => opened.close())

async function filesLeft(): Promise<string[]> {
  const entries = await readdir(path.join(opened.config.dataDir, "blobs"), { recursive: true, withFileTypes: true })
  return entries.filter((entry) => entry.isFile()).map((entry) => entry.name)
}

/** Announces the body's whole length, sends half of it and closes the connection. */
async function sendHalf(url: string, headers: Record<string, string>, body: Buffer): Promise<void> {
  const socket = connect(Number(address.port), address.hostname)
  const lines = {
    host: address.host,
    authorization: `Bearer ${opened.acme.key}`,
    "content-length": `${body.length}`,
    ...headers,
  }
  const head = Object.entries(lines).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.write(`POST ${url} HTTP/1.1\r\n${head.join("")}\r\n`)
  socket.write(body.subarray(0, body.length / 2))
  await new Promise((resolve) => setTimeout(resolve, 200))
  socket.destroy()
}

const json = { "content-type": "application/json" }

test.each([
  ["an RL job", () => ({ url: "/v1/preview/training-jobs", headers: json, body: rlBody() })],
  [
    "an RL job in gzip",
    () => ({
      url: "/v1/preview/training-jobs",
      headers: { ...json, "content-encoding": "gzip" },
      body: gzipSync(rlBody()),
    }),
  ],
  ["a log", () => ({ url: `/v1/preview/models/${modelId}/log`, headers: json, body: rlBody() })],
  [
    "an upload",
    () => ({ url: "/v1/files", headers: { "content-type": "multipart/form-data; boundary=cut" }, body: formBody() }),
  ],
  ["a model", () => ({ url: "/v1/preview/models", headers: json, body: Buffer.from('{"project":"p","name":"half"}') })],
])("%s", async (_, request) => {
  const { url, headers, body } = request()
  await sendHalf(url, headers, body)
  await expect.poll(filesLeft, { timeout: 20_000 }).toEqual([])
  expect((await fetch(new URL("/v1/health", address))).status).toBe(200)
  expect(await opened.app.stores.catalog.selectFrom("training_jobs").select("id").execute()).toEqual([])
})

test("afterwards a whole body is taken as ever", async () => {
  const { status } = await opened.acme.post("/v1/preview/training-jobs", {
    model_id: modelId,
    trajectory_groups: groupsOf([0, 1]),
  })
  expect(status).toBe(200)
})

function rlBody(): Buffer {
  const groups = Array.from({ length: 50 }, () => groupsOf([0, 1])[0])
  return Buffer.from(JSON.stringify({ model_id: modelId, trajectory_groups: groups }))
}

function formBody(): Buffer {
  const head = '--cut\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n'
  return Buffer.from(`${head}${"x".repeat(100_000)}\r\n--cut--\r\n`)
}
