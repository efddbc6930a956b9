/** Bodies that are read as streams, of which a part is held at a time, on a server that has little memory for them. */
import type { FastifyInstance } from "fastify"
import { mkdtemp, rm } from "node:fs/promises"
import { type ClientRequest, request as send } from "node:http"
import { tmpdir } from "node:os"
import path from "node:path"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { z } from "zod"
import { CsvEnds, LineEnds, wholeRows } from "../src/evaluation/import/whole-rows.ts"
import type { HeldBody } from "../src/http/body-budget.ts"
import { bodyStream } from "../src/http/body-stream.ts"
import { registerRoutes } from "../src/http/register-routes.ts"
import { route } from "../src/http/route.ts"
import { createHttpServer } from "../src/http/server.ts"
import { defaultLimits } from "../src/limits.ts"
import { TrajectoryReader } from "../src/training/trajectories/trajectory-reader.ts"

const mebibyte = 1024 ** 2
const trajectories = new TrajectoryReader()
let folder: string
let files = 0

async function counted(rows: AsyncIterable<unknown>): Promise<number> {
  let count = 0
  for await (const _ of rows) count++
  return count
}
type Read = (body: AsyncIterable<Buffer>, held: HeldBody) => Promise<number>
const readers: Record<string, Read> = {
  jsonl: (body, held) => counted(wholeRows(body, new LineEnds(), { held, partBytes: mebibyte / 2 })),
  csv: (body, held) => counted(wholeRows(body, new CsvEnds(), { held, partBytes: mebibyte / 2 })),
  trajectories: async (body, held) =>
    (await trajectories.read(body, path.join(folder, String(files++)), "log", held)).issues.length,
}

let server: FastifyInstance
let url: string
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "heddle-streams-"))
  await trajectories.ping()
  server = await createHttpServer({
    logLevel: "silent",
    prefix: null,
    limits: { ...defaultLimits, body_memory_bytes: 2 * mebibyte, body_wait_ms: 500 },
  })
  const routes = Object.entries(readers).map(([name, read]) =>
    route({
      method: "POST",
      path: `/${name}`,
      access: "public",
      dialect: "reason",
      summary: "",
      tag: "",
      streamsBody: true,
      schemas: {},
      response: z.unknown(),
      handle: async ({ request, held }) => ({ count: await read(bodyStream(request.raw, 1024 * mebibyte), held) }),
    }),
  )
  registerRoutes(server, routes, async () => null)
  url = await server.listen({ host: "127.0.0.1", port: 0 })
})
afterAll(async () => {
  await server.close()
  await trajectories.close()
  await rm(folder, { recursive: true, force: true })
})

function begin(name: string): { request: ClientRequest; status: Promise<number> } {
  const request = send(`${url}/${name}`, { method: "POST", agent: false })
  request.on("error", () => undefined)
  const status = new Promise<number>((resolve) =>
    request.on("response", (answer) => resolve(answer.resume().statusCode ?? 0)),
  )
  return { request, status }
}

describe.each([
  ["jsonl", '{"a":"', '"}\n'],
  ["csv", 'a\n"', '"\n'],
  ["trajectories", '{"trajectory_groups":[{"trajectories":[{"a":"', '"}]}]}'],
])("law 8: %s", (name, start, end) => {
  test("clients whose rows do not end are refused where there is no room for all of them", async () => {
    const clients = Array.from({ length: 6 }, () => begin(name))
    for (const { request } of clients) request.write(start + "x".repeat(1.5 * mebibyte))
    let refused = 0
    for (const { status } of clients) void status.then((is) => (refused += is === 503 ? 1 : 0))
    // One within the budget, one beyond it.
    await expect.poll(() => refused, { timeout: 20_000 }).toBeGreaterThanOrEqual(4)
    for (const { request } of clients) request.end(end)
    const statuses = await Promise.all(clients.map(({ status }) => status))
    expect(statuses.filter((status) => status === 200).length).toBe(6 - refused)
    expect(refused).toBeLessThan(6)
  })

  test("a body of many rows takes as much as one of them", async () => {
    const rows =
      name === "trajectories"
        ? `{"trajectory_groups":[{"trajectories":[${Array(8)
            .fill(`{"a":"${"x".repeat(mebibyte)}"}`)
            .join(",")}]}]}`
        : `${start}${"x".repeat(mebibyte)}${end}`.repeat(8)
    const clients = [begin(name), begin(name)]
    for (const { request } of clients) request.end(rows)
    expect(await Promise.all(clients.map(({ status }) => status))).toEqual([200, 200])
  })
})
