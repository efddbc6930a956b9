import { once } from "node:events"
import { createServer, type Server } from "node:http"
import { type AddressInfo, createServer as createTcpServer, type Socket } from "node:net"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
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

test("security 5.2: a refusal tells neither what a name stands for nor whether it is known", async () => {
  const refusal = async (host: string) => ask(host, []).catch((error: unknown) => (error as Error).message)
  const text = (host: string) => `${host} is not a public address; an operator can allow it with HEDDLE_FETCH_ALLOW`
  expect(await refusal("localhost")).toBe(text("localhost"))
  // A label of a name has 63 characters, so that no name server is asked for this one.
  const unknown = `${"x".repeat(64)}.invalid`
  expect(await refusal(unknown)).toBe(text(unknown))
})

test("a host that does not answer is named without the address that its name stands for", async () => {
  const closed = createServer().listen(0, "127.0.0.1")
  await once(closed, "listening")
  const { port: free } = closed.address() as AddressInfo
  await new Promise((resolve) => closed.close(resolve))
  const request = { method: "GET", headers: {}, signal: AbortSignal.timeout(5_000) } as const
  const asked = guardedRequest(new URL(`http://localhost:${free}/`), new FetchPolicy(["localhost"]), request)
  await expect(asked).rejects.toThrow(`localhost:${free} cannot be reached (ECONNREFUSED)`)
})

test("what the operator allows is reached; its redirect is an answer like any other", async () => {
  expect(await ask("127.0.0.1", ["127.0.0.1"])).toBe(302)
  expect(await ask("localhost", ["localhost"])).toBe(302)
  expect(requests).toBe(2)
})

describe("a peer that", () => {
  const answered = async (reply: (socket: Socket) => void, signal: AbortSignal) => {
    const peer = createTcpServer((socket) => socket.on("error", () => undefined).once("data", () => reply(socket)))
    await new Promise<void>((resolve) => peer.listen(0, "127.0.0.1", resolve))
    try {
      const url = new URL(`http://127.0.0.1:${(peer.address() as AddressInfo).port}/`)
      const request = { method: "POST", headers: {}, body: "{}", signal } as const
      const answer = await guardedRequest(url, new FetchPolicy(["127.0.0.1"]), request)
      for await (const part of answer) expect(part).toBeDefined()
      return "all of an answer"
    } catch (error) {
      const { name, message } = error as Error
      return `${name}: ${message}`
    } finally {
      peer.close()
    }
  }

  test("changes the protocol gives no answer, and nobody waits for one", async () => {
    const head = "HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n"
    const found = await answered((socket) => socket.write(head), AbortSignal.timeout(5_000))
    expect(found).toEqual(expect.stringContaining("without an answer"))
  })

  test("never answers, or never ends its answer, is left with the signal's reason", async () => {
    const drip = (socket: Socket) => {
      socket.write("HTTP/1.1 200 OK\r\n\r\nbegun")
      const timer = setInterval(() => socket.write("."), 20)
      socket.once("close", () => clearInterval(timer))
    }
    for (const reply of [() => undefined, drip]) {
      const found = await answered(reply, AbortSignal.any([new AbortController().signal, AbortSignal.timeout(300)]))
      expect(found).toEqual(expect.stringMatching(/^TimeoutError: /))
    }
  })
})
