/** Downloads of checkpoints: as a tar file, and file by file. */
import { execFile } from "node:child_process"
import { access, mkdtemp, readFile, rm, truncate, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import path from "node:path"
import { promisify } from "node:util"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { checkpointFiles } from "../../src/wire/training/checkpoint.ts"
import type { Caller } from "../support/test-app.ts"
import { newModel, openTrainingApp, trained, type TrainingApp } from "../support/training-app.ts"

const run = promisify(execFile)

let folder: string
let opened: TrainingApp
let url: string
let modelId: string
let name: string
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "heddle-checkpoint-files-"))
  opened = await openTrainingApp()
  url = await opened.app.server.listen({ port: 0, host: "127.0.0.1" })
  const model = await newModel(opened.acme)
  modelId = model.id
  name = model.name
  for (const _ of [1, 2]) await trained(opened.acme, modelId)
})
afterAll(async () => {
  await opened.close()
  await rm(folder, { recursive: true, force: true })
})

const pathOf = (step: number | string, rest: string, model = modelId) =>
  `/v1/preview/models/${model}/checkpoints/${step}/${rest}`
const fetchAs = (caller: Caller, target: string, init: { method?: string; headers?: Record<string, string> } = {}) =>
  fetch(url + target, { ...init, headers: { authorization: `Bearer ${caller.key}`, ...init.headers } })

const config = "{}"
const weights = (step: number) => `weights of ${modelId}@${step}`

describe("file by file", () => {
  test("the list has names, sizes and digests, of a step or of the newest", async () => {
    const listed = { object: "list", step: 2, data: [{ filename: "adapter_config.json", size_bytes: 2 }, {}] }
    const { status, body } = await opened.acme.get(pathOf("latest", "files"))
    expect([status, checkpointFiles.strict().parse(body)]).toMatchObject([200, listed])
    expect(checkpointFiles.parse(body).data).toMatchObject([
      { sha256: "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a" },
      { filename: "adapter_model.safetensors", size_bytes: weights(2).length },
    ])
    expect((await opened.acme.get(pathOf(1, "files"))).body).toMatchObject({ step: 1 })
  })

  test("each file whole, its head alone, and a range of it", async () => {
    const target = pathOf(1, "files/adapter_model.safetensors")
    const whole = await fetchAs(opened.acme, target)
    expect([whole.status, await whole.text()]).toEqual([200, weights(1)])
    const length = `${weights(1).length}`
    const head = await fetchAs(opened.acme, target, { method: "HEAD" })
    for (const { headers } of [whole, head]) {
      expect(Object.fromEntries(headers)).toMatchObject({
        "content-length": length,
        "content-type": "application/octet-stream",
        "content-disposition": 'attachment; filename="adapter_model.safetensors"',
        "accept-ranges": "bytes",
        "cache-control": "no-store",
      })
    }
    expect([head.status, await head.text()]).toEqual([200, ""])
    const range = await fetchAs(opened.acme, target, { headers: { range: "bytes=3-9" } })
    expect([range.status, await range.text()]).toEqual([206, weights(1).slice(3, 10)])
    expect(range.headers.get("content-range")).toBe(`bytes 3-9/${length}`)
    const beyond = await fetchAs(opened.acme, target, { headers: { range: "bytes=9999-" } })
    expect(beyond.status).toBe(416)
    const other = await fetchAs(opened.acme, pathOf(1, "files/adapter_config.json"))
    expect([other.status, await other.text()]).toEqual([200, config])
  })

  test.each(["manifest.json", "optimizer.safetensors", "..%2f..%2fserver_secret", "adapter_config.json%00"])(
    "%s is none of them: 404",
    async (file) => {
      expect((await opened.acme.get(pathOf(1, `files/${file}`))).status).toBe(404)
    },
  )
})

describe("as a tar file", () => {
  test("tar unpacks it to a folder of the model's name and step; its length is told before it comes", async () => {
    const answer = await fetchAs(opened.acme, pathOf("latest", "download"))
    const archive = Buffer.from(await answer.arrayBuffer())
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      "content-type": "application/x-tar",
      "content-length": `${archive.length}`,
      "content-disposition": `attachment; filename="${name}-step2.tar"`,
    })
    await writeFile(path.join(folder, "two.tar"), archive)
    const { stdout } = await run("tar", ["-xvf", "two.tar"], { cwd: folder })
    const paths = [`${name}-step2/adapter_config.json`, `${name}-step2/adapter_model.safetensors`]
    expect(stdout.trim().split("\n")).toEqual(paths)
    const content = await Promise.all(paths.map((file) => readFile(path.join(folder, file), "utf8")))
    expect(content).toEqual([config, weights(2)])

    const head = await fetchAs(opened.acme, pathOf(2, "download"), { method: "HEAD" })
    expect([head.status, head.headers.get("content-length"), await head.text()]).toEqual([200, `${archive.length}`, ""])
  })

  test("training-api 4.3: deleted while it is downloaded, a checkpoint still comes whole, and then its files go", async () => {
    const { id } = await newModel(opened.acme)
    await trained(opened.acme, id)
    const stored = path.join(opened.config.dataDir, `checkpoints/${id}/step_000001`)
    const file = path.join(stored, "adapter_model.safetensors")
    // Larger than the buffers of sockets, so that the file is sent only while the client reads.
    await truncate(file, 32 * 1024 * 1024)
    const answer = await fetchAs(opened.acme, pathOf(1, "download", id))
    const reader = answer.body?.getReader()
    let bytes = (await reader?.read())?.value?.length ?? 0
    const deleted = await opened.acme.delete(`/v1/preview/models/${id}/checkpoints`, { steps: [1] })
    expect(deleted.body).toMatchObject({ deleted_count: 1 })
    expect((await opened.acme.get(pathOf(1, "download", id))).status).toBe(404)
    await access(file)
    for (;;) {
      const next = await reader?.read()
      if (next?.value === undefined) break
      bytes += next.value.length
    }
    expect(`${bytes}`).toBe(answer.headers.get("content-length"))
    const isThere = () =>
      access(stored).then(
        () => true,
        () => false,
      )
    await expect.poll(isThere, { timeout: 30_000 }).toBe(false)
  })
})

test("a checkpoint that is missing or another team's is 404; a step that is none is 422", async () => {
  for (const rest of ["files", "files/adapter_config.json", "download"]) {
    expect((await opened.rival.get(pathOf(1, rest))).status).toBe(404)
    expect((await opened.acme.get(pathOf(1, rest, "5f0c3a80-0000-4000-8000-000000000000"))).status).toBe(404)
    expect(await opened.acme.get(pathOf(7, rest))).toMatchObject({
      status: 404,
      body: { detail: `no step 7 of the model "${name}": its newest step so far is 2` },
    })
    expect((await opened.acme.get(pathOf("9999999999", rest))).status).toBe(404)
    expect(await opened.acme.get(pathOf(0, rest))).toMatchObject({
      status: 404,
      body: { detail: expect.stringContaining("it answers as the base model heddle/tiny") },
    })
    for (const step of ["-1", "1.5", "newest", "1%2f.."]) {
      expect((await opened.acme.get(pathOf(step, rest))).status).toBe(422)
    }
  }
})
