/** Clients that do not read their answers, or wait long for them. */
import type { FastifyInstance } from "fastify"
import { connect, type Socket } from "node:net"
import { Readable } from "node:stream"
import { setTimeout } from "node:timers/promises"
import { afterAll, beforeAll, expect, test } from "vitest"
import { z } from "zod"
import { defaultLimits } from "../../limits.ts"
import { registerRoutes } from "../register-routes.ts"
import { route } from "../route.ts"
import { createHttpServer } from "../server.ts"

const unreadMs = 1_500
const shared = { method: "GET", access: "public", dialect: "reason", summary: "", tag: "", schemas: {} } as const
/** How each answer ended. */
let ended: string[]
const endless = route({
  ...shared,
  path: "/endless",
  response: z.unknown(),
  isUncompressed: true,
  handle: async ({ reply, signal }) => {
    signal.addEventListener("abort", () => ended.push("left"))
    reply.send(Readable.from(pieces(), { objectMode: false }))
  },
})
async function* pieces() {
  try {
    for (;;) yield "x".repeat(64 * 1024)
  } finally {
    ended.push("made no further")
  }
}
const slow = route({
  ...shared,
  path: "/slow",
  response: z.unknown(),
  handle: async () => {
    await setTimeout(2 * unreadMs)
    return { late: true }
  },
})
const large = route({
  ...shared,
  path: "/large",
  response: z.unknown(),
  isUncompressed: true,
  handle: async ({ request, reply }) => {
    request.raw.socket.once("close", () => ended.push("closed"))
    reply.type("application/octet-stream").send(Buffer.alloc(64 * 1024 * 1024))
  },
})

let server: FastifyInstance
let url: URL
beforeAll(async () => {
  const limits = { ...defaultLimits, answer_unread_ms: unreadMs }
  server = await createHttpServer({ logLevel: "silent", prefix: null, limits })
  registerRoutes(server, [endless, large, slow], async () => null)
  url = new URL(await server.listen({ host: "127.0.0.1", port: 0 }))
})
afterAll(() => server.close())

function ask(path: string): Socket {
  const socket = connect(Number(url.port), url.hostname)
  socket.on("error", () => undefined)
  socket.write(`GET ${path} HTTP/1.1\r\nhost: x\r\n\r\n`)
  return socket
}

test("law 8: an answer that its client does not read is ended, and what makes it", async () => {
  ended = []
  const socket = ask("/endless")
  socket.pause()
  await setTimeout(unreadMs * 0.8)
  expect(ended).toEqual([])
  await expect.poll(() => ended.toSorted(), { timeout: 30_000 }).toEqual(["left", "made no further"])
  socket.destroy()
})

test("law 8: an answer in one write that its client does not read is ended in the time of the limit", async () => {
  ended = []
  const asked = performance.now()
  const socket = ask("/large")
  socket.pause()
  await expect.poll(() => ended, { timeout: 30_000 }).toEqual(["closed"])
  // The limit, a quarter of it, and what filling the buffers of the system takes; Node by itself takes twice the limit.
  expect((performance.now() - asked) / unreadMs).toBeGreaterThan(1)
  expect((performance.now() - asked) / unreadMs).toBeLessThan(1.6)
  socket.destroy()
})

test("law 8: a client that takes a large answer bit by bit has it, however long one write takes", async () => {
  ended = []
  const socket = ask("/large")
  const parts = socket.iterator({ destroyOnReturn: false })
  for (const started = performance.now(); performance.now() - started < 3 * unreadMs;) {
    for (let bytes = 0; bytes < 2 * 1024 * 1024;) bytes += ((await parts.next()).value as Buffer).length
    await setTimeout(unreadMs / 3)
  }
  expect(ended).toEqual([])
  socket.destroy()
  await expect.poll(() => ended).toEqual(["closed"])
})

test("law 8: a client that reads slowly has its answer as long as it reads", async () => {
  ended = []
  const socket = ask("/endless")
  for (let reads = 0; reads < 8; reads++) {
    // Enough to make room for more in the buffers of the system.
    let bytes = 0
    for await (const chunk of socket.iterator({ destroyOnReturn: false })) {
      bytes += (chunk as Buffer).length
      if (bytes > 16 * 1024 * 1024) break
    }
    await setTimeout(unreadMs / 5)
  }
  expect(ended).toEqual([])
  socket.destroy()
  await expect.poll(() => ended.length).toBe(2)
})

test("inference-api 11.5: a client may wait for its answer longer than an answer for its client", async () => {
  const answer = await fetch(new URL("/slow", url))
  expect([answer.status, await answer.json()]).toEqual([200, { late: true }])
})
