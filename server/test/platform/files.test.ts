import { readdir } from "node:fs/promises"
import path from "node:path"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { deletedFile, file as fileSchema, filePage } from "../../src/wire/platform/file.ts"
import type { Caller } from "../support/test-app.ts"
import { openTrainingApp, type TrainingApp } from "../support/training-app.ts"

let opened: TrainingApp
beforeAll(async () => (opened = await openTrainingApp({ maximumBodyBytes: 1024 * 1024 })))
afterAll(() => opened.close())

/** Uploads a file as `client.files.create(file=…, purpose="fine-tune")` of the openai packages does. */
async function upload(content: string, caller: Caller = opened.acme, filename = "train.jsonl") {
  const form = new FormData()
  form.set("purpose", "fine-tune")
  form.set("file", new Blob([content]), filename)
  const request = new Request("http://x", { method: "POST", body: form })
  return post(Buffer.from(await request.arrayBuffer()), request.headers.get("content-type") ?? "", caller)
}

function post(payload: Buffer, contentType: string, caller: Caller = opened.acme) {
  const headers = { authorization: `Bearer ${caller.key}`, "content-type": contentType }
  return opened.app.server.inject({ method: "POST", url: "/v1/files", headers, payload })
}

async function blobs(): Promise<string[]> {
  const entries = await readdir(path.join(opened.config.dataDir, "blobs"), { recursive: true, withFileTypes: true })
  return entries.filter((entry) => entry.isFile()).map((entry) => entry.name)
}

/** SHA-256 of "hello\n". */
const helloSha256 = "5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03"

describe("files in the shape of OpenAI's files API", () => {
  test("upload, read, list, download, delete", async () => {
    const made = await upload("hello\n")
    expect(made.statusCode).toBe(200)
    const record = fileSchema.strict().parse(made.json())
    expect(record).toMatchObject({ bytes: 6, filename: "train.jsonl", purpose: "fine-tune", object: "file" })
    expect(await opened.acme.get(`/v1/files/${record.id}`)).toMatchObject({ status: 200, body: record })
    expect(filePage.parse((await opened.acme.get("/v1/files")).body).data).toEqual([record])

    const content = await opened.acme.get(`/v1/files/${record.id}/content`)
    expect(content.body).toBe("hello\n")
    expect(content.headers).toMatchObject({
      "content-type": "application/octet-stream",
      "content-disposition": "attachment; filename*=UTF-8''train.jsonl",
      "x-content-type-options": "nosniff",
    })

    expect(await blobs()).toEqual([helloSha256])
    const deleted = await opened.acme.delete(`/v1/files/${record.id}`)
    expect(deletedFile.strict().parse(deleted.body)).toEqual({ id: record.id, object: "file", deleted: true })
    expect(await blobs()).toEqual([])
    expect((await opened.acme.get(`/v1/files/${record.id}`)).status).toBe(404)
    expect((await opened.acme.delete(`/v1/files/${record.id}`)).status).toBe(404)
  })

  test.each(["gzip", "zstd", "br"])(
    "a file comes with its length, as it is, to a client that takes %s",
    async (coding) => {
      const text = "the same line\n".repeat(1000)
      const { id } = (await upload(text)).json() as { id: string }
      const answer = await opened.app.server.inject({
        url: `/v1/files/${id}/content`,
        headers: { authorization: `Bearer ${opened.acme.key}`, "accept-encoding": coding },
      })
      expect(answer.headers).toMatchObject({ "content-length": "14000" })
      expect(answer.headers).not.toHaveProperty("content-encoding")
      expect(answer.payload).toBe(text)
      await opened.acme.delete(`/v1/files/${id}`)
    },
  )

  test("content that two uploads share lives until both are gone", async () => {
    const [first, second] = [(await upload("hello\n")).json(), (await upload("hello\n", opened.rival)).json()] as [
      { id: string },
      { id: string },
    ]
    await opened.acme.delete(`/v1/files/${first.id}`)
    expect((await opened.rival.get(`/v1/files/${second.id}/content`)).body).toBe("hello\n")
    await opened.rival.delete(`/v1/files/${second.id}`)
    expect(await blobs()).toEqual([])
  })

  test("another tenant neither reads, lists nor deletes it", async () => {
    const { id } = (await upload("secret")).json() as { id: string }
    for (const answer of [
      await opened.rival.get(`/v1/files/${id}`),
      await opened.rival.get(`/v1/files/${id}/content`),
      await opened.rival.delete(`/v1/files/${id}`),
      await opened.rival.get(`/v1/files?after=${id}`),
    ]) {
      expect(answer).toMatchObject({ status: 404, body: { error: { code: "not_found" } } })
    }
    expect((await opened.rival.get("/v1/files")).body).toMatchObject({ data: [] })
    await opened.acme.delete(`/v1/files/${id}`)
  })

  test("a name is only shown: paths and control characters do no harm", async () => {
    const { id, filename } = (await upload("x", opened.acme, "../../etc/pass\u0000wd")).json() as {
      id: string
      filename: string
    }
    expect(filename).toBe("passwd")
    expect(await blobs()).toHaveLength(1)
    await opened.acme.delete(`/v1/files/${id}`)
  })
})

describe("bad uploads leave nothing", () => {
  const boundary = "cut"
  const head = `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="a"\r\nContent-Type: text/plain\r\n\r\n`
  const multipart = `multipart/form-data; boundary=${boundary}`

  test.each([
    ["no multipart body", "{}", "application/json", 415],
    ["no boundary", "x", "multipart/form-data", 400],
    [
      "no part called file",
      `--${boundary}\r\nContent-Disposition: form-data; name="purpose"\r\n\r\nx\r\n--${boundary}--\r\n`,
      multipart,
      422,
    ],
    ["a body that ends inside the file", `${head}half of it`, multipart, 400],
    ["more than the limit", `${head}${"x".repeat(1024 * 1024)}\r\n--${boundary}--\r\n`, multipart, 413],
    [
      "more than the limit behind the file",
      `${head}x\r\n--${boundary}--\r\n${"y".repeat(1024 * 1024)}`,
      multipart,
      413,
    ],
  ])("%s", async (_, payload, contentType, status) => {
    const answer = await post(Buffer.from(payload), contentType)
    expect(answer.statusCode).toBe(status)
    expect(await blobs()).toEqual([])
    expect((await opened.acme.get("/v1/files")).body).toMatchObject({ data: [] })
  })
})
