import Fastify from "fastify"
import { expect, test } from "vitest"
import type { Readable } from "node:stream"
import { HeddleError } from "../../errors.ts"
import { jsonLines, sendStream } from "./json-stream.ts"

async function* failing(before: number): AsyncGenerator<string[]> {
  for (let index = 0; index < before; index++) yield [`{"n":${index}}`]
  throw new HeddleError("query_timeout", "too slow")
}

async function ask(before: number): Promise<Response> {
  const server = Fastify()
  server.post("/", async (_request, reply) => {
    await sendStream(reply, "application/jsonl", jsonLines(failing(before)))
    return reply
  })
  const url = await server.listen({ port: 0, host: "127.0.0.1" })
  try {
    const answer = await fetch(url, { method: "POST" })
    return new Response(await answer.text(), { status: answer.status })
  } finally {
    await server.close()
  }
}

test("calls 3.4: a failure before the first line has its own status", async () => {
  expect((await ask(0)).status).toBe(504)
})

test("calls 3.4: a failure among the lines breaks the connection, so that no client takes the part for the whole", async () => {
  await expect(ask(3)).rejects.toThrow(/terminated|fetch failed/)
})

test("a client that left before the answer began: what was opened for it is closed all the same", async () => {
  let closed = false
  async function* open(): AsyncGenerator<string> {
    try {
      yield "first\n"
      yield "second\n"
    } finally {
      closed = true
    }
  }
  const reply = {
    type: () => reply,
    request: { log: { error: () => undefined } },
    send: (body: Readable) => body.destroy(),
  }
  await sendStream(reply as never, "application/jsonl", open())
  await expect.poll(() => closed).toBe(true)
})
