/** A server that closes idle connections, in a thread of its own: it goes on while this thread is busy. */
import { once } from "node:events"
import { type Agent, type ClientRequest, type IncomingMessage, request } from "node:http"
import { Worker } from "node:worker_threads"
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest"
import { connectionPool } from "./connection-pool.ts"

/** Longer than the pool keeps an idle connection. */
const keptMs = 2_700

const closesIdle = `
  const { createServer } = require("node:net")
  const { parentPort } = require("node:worker_threads")
  const server = createServer((socket) => {
    socket.setTimeout(${keptMs}, () => socket.end())
    socket.on("error", () => undefined).on("data", (said) => {
      const asked = said.toString("latin1")
      if (!asked.endsWith("\\r\\n\\r\\n")) return
      const says = asked.includes("/short") ? "keep-alive: timeout=2\\r\\n" : ""
      socket.write("HTTP/1.1 200 OK\\r\\n" + says + "content-length: 0\\r\\n\\r\\n")
    })
  })
  server.listen(0, "127.0.0.1", () => parentPort.postMessage(server.address().port))`

let server: Worker
let url: string
let pool: Agent
beforeAll(async () => {
  server = new Worker(closesIdle, { eval: true })
  const [port] = (await once(server, "message")) as [number]
  url = `http://127.0.0.1:${port}`
})
beforeEach(() => (pool = connectionPool(url, 4)))
afterEach(() => pool.destroy())
afterAll(() => server.terminate())

/** Returns whether the request went over a connection that had served another one. */
async function ask(path = "/"): Promise<boolean> {
  const asking: ClientRequest = request(url + path, { agent: pool }).end()
  const [answer] = (await once(asking, "response")) as [IncomingMessage]
  answer.resume()
  await once(answer, "close")
  return asking.reusedSocket
}

/** Nothing else happens in this thread meanwhile. */
const beBusy = (milliseconds: number) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds)

test("a connection that the server closed while the event loop was busy serves no other request", async () => {
  expect(await ask()).toBe(false)
  expect(await ask()).toBe(true)
  beBusy(keptMs + 500)
  expect(await ask()).toBe(false)
})

test("of several connections those that wait for too long are left out, and the others serve", async () => {
  await Promise.all([ask(), ask(), ask()])
  beBusy(2_000)
  expect(await ask()).toBe(true)
  beBusy(1_200)
  expect(await Promise.all([ask(), ask(), ask()])).toEqual([true, false, false])
})

test("a connection is kept no longer than the server says", async () => {
  await ask("/short")
  beBusy(1_500)
  expect(await ask()).toBe(false)
})
