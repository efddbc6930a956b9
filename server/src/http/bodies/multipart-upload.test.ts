/** Forms that break off, or have files where none is looked for. */
import type { FastifyInstance } from "fastify"
import type { Readable } from "node:stream"
import { text } from "node:stream/consumers"
import { afterAll, beforeAll, expect, test } from "vitest"
import { z } from "zod"
import { readUpload } from "./multipart-upload.ts"
import { registerRoutes } from "../register-routes.ts"
import { route } from "../route.ts"
import { createHttpServer } from "../server.ts"

const upload = route({
  access: "public",
  dialect: "reason",
  summary: "",
  tag: "",
  method: "POST",
  path: "/upload",
  schemas: {},
  streamsBody: true,
  response: z.unknown(),
  handle: async ({ request, held }) => {
    const keeper = { store: (content: Readable) => text(content), discard: async () => undefined }
    const { stored, fields } = await readUpload(request.raw, { maximumBytes: 1_000_000, held }, keeper)
    return { stored, fields: Object.fromEntries(fields) }
  },
})

let server: FastifyInstance
let url: string
beforeAll(async () => {
  server = await createHttpServer({ logLevel: "silent", prefix: null })
  registerRoutes(server, [upload], async () => null)
  url = `${await server.listen({ host: "127.0.0.1", port: 0 })}/upload`
})
afterAll(() => server.close())

const part = (name: string, content: string) =>
  `--cut\r\nContent-Disposition: form-data; name="${name}"; filename="a"\r\n\r\n${content}`

async function post(body: string) {
  const headers = { "content-type": "multipart/form-data; boundary=cut" }
  const answer = await fetch(url, { method: "POST", headers, body })
  return { status: answer.status, body: (await answer.json()) as object }
}

test("the part named file is kept, others are fields", async () => {
  const field = '--cut\r\nContent-Disposition: form-data; name="project_id"\r\n\r\na/b\r\n'
  expect(await post(`${field}${part("file", "content")}\r\n--cut--\r\n`)).toEqual({
    status: 200,
    body: { stored: "content", fields: { project_id: "a/b" } },
  })
})

test("a form of more fields than it may have is refused before its end is read", async () => {
  const field = '--cut\r\nContent-Disposition: form-data; name="a"\r\n\r\nx\r\n'
  const refused = await post(`${field.repeat(21)}${part("file", "content")}\r\n--cut--\r\n`)
  const reason = "the form has more parts than it may have: send the file, and at most 20 fields beside it"
  expect(refused).toMatchObject({ status: 413, body: { reason } })
})

test.each([
  ["the file", part("file", "half"), 400],
  ["a file of another name", part("other", "half"), 400],
  ["a whole file of another name", `${part("other", "whole")}\r\n--cut--\r\n`, 422],
])("a form of %s: its sender is told, and the server lives on", async (_, form, status) => {
  expect((await post(form)).status).toBe(status)
  expect((await post(`${part("file", "x")}\r\n--cut--\r\n`)).status).toBe(200)
})
