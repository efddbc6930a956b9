import type { FastifyInstance } from "fastify"
import { setTimeout as sleep } from "node:timers/promises"
import { afterAll, beforeAll, expect, test } from "vitest"
import { z } from "zod"
import { registerRoutes } from "../register-routes.ts"
import { route } from "../route.ts"
import { createHttpServer } from "../server.ts"
import { sendEvents } from "./event-stream.ts"
import { sendStream } from "./json-stream.ts"

const shared = {
  method: "GET",
  access: "public",
  dialect: "reason",
  summary: "",
  tag: "",
  schemas: {},
  response: z.unknown(),
} as const
let ended: PromiseWithResolvers<void>
async function* endless(): AsyncGenerator<string> {
  ended = Promise.withResolvers()
  try {
    for (;;) {
      yield "data: 1\n\n"
      await sleep(1)
    }
  } finally {
    ended.resolve()
  }
}
const events = route({ ...shared, path: "/events", handle: async ({ reply }) => sendEvents(reply, endless()) })
const lines = route({
  ...shared,
  path: "/lines",
  handle: async ({ reply }) => sendStream(reply, "application/jsonl", endless()),
})
const text = route({
  ...shared,
  path: "/text",
  handle: async ({ reply }) => reply.type("text/plain").send("twelve bytes"),
})

let server: FastifyInstance
let url: string
beforeAll(async () => {
  server = await createHttpServer({ logLevel: "silent", prefix: null })
  registerRoutes(server, [events, lines, text], async () => null)
  url = await server.listen({ host: "127.0.0.1", port: 0 })
})
afterAll(() => server.close())

test.each([
  ["/events", "text/event-stream; charset=utf-8"],
  ["/lines", "application/jsonl"],
])("what %s would stream ends when only its head was asked for", async (path, type) => {
  const answer = await fetch(url + path, { method: "HEAD" })
  expect([answer.status, answer.headers.get("content-type")]).toEqual([200, type])
  await ended.promise
})

test("a head has the length of the body that a GET would get", async () => {
  const answer = await fetch(`${url}/text`, { method: "HEAD" })
  expect([answer.status, answer.headers.get("content-length"), await answer.text()]).toEqual([200, "12", ""])
})
