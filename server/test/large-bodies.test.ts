/** Law 8 with a 300 MB body. Slow: runs with HEDDLE_SLOW_TESTS=1. */
import type { AddressInfo } from "node:net"
import { Readable } from "node:stream"
import { afterAll, beforeAll, expect, test } from "vitest"
import { newModel, openTrainingApp, sampledTrajectory, type TrainingApp } from "./support/training-app.ts"

const slow = process.env["HEDDLE_SLOW_TESTS"] !== undefined
const bodyBytes = 300 * 1024 * 1024

let opened: TrainingApp
beforeAll(async () => {
  if (slow) opened = await openTrainingApp()
})
afterAll(async () => {
  if (slow) await opened.close()
})

function* largeBody(modelId: string): Generator<string> {
  const trajectory = JSON.stringify(sampledTrajectory(1, 5000))
  const count = Math.ceil(bodyBytes / trajectory.length)
  yield `{"model_id":"${modelId}","trajectory_groups":[{"trajectories":[`
  for (let index = 0; index < count; index++) yield index === 0 ? trajectory : `,${trajectory}`
  yield "]}]}"
}

test.runIf(slow)("300 MB: accepted in flat memory while the event loop stays free", { timeout: 300_000 }, async () => {
  const url = await opened.app.server.listen({ host: "127.0.0.1", port: 0 })
  expect((opened.app.server.server.address() as AddressInfo).port).toBeGreaterThan(0)
  const { id } = await newModel(opened.acme)
  const before = process.memoryUsage().rss
  let peak = before
  let longestPause = 0
  let last = performance.now()
  const watch = setInterval(() => {
    peak = Math.max(peak, process.memoryUsage().rss)
    longestPause = Math.max(longestPause, performance.now() - last - 10)
    last = performance.now()
  }, 10)
  const began = performance.now()
  const answer = await fetch(`${url}/v1/preview/training-jobs`, {
    method: "POST",
    headers: { authorization: `Bearer ${opened.acme.key}`, "content-type": "application/json" },
    body: Readable.toWeb(Readable.from(largeBody(id))) as ReadableStream,
    duplex: "half",
  } as RequestInit)
  clearInterval(watch)
  const figures = {
    seconds: (performance.now() - began) / 1000,
    grownMB: (peak - before) / 1e6,
    longestPauseMs: longestPause,
  }
  expect(answer.status, JSON.stringify(figures)).toBe(200)
  expect(figures.grownMB, JSON.stringify(figures)).toBeLessThan(300)
  expect(figures.longestPauseMs, JSON.stringify(figures)).toBeLessThan(500)
  process.stdout.write(`300 MB body: ${JSON.stringify(figures)}\n`)
})
