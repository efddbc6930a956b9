/** Law 8 with a 300 MB body. Slow: runs with HEDDLE_SLOW_TESTS=1. */
import { Readable } from "node:stream"
import { afterAll, beforeAll, expect, test } from "vitest"
import { EngineFailure } from "../../src/engines/engine.ts"
import { newModel, openTrainingApp, sampledTrajectory, type TrainingApp } from "../support/training-app.ts"

const slow = process.env["HEDDLE_SLOW_TESTS"] !== undefined
const megabyte = 1024 * 1024

let opened: TrainingApp
let url: string
beforeAll(async () => {
  if (!slow) return
  opened = await openTrainingApp()
  // The job fails at once, because the fake engine would read the whole file into this process.
  opened.fake.handlers.train = () => {
    throw new EngineFailure("invalid", "not in this test")
  }
  url = await opened.app.server.listen({ host: "127.0.0.1", port: 0 })
})
afterAll(async () => {
  if (slow) await opened.close()
})

function* bodyOf(modelId: string, bytes: number): Generator<string> {
  const trajectory = JSON.stringify(sampledTrajectory(1, 5000))
  const count = Math.ceil(bytes / trajectory.length)
  yield `{"model_id":"${modelId}","trajectory_groups":[{"trajectories":[`
  for (let index = 0; index < count; index++) yield index === 0 ? trajectory : `,${trajectory}`
  yield "]}]}"
}

/** Posts a job of this size; returns the process's highest memory and the event loop's longest pause meanwhile. */
async function postJob(modelId: string, bytes: number) {
  let peakBytes = 0
  let longestPauseMs = 0
  let last = performance.now()
  const watch = setInterval(() => {
    peakBytes = Math.max(peakBytes, process.memoryUsage().rss)
    longestPauseMs = Math.max(longestPauseMs, performance.now() - last - 10)
    last = performance.now()
  }, 10)
  const began = performance.now()
  const answer = await fetch(`${url}/v1/preview/training-jobs`, {
    method: "POST",
    headers: { authorization: `Bearer ${opened.acme.key}`, "content-type": "application/json" },
    body: Readable.toWeb(Readable.from(bodyOf(modelId, bytes))),
    duplex: "half",
  })
  clearInterval(watch)
  expect(answer.status).toBe(200)
  return { seconds: (performance.now() - began) / 1000, peakBytes, longestPauseMs }
}

test.runIf(slow)(
  "300 MB: accepted in the memory that 60 MB take, while the event loop stays free",
  { timeout: 300_000 },
  async () => {
    const { id } = await newModel(opened.acme)
    const small = await postJob(id, 60 * megabyte)
    const large = await postJob(id, 300 * megabyte)
    process.stdout.write(`60 MB: ${JSON.stringify(small)}\n300 MB: ${JSON.stringify(large)}\n`)
    expect((large.peakBytes - small.peakBytes) / megabyte).toBeLessThan(100)
    expect(large.longestPauseMs).toBeLessThan(1000)
  },
)
