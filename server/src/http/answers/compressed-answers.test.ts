/** A stream that is compressed reaches its client as it is written. */
import type { FastifyInstance } from "fastify"
import { once } from "node:events"
import { get, type IncomingMessage } from "node:http"
import { createBrotliDecompress, createGunzip, createZstdDecompress } from "node:zlib"
import { afterAll, beforeAll, expect, test } from "vitest"
import { z } from "zod"
import { registerRoutes } from "../register-routes.ts"
import { route } from "../route.ts"
import { createHttpServer } from "../server.ts"
import { jsonLines, linesType, sendStream } from "./json-stream.ts"

let writeOthers: () => void
let others: Promise<void>

const streamed = route({
  method: "GET",
  path: "/streamed",
  access: "public",
  dialect: "reason",
  tag: "Calls",
  summary: "",
  schemas: {},
  response: z.unknown(),
  handle: ({ reply }) => sendStream(reply, linesType(undefined), jsonLines(batches())),
})

async function* batches(): AsyncGenerator<string[]> {
  yield ['{"first":1}']
  await others
  yield ['{"other":2}']
}

let server: FastifyInstance
let url: string
beforeAll(async () => {
  server = await createHttpServer({ logLevel: "silent", prefix: null })
  registerRoutes(server, [streamed], async () => null)
  url = await server.listen({ host: "127.0.0.1", port: 0 })
})
afterAll(() => server.close())

test.each([
  ["zstd", createZstdDecompress],
  ["gzip", createGunzip],
  ["br", createBrotliDecompress],
])(
  "calls 3.4: the first lines of a stream in %s are read before the others are written",
  async (coding, decompress) => {
    others = new Promise((resolve) => (writeOthers = resolve))
    const [answer] = (await once(get(`${url}/streamed`, { headers: { "accept-encoding": coding } }), "response")) as [
      IncomingMessage,
    ]
    expect(answer.headers["content-encoding"]).toBe(coding)
    const lines = answer.pipe(decompress()).setEncoding("utf8")
    const [first] = await once(lines, "data")
    expect(first).toBe('{"first":1}\n')
    writeOthers()
    const [other] = await once(lines, "data")
    expect(other).toBe('{"other":2}\n')
  },
)
