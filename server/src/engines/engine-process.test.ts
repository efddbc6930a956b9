import { afterEach, describe, expect, test } from "vitest"
import { once } from "node:events"
import { access, mkdir, rm } from "node:fs/promises"
import { createServer } from "node:net"
import path from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { SupervisedEngine } from "./engine-process.ts"
import { EngineFailure } from "./engine.ts"
import { FakeEngine, untilCancelled } from "./fake-engine.ts"
import type { EngineProcessOptions } from "./engine-process.ts"

const base = { name: "heddle/tiny", path: "/models/tiny" }
const chat = { base, adapter: null, messages: [{ role: "user" }], sampling: { max_tokens: 4 } }
const log = { info: () => undefined, warn: () => undefined, error: () => undefined }
const open: SupervisedEngine[] = []

function refuse(): never {
  throw new EngineFailure("invalid", "temperature is 3", "temperature")
}

function start(fake: FakeEngine, options: Partial<EngineProcessOptions> = {}): SupervisedEngine {
  const engine = new SupervisedEngine({ launch: fake.launch, log, backOffMs: () => 0, ...options })
  open.push(engine)
  return engine
}

afterEach(async () => {
  await Promise.all(open.splice(0).map((engine) => engine.close()))
})

describe("calls", () => {
  test("engine 5.2: many calls share one connection and each gets its own answer", async () => {
    const engine = start(new FakeEngine())
    await engine.ready(5000)
    const lengths = [1, 2, 3, 4, 5, 6, 7, 8]
    const results = await Promise.all(
      lengths.map((max_tokens) => engine.call("chat", { ...chat, sampling: { max_tokens } }).result),
    )
    expect(results.map((result) => result.completion_tokens)).toEqual(lengths)
  })

  test("events come in order, before the result", async () => {
    const engine = start(new FakeEngine())
    await engine.ready(5000)
    const call = engine.call("chat", { ...chat, stream: true })
    const seen: string[] = []
    for await (const batch of call.events) for (const event of batch) seen.push(event.event)
    expect(seen).toEqual(["start", "delta", "delta"])
    expect((await call.result).choices[0]?.finish_reason).toBe("stop")
  })

  test("an embedding that nobody waits for is cancelled at the engine", async () => {
    const engine = start(new FakeEngine({ embed: (_, call) => untilCancelled(call) }))
    await engine.ready(5000)
    const controller = new AbortController()
    const call = engine.call("embed", { base, adapter: null, prompt: "x" }, controller.signal)
    controller.abort(new Error("the client left"))
    await expect(call.result).rejects.toMatchObject({ kind: "cancelled", message: "cancelled" })
  })

  test("an engine error keeps its kind, message and parameter", async () => {
    const engine = start(new FakeEngine({ chat: refuse }))
    await engine.ready(5000)
    await expect(engine.call("chat", chat).result).rejects.toMatchObject({
      kind: "invalid",
      message: "temperature is 3",
      param: "temperature",
    })
  })

  test("a call that no frame can hold fails by itself; the others go on", async () => {
    const engine = start(new FakeEngine())
    await engine.ready(5000)
    const { result } = engine.call("tokenize", { base, prompt: "x".repeat(32 * 1024 * 1024) })
    await expect(result).rejects.toMatchObject({
      kind: "invalid",
      message: expect.stringMatching(
        /^the request is too large for the engine: a frame of \d+ bytes is over the limit/,
      ),
    })
    expect((await engine.call("chat", chat).result).completion_tokens).toBe(4)
  })

  test("law 8: a call whose events nobody reads ends after 32 MiB of them; one that is read does not", async () => {
    const delta = { index: 0, content: "x".repeat(1024 * 1024), reasoning: "", tool_calls: [], tokens: [] }
    const engine = start(
      new FakeEngine({
        chat: async (_params, call) => {
          for (let sent = 0; sent < 40; sent++) {
            call.emit("delta", delta)
            await sleep(1)
          }
          return { prompt_token_ids: [], cached_tokens: 0, completion_tokens: 40, choices: [] }
        },
      }),
    )
    await engine.ready(5000)
    await expect(engine.call("chat", { ...chat, stream: true }).result).rejects.toMatchObject({
      kind: "cancelled",
      message: "the client does not read its stream",
    })
    const call = engine.call("chat", { ...chat, stream: true })
    let deltas = 0
    for await (const batch of call.events) deltas += batch.length
    expect([deltas, (await call.result).completion_tokens]).toEqual([40, 40])
  })

  test("aborting the signal gives up a call that the engine cannot cancel", async () => {
    const engine = start(new FakeEngine({ status: () => new Promise(() => undefined) }))
    await engine.ready(5000)
    await expect(engine.call("status", {}, AbortSignal.timeout(50)).result).rejects.toMatchObject({
      kind: "cancelled",
      message: "status was given up: The operation was aborted due to timeout",
    })
    expect((await engine.call("chat", chat).result).completion_tokens).toBe(4)
  })

  test("aborting the signal cancels the chat in the engine", async () => {
    const engine = start(new FakeEngine({ chat: (_params, call) => untilCancelled(call) }))
    await engine.ready(5000)
    const controller = new AbortController()
    const { result } = engine.call("chat", chat, controller.signal)
    controller.abort()
    await expect(result).rejects.toMatchObject({ kind: "cancelled" })
  })
})

describe("supervision", () => {
  test("engine 5.2: a killed engine fails calls in flight with `unavailable` and is started again", async () => {
    const fake = new FakeEngine({ chat: (_params, call) => untilCancelled(call) })
    const engine = start(fake)
    await engine.ready(5000)
    const inFlight = engine.call("chat", chat).result
    fake.die()
    await expect(inFlight).rejects.toMatchObject({ kind: "unavailable" })
    await expect.poll(() => fake.launches, { timeout: 5000 }).toBe(2)
    await engine.ready(5000)
    expect(engine.status()).toMatchObject({ state: "ready", hello: { engine_version: "fake" } })
  })

  test("engine 5.2: an engine without heartbeats is killed and started again", async () => {
    const fake = new FakeEngine()
    const engine = start(fake, { watchdog: { silenceMs: 500, stallMs: 60_000 } })
    await engine.ready(5000)
    fake.heartbeats = false
    await expect.poll(() => fake.launches, { timeout: 8000 }).toBe(2)
  }, 10_000)

  test("an engine that listens and never says hello is started again", async () => {
    const fake = new FakeEngine({ hello: () => new Promise(() => undefined) })
    const engine = start(fake, { startTimeoutMs: 200 })
    await expect.poll(() => fake.launches, { timeout: 5000 }).toBeGreaterThan(1)
    await expect(engine.ready(100)).rejects.toThrow("the engine did not answer within 0.2 s of its start")
  })

  test("nobody goes on looking for the socket of a process that has ended", async () => {
    const folder = Promise.withResolvers<string>()
    const launch = (socketPath: string) => {
      folder.resolve(path.dirname(socketPath))
      return { exited: sleep(50).then(() => "ended"), leave: () => undefined, kill: () => undefined }
    }
    start(new FakeEngine(), { launch, backOffMs: () => 60_000 })
    const socketPath = path.join(await folder.promise, "engine.sock")
    await expect.poll(() => access(path.dirname(socketPath)).catch(() => "gone")).toBe("gone")
    await mkdir(path.dirname(socketPath))
    let looked = 0
    const server = createServer((socket) => (looked++, socket.destroy())).listen(socketPath)
    await sleep(200)
    server.close()
    await rm(path.dirname(socketPath), { recursive: true })
    expect(looked).toBe(0)
  })

  test("a process that cannot start gives `ready` its reason", async () => {
    const launch = () => ({
      exited: Promise.resolve("no such interpreter"),
      leave: () => undefined,
      kill: () => undefined,
    })
    const engine = start(new FakeEngine(), { launch, backOffMs: () => 20 })
    await expect(engine.ready(300)).rejects.toThrow("the engine is not ready: no such interpreter")
  })

  test("close ends the engine and every call made after it", async () => {
    const engine = start(new FakeEngine(), {})
    await engine.ready(5000)
    await engine.close()
    await expect(engine.call("chat", chat).result).rejects.toMatchObject({ kind: "unavailable" })
    expect(engine.status().state).toBe("closed")
  }, 10_000)

  test("an abort after the end of a call does nothing", async () => {
    const fake = new FakeEngine()
    const engine = start(fake)
    await engine.ready(5000)
    const controller = new AbortController()
    await engine.call("chat", chat, controller.signal).result
    const aborted = once(controller.signal, "abort")
    controller.abort()
    await aborted
    expect(fake.calls.map((call) => call.method)).toEqual(["hello", "chat"])
  })
})
