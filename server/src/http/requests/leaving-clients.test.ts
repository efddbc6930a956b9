/** The edge and those who may not come in, or go away before they are answered. */
import type { FastifyInstance } from "fastify"
import { connect, type Socket } from "node:net"
import { setTimeout } from "node:timers/promises"
import { afterAll, beforeAll, beforeEach, expect, test, vi } from "vitest"
import { z } from "zod"
import type { Identity } from "../principal.ts"
import { registerRoutes } from "../register-routes.ts"
import { route } from "../route.ts"
import { createHttpServer } from "../server.ts"

const shared = {
  access: { right: "read", of: "server" },
  dialect: "reason",
  summary: "",
  tag: "",
  response: z.unknown(),
  schemas: {},
} as const
let handled: boolean[]
const body = route({
  ...shared,
  method: "POST",
  path: "/body",
  schemas: { body: z.unknown() },
  handle: async ({ signal }) => {
    handled.push(signal.aborted)
    return {}
  },
})
const noBody = route({
  ...shared,
  method: "GET",
  path: "/no-body",
  handle: async ({ signal }) => {
    handled.push(signal.aborted)
    return {}
  },
})
const long = route({
  ...shared,
  method: "GET",
  path: "/long",
  handle: async ({ signal }) => {
    handled.push(signal.aborted)
    await new Promise((resolve) => signal.addEventListener("abort", resolve))
    throw new TypeError("what the handler called was stopped")
  },
})

const entity = { id: "1", name: "acme", role: "member" } as const
const principal: Identity = {
  userId: "1",
  username: "ann",
  apiKeyId: "1",
  requestsPerMinute: null,
  isAdmin: false,
  defaultEntity: entity,
  entities: [entity],
  projectRoles: new Map(),
  scope: "all",
}

let server: FastifyInstance
let port: number
/** Keys are looked up when it is resolved. */
let lookUp: PromiseWithResolvers<void>
let lookUps: number
beforeAll(async () => {
  server = await createHttpServer({ logLevel: "silent", prefix: null })
  registerRoutes(server, [body, noBody, long], async (key) => {
    lookUps += 1
    await lookUp.promise
    return key === "right" ? principal : null
  })
  port = Number(new URL(await server.listen({ host: "127.0.0.1", port: 0 })).port)
})
const errors = vi.fn()
beforeEach(() => {
  handled = []
  lookUps = 0
  lookUp = Promise.withResolvers()
  lookUp.resolve()
  errors.mockReset()
  vi.spyOn(server.log, "error").mockImplementation(errors)
})
afterAll(() => server.close())

function open(head: string, text = ""): Socket {
  const socket = connect(port, "127.0.0.1")
  socket.on("error", () => undefined)
  socket.write(`${head} HTTP/1.1\r\nhost: x\r\n${text}`)
  return socket
}

const withKey = "authorization: Bearer right\r\n"

test.each([
  ["no key", ""],
  ["an unknown key", "authorization: Bearer wrong\r\n"],
])("security 5.2: who has %s is refused before their body is read", async (_, key) => {
  const socket = open("POST /body", `${key}content-length: 30000000\r\n\r\n{"half`)
  const [answer] = (await Promise.race([
    new Promise((resolve) => socket.once("data", (data) => resolve([data.toString()]))),
    setTimeout(5_000, ["no answer"]),
  ])) as [string]
  socket.destroy()
  expect(answer).toMatch(/^HTTP\/1.1 401 /)
})

test.each([
  ["not JSON", {}],
  ["x".repeat(33 * 1024 * 1024), {}],
  ["{}", { "content-encoding": "lzma" }],
])("security 5.2: without a key it is 401 whatever the body is", async (payload, headers) => {
  const answer = await server.inject({ method: "POST", url: "/body", payload, headers })
  expect([answer.statusCode, answer.json()]).toEqual([
    401,
    { detail: expect.stringContaining("no API key") as unknown },
  ])
})

test.each([
  ["with a body", "POST /body", "content-length: 2\r\n\r\n{}"],
  ["without", "GET /no-body", "\r\n"],
])("a client %s that leaves while its key is looked up is gone for the handler", async (_, head, rest) => {
  lookUp = Promise.withResolvers()
  const socket = open(head, withKey + rest)
  await expect.poll(() => lookUps).toBe(1)
  const { promise: closed, resolve } = Promise.withResolvers<void>()
  server.server.getConnections((_error, before) => {
    socket.destroy()
    const look = () =>
      server.server.getConnections((_again, now) => (now < before ? resolve() : void setTimeout(10).then(look)))
    look()
  })
  await closed
  lookUp.resolve()
  await setTimeout(100)
  expect(handled).not.toContain(false)
  expect(errors).not.toHaveBeenCalled()
})

test("a failure since the client left is no failure of the server", async () => {
  const socket = open("GET /long", `${withKey}\r\n`)
  await expect.poll(() => handled).toEqual([false])
  socket.destroy()
  await setTimeout(200)
  expect(errors).not.toHaveBeenCalled()
})

test("a client that leaves in the middle of its body is no failure of the server", async () => {
  const socket = open("POST /body", `${withKey}content-length: 30000\r\n\r\n{"half`)
  await expect.poll(() => lookUps).toBe(1)
  socket.destroy()
  await setTimeout(200)
  expect([handled, errors.mock.calls]).toEqual([[], []])
})
