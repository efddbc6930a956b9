/** Bodies that are read piece by piece. */
import { createServer, type IncomingMessage, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import { afterEach, beforeEach, expect, test } from "vitest"
import { gzipSync } from "node:zlib"
import { bodyStream } from "./body-stream.ts"

const mebibyte = 1024 * 1024
let server: Server
let url: string
/** The length of each chunk when it came, and once the next one had come. */
let lengths: [first: number, later: number][]
let keepsNone: boolean
beforeEach(async () => {
  server = createServer((request, response) => void read(request).then(() => response.end()))
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  lengths = []
})
afterEach(() => server.close())

async function read(request: IncomingMessage): Promise<void> {
  let before: Buffer | null = null
  for await (const chunk of bodyStream(request, 4 * mebibyte, { keepsNone })) {
    const last = lengths.at(-1)
    if (before !== null && last !== undefined) last[1] = before.length
    lengths.push([chunk.length, Number.NaN])
    before = chunk
  }
}

const send = async (body: Buffer, headers: Record<string, string> = {}) =>
  expect((await fetch(url, { method: "POST", body, headers })).status).toBe(200)

test("a reader that keeps no chunk has each freed when it asks for the next one", async () => {
  keepsNone = true
  await send(Buffer.alloc(2 * mebibyte, "x"))
  expect(lengths.reduce((sum, [first]) => sum + first, 0)).toBe(2 * mebibyte)
  const full = lengths.slice(0, -1).filter(([first]) => first >= 32 * 1024)
  expect(full.length).toBeGreaterThan(10)
  expect(full.map(([, later]) => later)).toEqual(full.map(() => 0))
})

test.each([
  ["any other reader", false, {}],
  ["a decoder", true, { "content-encoding": "gzip" }],
] as const)("the chunks of %s stay", async (_who, given, headers) => {
  keepsNone = given
  const body = Buffer.alloc(2 * mebibyte, "x")
  await send("content-encoding" in headers ? gzipSync(body) : body, headers)
  const before = lengths.slice(0, -1)
  expect(before.length).toBeGreaterThan(1)
  expect(before.map(([, later]) => later)).toEqual(before.map(([first]) => first))
})
