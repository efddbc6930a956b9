/** However the machine says that there is no room, the client reads 507 and the way out. */
import { afterAll, beforeAll, expect, test } from "vitest"
import type { FastifyInstance } from "fastify"
import { z } from "zod"
import { registerRoutes } from "../register-routes.ts"
import { route } from "../route.ts"
import { createHttpServer } from "../server.ts"

const failing = route({
  method: "GET",
  path: "/failing/:code",
  access: "public",
  dialect: "detail",
  summary: "",
  tag: "",
  schemas: { params: z.object({ code: z.string() }) },
  response: z.unknown(),
  handle: async ({ params }) => {
    throw Object.assign(new Error("no room"), { code: params.code })
  },
})

let server: FastifyInstance
beforeAll(async () => {
  server = await createHttpServer({ logLevel: "silent", prefix: "" })
  registerRoutes(server, [failing], async () => null)
})
afterAll(() => server.close())

test.each([
  ["ENOSPC", 507],
  ["EDQUOT", 507],
  ["53100", 507],
  ["EIO", 500],
])("%s: %i", async (code, status) => {
  const answer = await server.inject({ method: "GET", url: `/failing/${code}` })
  expect(answer.statusCode).toBe(status)
  if (status === 507) {
    expect(answer.json()).toEqual({
      detail: "the server's disk is full; nothing was stored. Make room on it, then send this again",
    })
  }
})
