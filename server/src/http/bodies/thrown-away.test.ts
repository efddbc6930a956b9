/** Bodies that are refused, and then read at a pace. */
import type { FastifyInstance } from "fastify"
import { once } from "node:events"
import { connect, type Socket } from "node:net"
import { afterAll, beforeAll, expect, test } from "vitest"
import { z } from "zod"
import { registerRoutes } from "../register-routes.ts"
import { route } from "../route.ts"
import { createHttpServer } from "../server.ts"

const mebibyte = 1024 * 1024
const parsed = route({
  method: "POST",
  path: "/parsed",
  access: "public",
  dialect: "reason",
  summary: "",
  tag: "",
  schemas: { body: z.unknown() },
  response: z.unknown(),
  handle: async () => ({}),
})

let server: FastifyInstance
let url: string
beforeAll(async () => {
  server = await createHttpServer({ logLevel: "silent", prefix: null })
  registerRoutes(server, [parsed], async () => null)
  url = await server.listen({ host: "127.0.0.1", port: 0 })
})
afterAll(() => server.close())

test("security H8: all refused bodies together are read at 64 MiB a second, and each is answered", async () => {
  const began = performance.now()
  const bodies = [Buffer.alloc(20 * mebibyte, " "), Buffer.alloc(20 * mebibyte, " ")]
  const answers = await Promise.all(bodies.map((body) => fetch(`${url}/parsed`, { method: "POST", body })))
  expect(answers.map(({ status }) => status)).toEqual([413, 413])
  // 40 MiB take 625 ms; the second may be answered while the pause for its last piece lasts.
  expect(performance.now() - began).toBeGreaterThan(500)
})

test("a body that says itself that it is too large takes no memory", async () => {
  const connection = once(server.server, "connection") as Promise<[Socket]>
  const client = connect(Number(new URL(url).port), "127.0.0.1")
  client.write(`POST /parsed HTTP/1.1\r\nhost: x\r\ncontent-length: ${10 * mebibyte}\r\n\r\n`)
  client.write(Buffer.alloc(mebibyte, " "))
  const [socket] = await connection
  await expect.poll(() => socket.bytesRead, { timeout: 30_000 }).toBeGreaterThan(mebibyte)
  expect(server.bodyBudget.snapshot()).toEqual({ bytes: 0, bodies: 0, waiting: 0 })
  client.destroy()
})
