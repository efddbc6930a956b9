/** A tracing program goes on by itself after its server was killed and started again. */
import { setTimeout as sleep } from "node:timers/promises"
import { afterAll, beforeAll, expect, test } from "vitest"
import * as weave from "weave"
import { covers } from "./covers.ts"
import { ServerProcess, type StartedServer } from "./server-process.ts"
import { newProject, stored, useServer } from "./weave.ts"

const count = 200
const server = new ServerProcess({ HEDDLE_ENGINE: "none" })
let started: StartedServer
beforeAll(async () => {
  started = await server.start()
  useServer(started)
})
afterAll(() => server.close())

async function crashTwice(): Promise<void> {
  for (let crash = 0; crash < 2; crash++) {
    await sleep(1000)
    await server.kill()
    await server.start()
  }
}

test(`${covers("npm-weave-restart")} no call is lost or doubled`, async () => {
  const client = await newProject()
  const step = weave.op(async function step(number: number) {
    return number * 2
  })
  await step(-1)
  await client.waitForBatchProcessing()
  const crashes = crashTwice()
  for (let number = 0; number < count; number++) {
    await step(number)
    await sleep(20)
  }
  await crashes
  const calls = await stored(client)
  const outputs = calls.map((call) => Number(call.output)).toSorted((a, b) => a - b)
  expect(outputs).toEqual(Array.from({ length: count + 1 }, (_, index) => (index - 1) * 2))
  expect(calls.every((call) => call.ended_at !== null)).toBe(true)
})
