/**
 * Law 1: the server goes on serving others, whatever a request contains. `npm run bench -- stalls` sends the largest
 * bodies.
 */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import path from "node:path"
import { afterAll, beforeAll, expect, test } from "vitest"
import { copyCatalogTemplate } from "../support/catalog-template.ts"
import { type HostileRequest, sendHostile } from "../support/hostile-request.ts"
import { hostileRequests } from "../support/hostile-requests.ts"
import { startWatchedServer, type WatchedServer } from "../support/watched-server.ts"

const mebibyte = 1024 * 1024
/** Size of a body that stopped the event loop for seconds when the loop itself read such bodies. */
const bodyBytes = 4 * mebibyte
/**
 * The most processor time of one turn of the event loop, which other programs on the machine do not change. A fast
 * machine takes less than 200 ms; the limit is for slow ones.
 */
const mostWorkMs = 1_000

let dataDir: string
let server: WatchedServer
let residentBytes: number
beforeAll(async () => {
  dataDir = mkdtempSync(path.join(tmpdir(), "heddle-hostile-"))
  await copyCatalogTemplate(dataDir)
  server = await startWatchedServer(dataDir)
  // The first request makes the server load modules, and is not measured.
  await sendHostile(server, hostileRequests[0] as HostileRequest, mebibyte)
  residentBytes = (await server.read()).residentBytes
}, 120_000)
afterAll(async () => {
  await server.close()
  rmSync(dataDir, { recursive: true, force: true })
})

test.each(hostileRequests)("$name", { timeout: 180_000 }, async (request) => {
  await server.read()
  const answer = await sendHostile(server, request, bodyBytes)
  expect(request.statuses, answer.text.slice(0, 500)).toContain(answer.status)
  const { longestWorkMs } = await server.read()
  expect(longestWorkMs).toBeLessThan(mostWorkMs)
})

test("the memory that they took comes back", { timeout: 180_000 }, async () => {
  await expect
    .poll(async () => (await server.read()).residentBytes, { timeout: 150_000, interval: 1_000 })
    .toBeLessThan(residentBytes + 512 * mebibyte)
})
