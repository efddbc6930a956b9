import { expect, test } from "vitest"
import { type EngineCall, EngineFailure } from "../engine.ts"
import { CallInbox } from "../engine-call.ts"
import { movingCall } from "./moving-call.ts"

const lost = new EngineFailure("unavailable", "lost")
const start = { event: "start", data: { prompt_token_ids: [1], cached_tokens: 0 } }

/** A call over the attempts, each an inbox that the test fills; what they failed with. */
function moving(attempts: CallInbox[]) {
  const failures: (EngineFailure | null)[] = []
  const call = movingCall<"chat">((failure) => {
    failures.push(failure)
    const next = attempts[failures.length - 1]
    if (next === undefined) throw failure ?? lost
    return Promise.resolve(next.asCall<"chat">())
  })
  return { call, failures }
}

async function eventsOf(call: EngineCall<"chat">): Promise<unknown[]> {
  const events: unknown[] = []
  for await (const batch of call.events) events.push(...batch)
  return events
}

test("goes on until an attempt brings a result; its events are the only ones", async () => {
  const [first, second] = [new CallInbox(), new CallInbox()]
  const { call, failures } = moving([first, second])
  const read = eventsOf(call)
  first.fail(lost)
  await expect.poll(() => failures.length).toBe(2)
  second.push(start, 1)
  second.succeed({ completion_tokens: 1 })
  expect(await read).toEqual([start])
  expect(await call.result).toEqual({ completion_tokens: 1 })
  expect(failures).toEqual([null, lost])
})

test("does not move once an event was handed on, also one that came in the same breath as the failure", async () => {
  const first = new CallInbox()
  const { call, failures } = moving([first, new CallInbox()])
  const read = eventsOf(call)
  await Promise.resolve()
  first.push(start, 1)
  first.fail(lost)
  expect(await read).toEqual([start])
  await expect(call.result).rejects.toBe(lost)
  expect(failures).toEqual([null])
})

test("who reads only the result is moved also after events; who reads late gets those of the last attempt", async () => {
  const [first, second] = [new CallInbox(), new CallInbox()]
  const { call, failures } = moving([first, second])
  first.push({ ...start, data: { prompt_token_ids: [0], cached_tokens: 0 } }, 1)
  first.fail(lost)
  await expect.poll(() => failures.length).toBe(2)
  second.push(start, 1)
  second.succeed({})
  await call.result
  expect(await eventsOf(call)).toEqual([start])
})

test("ends with what `place` says when there is nowhere to go", async () => {
  const first = new CallInbox()
  const { call } = moving([first])
  const read = eventsOf(call)
  first.fail(lost)
  await expect(call.result).rejects.toBe(lost)
  expect(await read).toEqual([])
})
