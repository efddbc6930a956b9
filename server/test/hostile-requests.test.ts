/** Law 1: whatever one request holds, the server goes on serving everybody else. The same with the largest bodies: `npm run bench -- stalls`. */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import path from "node:path"
import { afterAll, beforeAll, expect, test } from "vitest"
import { type HostileRequest, sendHostile } from "./support/hostile-request.ts"
import { hostileRequests } from "./support/hostile-requests.ts"
import { startWatchedServer, type WatchedServer } from "./support/watched-server.ts"

const mebibyte = 1024 * 1024
/** As much as held up the event loop for seconds when it read these bodies itself. */
const bodyBytes = 4 * mebibyte
/**
 * Of processor time, which other programs on the machine do not change. On a quiet machine it is below 200 ms; this is
 * what a slow one may take.
 */
const mostWorkMs = 1_000

let dataDir: string
let server: WatchedServer
let residentBytes: number
beforeAll(async () => {
  dataDir = mkdtempSync(path.join(tmpdir(), "heddle-hostile-"))
  server = await startWatchedServer(dataDir)
  // The first request of a server makes it load what it needs.
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
