import { describe, expect, test } from "vitest"
import { type EngineLoad, placeChat, placeJob } from "./placement.ts"

const engine = (name: string, changes: Partial<EngineLoad> = {}): EngineLoad => ({
  name,
  base: "warm",
  choices: 0,
  rows: 128,
  memoryBytes: 16,
  jobs: 0,
  ...changes,
})
const chat = (key: string, choices = 1) => ({ base: "tiny", key, choices })
const keys = Array.from({ length: 2_000 }, (_, number) => `conversation ${number}`)
const placed = (engines: EngineLoad[], key: string) => placeChat(engines, chat(key))?.name

describe("chats", () => {
  test("a key has its engine, and keys are spread evenly", () => {
    const engines = ["a", "b", "c", "d"].map((name) => engine(name))
    const names = keys.map((key) => placed(engines, key))
    expect(keys.map((key) => placed(engines.toReversed(), key))).toEqual(names)
    for (const { name } of engines) {
      const share = names.filter((own) => own === name).length / keys.length
      expect(share).toBeGreaterThan(0.2)
      expect(share).toBeLessThan(0.3)
    }
  })

  test("when an engine goes, only its keys go elsewhere", () => {
    const engines = ["a", "b", "c", "d"].map((name) => engine(name))
    const left = engines.filter(({ name }) => name !== "c")
    for (const key of keys) {
      const before = placed(engines, key)
      if (before !== "c") expect(placed(left, key)).toBe(before)
    }
  })

  test("an engine with twice the rows has twice the keys", () => {
    const engines = [engine("a"), engine("b", { rows: 256 })]
    const share = keys.filter((key) => placed(engines, key) === "b").length / keys.length
    expect(share).toBeGreaterThan(0.62)
    expect(share).toBeLessThan(0.71)
  })

  test("an engine that is loaded beyond the bound gives its keys to the others, and an idle pool keeps them together", () => {
    const easy = [engine("a", { choices: 15 }), engine("b")]
    const full = [engine("a", { choices: 60 }), engine("b", { choices: 30 })]
    const even = [engine("a", { choices: 60 }), engine("b", { choices: 55 })]
    const ofA = keys.filter((key) => placed([engine("a"), engine("b")], key) === "a")
    expect(new Set(ofA.map((key) => placed(easy, key)))).toEqual(new Set(["a"]))
    expect(new Set(ofA.map((key) => placed(full, key)))).toEqual(new Set(["b"]))
    expect(new Set(ofA.map((key) => placed(even, key)))).toEqual(new Set(["a"]))
  })

  test("2,000 chats with one key go to every engine, and none has more than a quarter above the mean", () => {
    const engines = ["a", "b", "c"].map((name) => engine(name, { rows: 1_000 }))
    for (let number = 0; number < 2_000; number++) {
      const own = placeChat(engines, chat("one"))
      if (own !== null) own.choices += 1
    }
    const loads = engines.map(({ choices }) => choices)
    expect(Math.max(...loads)).toBeLessThanOrEqual(Math.ceil((1.25 * 2_000) / 3))
    expect(Math.min(...loads)).toBeGreaterThan(300)
  })

  test("one large request is placed where a small one is", () => {
    const engines = [engine("a"), engine("b")]
    for (const key of keys.slice(0, 50)) expect(placeChat(engines, chat(key, 128))?.name).toBe(placed(engines, key))
  })

  test("an engine that has the base comes first, a cold one when that is busy", () => {
    const cold = engine("b", { base: "cold" })
    for (const key of keys.slice(0, 50)) {
      expect(placed([engine("a"), cold], key)).toBe("a")
      expect(placed([engine("a", { choices: 50 }), cold], key)).toBe("b")
    }
  })

  test("while one engine reads the weights no other begins to", () => {
    const loading = engine("b", { base: "loading", choices: 1 })
    const cold = engine("c", { base: "cold" })
    for (const key of keys.slice(0, 50)) {
      expect(placed([loading, cold], key)).toBe("b")
      expect(placed([engine("a", { choices: 100 }), loading, cold], key)).toBe("a")
    }
  })

  test("a base that none has comes up on one engine, on a large one rather than a small one", () => {
    const engines = [engine("a", { base: "cold" }), engine("b", { base: "cold", memoryBytes: 48 })]
    expect(new Set(keys.map((key) => placed(engines, key))).size).toBe(1)
    const bases = keys.map((base) => placeChat(engines, { base, key: "one", choices: 1 })?.name)
    const share = bases.filter((name) => name === "b").length / keys.length
    expect(share).toBeGreaterThan(0.7)
    expect(share).toBeLessThan(0.8)
  })

  test("of engines beyond the bound the one with the most room is taken while another reads the weights", () => {
    const full = [engine("a", { choices: 300 }), engine("b", { choices: 280 }), engine("c", { base: "loading" })]
    const idle = [engine("d", { base: "cold" }), engine("e", { base: "cold" })]
    expect(new Set(keys.slice(0, 50).map((key) => placed([...full, ...idle], key)))).toEqual(new Set(["b"]))
  })

  test("engines that are equally full keep their keys apart; one takes all; of none, none", () => {
    const full = [engine("a", { choices: 900 }), engine("b", { choices: 880 }), engine("c", { choices: 910 })]
    expect(new Set(keys.slice(0, 50).map((key) => placed(full, key)))).toEqual(new Set(["a", "b", "c"]))
    expect(placed([engine("a", { choices: 900 })], "one")).toBe("a")
    expect(placeChat([], chat("one"))).toBeNull()
  })
})

describe("jobs", () => {
  const job = { key: "model", mostJobs: 4 }

  test("go where the fewest are, then where the base is, then where the model's last one was", () => {
    expect(placeJob([engine("a", { jobs: 1 }), engine("b", { base: "cold" })], job)?.name).toBe("b")
    expect(placeJob([engine("a", { base: "cold" }), engine("b")], job)?.name).toBe("b")
    const own = placeJob([engine("a"), engine("b")], job)?.name
    expect(placeJob([engine("b"), engine("a")], job)?.name).toBe(own)
  })

  test("an engine trains no more than its places", () => {
    expect(placeJob([engine("a", { jobs: 4 }), engine("b", { jobs: 3, base: "cold" })], job)?.name).toBe("b")
    expect(placeJob([engine("a", { jobs: 4 })], job)).toBeNull()
  })
})
