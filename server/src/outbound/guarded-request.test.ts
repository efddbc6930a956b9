import { createServer, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import { afterAll, beforeAll, expect, test } from "vitest"
import { guardedRequest } from "./guarded-request.ts"
import { FetchPolicy } from "./public-address.ts"

let server: Server
let port: number
let requests = 0
beforeAll(async () => {
  server = createServer((_request, response) => {
    requests += 1
    response.writeHead(302, { location: "/elsewhere" }).end()
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  port = (server.address() as AddressInfo).port
})
afterAll(() => server.close())

const ask = async (host: string, allow: string[]) => {
  const request = { method: "POST", headers: {}, body: "{}", signal: AbortSignal.timeout(5_000) } as const
  const answer = await guardedRequest(new URL(`http://${host}:${port}/`), new FetchPolicy(allow), request)
  answer.destroy()
  return answer.statusCode
}

test("security 5.2: inner addresses are refused, written out and behind a name, and not connected to", async () => {
  for (const host of ["127.0.0.1", "localhost", "2130706433", "[::ffff:127.0.0.1]"]) {
    const failure = await (async () => ask(host, []))().catch((error: unknown) => (error as Error).message)
    expect([host, failure]).toEqual([host, expect.stringContaining("is not a public address")])
  }
  expect(requests).toBe(0)
})

test("what the operator allows is reached; its redirect is an answer like any other", async () => {
  expect(await ask("127.0.0.1", ["127.0.0.1"])).toBe(302)
  expect(await ask("localhost", ["localhost"])).toBe(302)
  expect(requests).toBe(2)
})
