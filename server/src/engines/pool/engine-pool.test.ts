/** Several engines that misbehave behind one: who serves, who is left out, what becomes of chats and jobs. */
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import path from "node:path"
import { afterEach, beforeEach, describe, expect, test } from "vitest"
import { SupervisedEngine } from "../engine-process.ts"
import { type EngineCall, EngineFailure, type EngineParams } from "../engine.ts"
import { FakeEngine, type FakeHandlers, fakeTokens, untilCancelled, writeFakeCheckpoint } from "../fake-engine.ts"
import { EnginePool } from "./engine-pool.ts"

const silent = { info: () => undefined, warn: () => undefined, error: () => undefined }
let folder: string
let pools: EnginePool[] = []
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "heddle-pool-"))
  await writeFile(path.join(folder, "data.jsonl"), "{}\n{}\n")
})
afterEach(async () => {
  await Promise.all(pools.map((pool) => pool.close()))
  pools = []
  await rm(folder, { recursive: true })
})

const names = ["a", "b", "c"]

/** An engine that is lost stays away for `awayMs`. */
async function open(handlers: FakeHandlers[], { failOverMs = 60_000, awayMs = 0 } = {}) {
  const fakes = handlers.map((own) => new FakeEngine(own))
  const engines = fakes.map((fake, place) => ({
    name: names[place] ?? "",
    engine: new SupervisedEngine({ launch: fake.launch, log: silent, backOffMs: () => awayMs }),
  }))
  const pool = new EnginePool({ engines, failOverMs })
  pools.push(pool)
  await Promise.all(engines.map(({ engine }) => engine.ready(5_000).catch(() => undefined)))
  const asked = (method: string) => fakes.map(({ calls }) => calls.filter((call) => call.method === method).length)
  return { pool, fakes, engines, asked }
}

const base = { name: "heddle/tiny", path: null }
const chat = (question: string, changes: Partial<EngineParams<"chat">> = {}): EngineParams<"chat"> => ({
  base,
  adapter: null,
  messages: [{ role: "user", content: question }],
  sampling: { max_tokens: 2 },
  ...changes,
})
const questions = Array.from({ length: 40 }, (_, number) => `question ${number}`)

async function job(id: string): Promise<EngineParams<"train">> {
  await mkdir(path.join(folder, id), { recursive: true })
  return {
    job_id: id,
    base,
    lora: { rank: 8, alpha: 16, seed: 1 },
    start: null,
    reference: null,
    data: { path: path.join(folder, "data.jsonl"), sha256: "" },
    job: { kind: "sft", config: { batch_size: 1, learning_rate: 0.1, assistant_turns: "all" } },
    work_dir: path.join(folder, id),
    output: { key: `${id}@1`, path: path.join(folder, id, "made") },
  }
}

async function haveBase(pool: EnginePool, fakes: FakeEngine[]): Promise<void> {
  for (const fake of fakes) fake.bases = [base.name]
  const known = () => pool.members().every(({ engine }) => engine.status().heartbeat?.bases?.[0] === base.name)
  await expect.poll(known).toBe(true)
}

const homeOf = (id: string) => readFile(path.join(folder, id, "engine"), "utf8")

async function eventsOf(call: EngineCall<"chat"> | EngineCall<"train">): Promise<string[]> {
  const events: string[] = []
  for await (const batch of call.events) events.push(...batch.map(({ event }) => event))
  return events
}

describe("chats", () => {
  test("turns of a conversation go to one engine, conversations to both once both have the base", async () => {
    const { pool, fakes, asked } = await open([{}, {}])
    await haveBase(pool, fakes)
    const engineOf = async (question: string, more: { role: string; content: string }[] = []) => {
      const before = asked("chat")
      await pool.call("chat", chat(question, { messages: [{ role: "user", content: question }, ...more] })).result
      return asked("chat").findIndex((count, place) => count > (before[place] ?? 0))
    }
    const first = []
    for (const question of questions) first.push(await engineOf(question))
    const later = [
      { role: "assistant", content: "7" },
      { role: "user", content: "and?" },
    ]
    for (const [place, question] of questions.entries()) expect(await engineOf(question, later)).toBe(first[place])
    expect(new Set(first)).toEqual(new Set([0, 1]))
  })

  test("an engine that lacks the base is passed over, and remembered", async () => {
    const lacking = () => {
      throw new EngineFailure("not_found", "no such folder", "base_model")
    }
    const { pool, asked } = await open([{ chat: lacking, "base.resolve": lacking }, {}, { chat: lacking }])
    for (const question of questions) await pool.call("chat", chat(question)).result
    expect(asked("chat")[1]).toBe(questions.length)
    expect(Math.max(asked("chat")[0] ?? 0, asked("chat")[2] ?? 0)).toBeLessThanOrEqual(1)
    expect(await pool.call("base.resolve", { base }).result).toMatchObject({ architecture: "FakeForCausalLM" })
  })

  test("a base that no engine has is `not_found`, unless an engine is away that may have it", async () => {
    const lacking = () => {
      throw new EngineFailure("not_found", "no such folder", "base_model")
    }
    const { pool, fakes, engines } = await open([{ chat: lacking }, { chat: lacking }], { awayMs: 60_000 })
    await expect(pool.call("chat", chat("one")).result).rejects.toMatchObject({ kind: "not_found" })
    fakes[1]?.die()
    await expect.poll(() => engines[1]?.engine.status().state).toBe("restarting")
    const refused = pool.call("chat", chat("one")).result
    await expect(refused).rejects.toMatchObject({ kind: "unavailable", message: expect.stringContaining("away: b") })
  })

  test("an engine without room passes the chat on; where none has room, its answer stands", async () => {
    const full = () => {
      throw new EngineFailure("out_of_memory", "no room for keys and values")
    }
    const one = await open([{ chat: full }, {}])
    for (const question of questions) await one.pool.call("chat", chat(question)).result
    expect(one.asked("chat")[1]).toBe(questions.length)
    const { pool } = await open([{ chat: full }, { chat: full }])
    await expect(pool.call("chat", chat("one")).result).rejects.toMatchObject({ kind: "out_of_memory" })
  })

  test("what a client did wrong is asked of one engine only", async () => {
    const wrong = () => {
      throw new EngineFailure("invalid", "temperature", "temperature")
    }
    const { pool, asked } = await open([{ chat: wrong }, { chat: wrong }])
    await expect(pool.call("chat", chat("one")).result).rejects.toMatchObject({ kind: "invalid" })
    expect((asked("chat")[0] ?? 0) + (asked("chat")[1] ?? 0)).toBe(1)
  })

  test("when an engine dies its chats fail, all others go on, and what comes next goes to those that are left", async () => {
    const { pool, fakes, engines } = await open(
      [{ chat: (_params, call) => untilCancelled(call) }, { chat: (_params, call) => untilCancelled(call) }],
      { awayMs: 60_000 },
    )
    await haveBase(pool, fakes)
    const running = questions.map((question) =>
      pool.call("chat", chat(question)).result.catch((error: unknown) => error),
    )
    await expect.poll(() => fakes.every(({ calls }) => calls.some(({ method }) => method === "chat"))).toBe(true)
    const given = fakes[1]?.calls.filter(({ method }) => method === "chat").length ?? 0
    fakes[0]?.die()
    await expect.poll(() => engines[0]?.engine.status().state).toBe("restarting")
    expect(pool.status().state).toBe("ready")
    for (const fake of fakes) fake.handlers.chat = () => ({ completion_tokens: 1 })
    expect(await pool.call("chat", chat("after")).result).toEqual({ completion_tokens: 1 })
    expect(fakes[1]?.calls.filter(({ method }) => method === "chat")).toHaveLength(given + 1)
    fakes[1]?.die()
    const outcomes = await Promise.all(running)
    expect(outcomes.every((outcome) => outcome instanceof EngineFailure && outcome.kind === "unavailable")).toBe(true)
  })

  test("an engine that is about to stop gets no more chats", async () => {
    const draining = () => {
      throw new EngineFailure("unavailable", "The engine is shutting down.")
    }
    const { pool, asked } = await open([{ chat: draining }, {}])
    const outcomes = []
    for (const question of questions) outcomes.push(await pool.call("chat", chat(question)).result.catch(() => "lost"))
    expect(outcomes.filter((outcome) => outcome === "lost").length).toBeLessThanOrEqual(1)
    expect(asked("chat")[0]).toBeLessThanOrEqual(1)
  })

  test("a stream that has begun is not begun again", async () => {
    const half = (_params: EngineParams<"chat">, call: { emit: (event: string, data: unknown) => void }) => {
      call.emit("start", { prompt_token_ids: [1], cached_tokens: 0 })
      call.emit("delta", { index: 0, content: "a", reasoning: "", tool_calls: [], tokens: fakeTokens(1) })
      throw new EngineFailure("out_of_memory", "no room")
    }
    const { pool, asked } = await open([{ chat: half }, { chat: half }])
    const call = pool.call("chat", chat("one", { stream: true }))
    expect(await eventsOf(call)).toEqual(["start", "delta"])
    await expect(call.result).rejects.toMatchObject({ kind: "out_of_memory" })
    expect((asked("chat")[0] ?? 0) + (asked("chat")[1] ?? 0)).toBe(1)
  })
})

test("engines that speak another protocol are left out, each with its reason", async () => {
  const other = { hello: () => ({ protocol: 99 }) }
  const { pool, asked } = await open([other, {}])
  for (const question of questions) await pool.call("chat", chat(question)).result
  expect(asked("chat")).toEqual([0, questions.length])
  const [refused] = pool.members()
  await expect.poll(() => refused?.engine.status().reason).toContain("the engine speaks protocol 99, this server 1")
})

test("without any engine calls fail at once, with every reason", async () => {
  const other = { hello: () => ({ protocol: 99 }) }
  const { pool } = await open([other, other], { awayMs: 60_000 })
  await expect.poll(() => pool.status().reason).toMatch(/protocol 99.*; .*protocol 99/)
  await expect(pool.call("chat", chat("one")).result).rejects.toMatchObject({ kind: "unavailable" })
  await expect(pool.ready(50)).rejects.toThrow("protocol 99")
})

describe("jobs", () => {
  test("are spread over the engines, each with as many as one trains", async () => {
    const { pool, asked } = await open([
      { train: (_params, call) => untilCancelled(call) },
      { train: (_params, call) => untilCancelled(call) },
    ])
    const stop = new AbortController()
    const begin = async (id: string) => pool.call("train", await job(id), stop.signal).result.catch(() => undefined)
    const running = Array.from({ length: 8 }, (_, number) => begin(`job-${number}`))
    await expect.poll(() => asked("train")).toEqual([4, 4])
    running.push(begin("ninth"))
    await expect.poll(() => pool.jobPlaces()).toEqual({ engines: 2, waiting: 1 })
    expect(asked("train")).toEqual([4, 4])
    stop.abort()
    await Promise.all(running)
    expect(pool.jobPlaces()).toEqual({ engines: 2, waiting: 0 })
  })

  test("a base whose weights do not come is no reason to refuse a job of another", async () => {
    const lacking = () => {
      throw new EngineFailure("unavailable", "the weights could not be downloaded", "base_model")
    }
    const { pool, asked } = await open([{ chat: lacking }])
    const refused = pool.call("chat", chat("one", { base: { name: "org/far", path: null } })).result
    await expect(refused).rejects.toMatchObject({ kind: "unavailable", message: expect.stringContaining("downloaded") })
    await pool.call("train", await job("one")).result
    expect(asked("train")).toEqual([1])
  })

  test("a job goes to another engine where weights do not come, but for one whose own engine it is", async () => {
    const lacking = () => {
      throw new EngineFailure("unavailable", "the weights could not be downloaded", "base_model")
    }
    const { pool, asked } = await open([{ train: lacking }, {}])
    await pool.call("train", await job("new")).result
    expect([await homeOf("new"), asked("train")[1]]).toEqual(["b", 1])
    const own = await job("own")
    await writeFile(path.join(folder, "own", "engine"), "a")
    await expect(pool.call("train", own).result).rejects.toMatchObject({ kind: "unavailable" })
    expect([await homeOf("own"), asked("train")[1]]).toEqual(["a", 1])
  })

  test("a job that comes while the only engine refuses calls waits for it", async () => {
    const draining = () => {
      throw new EngineFailure("unavailable", "The engine is shutting down.")
    }
    const { pool, asked } = await open([{ chat: draining }])
    await expect(pool.call("chat", chat("one")).result).rejects.toMatchObject({ kind: "unavailable" })
    const stop = new AbortController()
    const waiting = pool.call("train", await job("one"), stop.signal).result
    // Nobody takes more jobs off the queue meanwhile.
    await expect.poll(() => pool.jobPlaces()).toEqual({ engines: 0, waiting: 1 })
    stop.abort()
    await expect(waiting).rejects.toMatchObject({ kind: "cancelled" })
    expect(asked("train")).toEqual([0])
  })

  test("a job goes back to the engine that has its snapshots, as soon as that is there", async () => {
    const { pool, fakes, asked } = await open(
      [{ train: (_params, call) => untilCancelled(call) }, { train: (_params, call) => untilCancelled(call) }],
      { awayMs: 700 },
    )
    const params = await job("one")
    const lost = pool.call("train", params).result
    await expect.poll(() => asked("train").includes(1)).toBe(true)
    const own = asked("train").indexOf(1)
    expect(await homeOf("one")).toBe(names[own])
    fakes[own]?.die()
    await expect(lost).rejects.toMatchObject({ kind: "unavailable" })
    for (const fake of fakes) fake.handlers.train = (again) => writeFakeCheckpoint(again, 0)
    const again = pool.call("train", params).result
    await expect.poll(() => pool.jobPlaces()).toEqual({ engines: 1, waiting: 1 })
    await again
    expect(asked("train")[own]).toBe(2)
    expect(asked("train")[1 - own]).toBe(0)
  })

  test("an engine that stays away loses its jobs to another after a time, and another server knows whose they are", async () => {
    const { pool, fakes, asked } = await open(
      [{ train: (_params, call) => untilCancelled(call) }, { train: (_params, call) => untilCancelled(call) }],
      { awayMs: 60_000, failOverMs: 600 },
    )
    const params = await job("one")
    const lost = pool.call("train", params).result
    await expect.poll(() => asked("train").includes(1)).toBe(true)
    const own = asked("train").indexOf(1)
    fakes[own]?.die()
    await expect(lost).rejects.toMatchObject({ kind: "unavailable" })
    for (const fake of fakes) fake.handlers.train = (again) => writeFakeCheckpoint(again, 0)
    const again = pool.call("train", params)
    const events = eventsOf(again)
    await expect.poll(() => pool.jobPlaces().waiting).toBe(1)
    expect(asked("train")[1 - own]).toBe(0)
    await again.result
    expect(asked("train")[1 - own]).toBe(1)
    expect(await homeOf("one")).toBe(names[1 - own])
    expect(await events).toEqual([])
  })

  test("a job that waits for its engine can be cancelled", async () => {
    const { pool } = await open([{}, {}])
    const params = await job("one")
    await writeFile(path.join(folder, "one", "engine"), "a")
    const { fakes, pool: other } = await open([{}, {}], { awayMs: 60_000 })
    fakes[0]?.die()
    await expect.poll(() => other.members()[0]?.engine.status().state).toBe("restarting")
    const stop = new AbortController()
    const waiting = other.call("train", params, stop.signal).result
    await expect.poll(() => other.jobPlaces().waiting).toBe(1)
    stop.abort()
    await expect(waiting).rejects.toMatchObject({ kind: "cancelled" })
    expect(other.jobPlaces().waiting).toBe(0)
    // The same job at a server whose engine `a` is there.
    await pool.call("train", params).result
    expect(await homeOf("one")).toBe("a")
  })

  test("an engine that lacks the base, or memory for it, passes a job on that has not begun", async () => {
    const lacking = () => {
      throw new EngineFailure("not_found", "no such folder", "base_model")
    }
    const full = () => {
      throw new EngineFailure("out_of_memory", "the weights do not fit")
    }
    const { pool, asked } = await open([{ train: lacking }, { train: full }, {}])
    for (const id of ["one", "two", "three"]) {
      await pool.call("train", await job(id)).result
      expect(await homeOf(id)).toBe("c")
    }
    expect(asked("train")[2]).toBe(3)
    expect(asked("train")[0]).toBeLessThanOrEqual(1)
  })

  describe("that one engine refused", () => {
    const full = () => {
      throw new EngineFailure("out_of_memory", "the weights do not fit")
    }
    const lacking = () => {
      throw new EngineFailure("not_found", "no such folder", "base_model")
    }
    const homeIsA = async (id: string) => {
      const params = await job(id)
      await writeFile(path.join(folder, id, "engine"), "a")
      return params
    }

    test("is cancelled while it waits for a place on another, and not refused", async () => {
      const { pool, asked } = await open([{ train: full }, { train: (_params, call) => untilCancelled(call) }])
      const stop = new AbortController()
      const begin = async (id: string) => pool.call("train", await homeIsA(id), stop.signal).result
      const running = Array.from({ length: 5 }, (_, number) => begin(`job-${number}`).catch((error: unknown) => error))
      await expect.poll(() => [asked("train"), pool.jobPlaces().waiting]).toEqual([[5, 4], 1])
      stop.abort()
      for (const outcome of await Promise.all(running)) expect(outcome).toMatchObject({ kind: "cancelled" })
    })

    test("waits for another that is away for a moment", async () => {
      const { pool, fakes, engines } = await open([{ train: full }, {}], { awayMs: 700 })
      fakes[1]?.die()
      await expect.poll(() => engines[1]?.engine.status().state).toBe("restarting")
      await pool.call("train", await job("one")).result
      expect(await homeOf("one")).toBe("b")
    })

    test.each([full, lacking])("is given back where another stays away", async (refuse) => {
      const { pool, fakes, engines } = await open([{ train: refuse }, {}], { awayMs: 60_000, failOverMs: 300 })
      fakes[1]?.die()
      await expect.poll(() => engines[1]?.engine.status().state).toBe("restarting")
      const refused = pool.call("train", await job("one")).result
      await expect(refused).rejects.toMatchObject({ kind: "unavailable", message: expect.stringContaining("away: b") })
    })
  })
})
