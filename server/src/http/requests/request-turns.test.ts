/** Whose requests are begun first while they come faster than they can be begun. */
import type { FastifyInstance } from "fastify"
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest"
import { z } from "zod"
import type { Identity } from "../principal.ts"
import { registerRoutes } from "../register-routes.ts"
import { route } from "../route.ts"
import { createHttpServer } from "../server.ts"

const workMs = 6

/** Users by the order in which their requests were begun. */
let begun: string[]
const busy = route({
  method: "POST",
  path: "/busy",
  access: { right: "read", of: "server" },
  dialect: "reason",
  summary: "",
  tag: "",
  response: z.unknown(),
  schemas: {},
  handle: async ({ principal }) => {
    begun.push(principal.username)
    for (const until = performance.now() + workMs; performance.now() < until;);
    return {}
  },
})

function identityOf(username: string): Identity {
  const entity = { id: username, name: username, role: "member" } as const
  const entities = [entity]
  return {
    userId: username,
    username,
    apiKeyId: username,
    requestsPerMinute: null,
    isAdmin: false,
    defaultEntity: entity,
    entities,
    projectRoles: new Map(),
    scope: "all",
  }
}

let server: FastifyInstance
beforeAll(async () => {
  server = await createHttpServer({ logLevel: "silent", prefix: null })
  registerRoutes(server, [busy], async (key) => identityOf(key))
  await server.ready()
})
beforeEach(() => (begun = []))
afterAll(() => server.close())

async function ask(user: string, signal?: AbortSignal): Promise<number> {
  const headers = { authorization: `Bearer ${user}` }
  const answer = await server.inject({ method: "POST", url: "/busy", headers, ...(signal && { signal }) })
  return answer.statusCode
}

test("a user's request waits for few of the many that another user sent before", async () => {
  const many = Array.from({ length: 100 }, () => ask("eve"))
  const few = ["ann", "bob"].map((user) => ask(user))
  expect(new Set(await Promise.all([...many, ...few]))).toEqual(new Set([200]))
  expect(begun).toHaveLength(102)
  expect(begun.indexOf("ann")).toBeLessThan(20)
  expect(begun.indexOf("bob")).toBeLessThan(20)
  expect(server.requestTurns.waiting).toBe(0)
})

test("a request whose client has left while it waited is never begun", async () => {
  const leaving = new AbortController()
  const first = ask("eve")
  const left = Array.from({ length: 100 }, () => ask("eve", leaving.signal).catch(() => "left"))
  expect(await first).toBe(200)
  leaving.abort()
  const begunBefore = begun.length
  expect(new Set(await Promise.all(left))).toContain("left")
  expect(await ask("ann")).toBe(200)
  expect(server.requestTurns.waiting).toBe(0)
  expect(begun.length).toBeLessThanOrEqual(begunBefore + 2)
})
