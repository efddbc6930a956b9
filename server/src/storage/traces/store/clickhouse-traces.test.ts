/** A ClickHouse server that works for long before it says anything. Connections count a second as a millisecond. */
import { once } from "node:events"
import { createServer } from "node:http"
import { type AddressInfo, Socket } from "node:net"
import { text } from "node:stream/consumers"
import { setTimeout as sleep } from "node:timers/promises"
import { afterAll, beforeAll, expect, test, vi } from "vitest"
import { defaultLimits } from "../../../limits.ts"
import { ClickHouseTraces } from "./clickhouse-traces.ts"

let silentMs = 0
const server = createServer((request, response) => {
  request.resume().once("end", () => void sleep(silentMs).then(() => response.end('{"one":1}\n')))
})
server.keepAliveTimeout = 0

let traces: ClickHouseTraces
beforeAll(async () => {
  await once(server.listen(0, "127.0.0.1"), "listening")
  const { port } = server.address() as AddressInfo
  traces = await ClickHouseTraces.open(`http://127.0.0.1:${port}`, null, defaultLimits)
  const { setTimeout } = Socket.prototype
  vi.spyOn(Socket.prototype, "setTimeout").mockImplementation(function (this: Socket, milliseconds, callback) {
    return setTimeout.call(this, milliseconds / 1000, callback)
  })
})
afterAll(async () => {
  vi.restoreAllMocks()
  await traces.close()
  server.closeAllConnections()
  server.close()
})

/** Those that may take half an hour: a query that says so, a change of many rows, an export that sorts first. */
const long = {
  query: () => traces.rows("select 1 as one", {}, { seconds: 1800 }),
  command: () => traces.command("alter table calls delete where true settings mutations_sync = 2", {}, true),
  print: async () => text(await traces.print("select 1 as one", {}, "JSONEachRow")),
}
const away = { code: "traces_unavailable" }

test("law 8: a query and a command are given up when nothing is heard for 90 s, a long query is not", async () => {
  silentMs = 300
  await expect(traces.rows("select 1 as one")).rejects.toMatchObject(away)
  await expect(traces.command("delete from calls where false")).rejects.toMatchObject(away)
  await expect(long.query()).resolves.toEqual([{ one: 1 }])
})

test("law 8: a long command and an export are not given up after 90 s", async () => {
  silentMs = 300
  await expect(long.command()).resolves.toBeUndefined()
  await expect(long.print()).resolves.toBe('{"one":1}\n')
})

test.each(["query", "command", "print"] as const)("law 8: a long %s is given up after 1,830 s", async (kind) => {
  silentMs = 2_500
  await expect(long[kind]()).rejects.toMatchObject(away)
})
