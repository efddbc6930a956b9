/**
 * Searches for words in payloads find the calls that a search in memory finds, whatever rows they are stored as (calls 2.3, 3.6):
 * after random histories of starts, ends and deletions, and in a project of more calls than are searched at once.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { type EvaluationApp, openEvaluationApp } from "../support/evaluation-app.ts"
import { seededBelow } from "../support/seeded-random.ts"

let app: EvaluationApp
beforeAll(async () => {
  app = await openEvaluationApp()
})
afterAll(() => app.close())

type Direction = "asc" | "desc"

const contains = (path: string, word: string, case_insensitive = true) => ({
  $contains: { input: { $getField: path }, substr: { $literal: word }, case_insensitive },
})
const anywhere = (word: string) => ({
  $or: ["inputs", "output", "exception"].map((path) => contains(path, word)),
})
const compare = (operator: string, path: string, value: unknown) => ({
  [operator]: [{ $getField: path }, { $literal: value }],
})

async function found(
  project_id: string,
  expression: object,
  direction: Direction,
  limit: number | null,
  field = "started_at",
  offset = 0,
) {
  const body = { project_id, query: { $expr: expression }, columns: ["op_name"], limit, offset }
  const lines = await app.acme.lines("/calls/stream_query", { ...body, sort_by: [{ field, direction }] })
  return (lines as { id: string }[]).map(({ id }) => id)
}

async function counted(project_id: string, expression: object, limit?: number): Promise<unknown> {
  const answer = await app.acme.post("/calls/query_stats", { project_id, query: { $expr: expression }, limit })
  return (answer.body as { count: number }).count
}

/** What the test knows of a call. */
interface ExpectedCall {
  id: string
  op: string
  second: number
  inputs: string
  output: string
  exception: string
  isStarted: boolean
  isDeleted: boolean
}

const idKinds: readonly ((number: number) => string)[] = [
  (number) => `01900000-0000-7000-8000-00000000000${number}`,
  (number) => `${number * 7919 + 10_000_000}-0000-4000-8000-00000000000${number}`,
  (number) => `b7ad6b71692033${number}${number}`,
]
const words = ["marigold", "larkspur", "foxglove", "snap-dragon 7"]
const opNames = ["plant", "water"]
const traceId = "01900000-0000-7000-8000-000000000999"
const firstSecond = Date.parse("2026-01-06T00:00:00Z") / 1000
const timeOf = (second: number) => new Date((firstSecond + second) * 1000).toISOString()

/** A project, and in memory what must be found in it. */
class ModelledProject {
  readonly project = app.acme.newProject()
  readonly #random: (below: number) => number
  readonly #calls: ExpectedCall[]

  constructor(seed: number) {
    this.#random = seededBelow(seed * 7919)
    const idOf = idKinds[seed % idKinds.length] as (number: number) => string
    this.#calls = Array.from({ length: 8 }, (_, number) => ({
      id: idOf(number),
      op: "",
      second: number,
      inputs: "",
      output: "",
      exception: "",
      isStarted: false,
      isDeleted: false,
    }))
  }

  async write(): Promise<void> {
    const call = this.#pick(this.#calls)
    const key = { project_id: this.project, id: call.id }
    const kind = this.#random(7)
    if (kind < 3) {
      const { second } = call
      // Sometimes a call starts again at another time.
      call.second = this.#random(4) === 0 ? (second % 10) + 10 * this.#random(5) : second
      Object.assign(call, { op: this.#pick(opNames), inputs: this.#note(), isStarted: true })
      const start = { ...key, trace_id: traceId, op_name: call.op, started_at: timeOf(call.second), attributes: {} }
      await this.#post("/call/start", { start: { ...start, inputs: { note: call.inputs } } })
    } else if (kind < 6) {
      call.output = this.#note()
      call.exception = this.#note()
      const exception = call.exception === "" ? null : `Traceback:\n  ${call.exception}`
      const end = { ...key, ended_at: timeOf(100), summary: {}, output: { note: call.output }, exception }
      await this.#post("/call/end", { end })
    } else if (this.#random(4) === 0) {
      call.isDeleted ||= call.isStarted
      await app.acme.post("/calls/delete", { project_id: this.project, call_ids: [call.id] })
    } else await this.#post("/call/update", { project_id: this.project, call_id: call.id, display_name: "named" })
  }

  async check(): Promise<void> {
    const [word, other] = [this.#pick(words), this.#pick(words)]
    const [second, opName, isAscending] = [this.#random(50), this.#pick(opNames), this.#random(2) === 0]
    const after = compare("$gte", "started_at", firstSecond + second)
    const before = compare("$lt", "started_at", firstSecond + second)
    const has = (text: string, part: string) => text.toLowerCase().includes(part)
    const any = ({ inputs, output, exception }: ExpectedCall, part: string) =>
      [inputs, output, exception].some((text) => has(text, part))
    const cases: [object, (call: ExpectedCall) => boolean][] = [
      [anywhere(word), (call) => any(call, word)],
      [{ $and: [anywhere(word), anywhere(other)] }, (call) => any(call, word) && any(call, other)],
      [
        { $and: [contains("inputs.note", word), contains("output.note", other)] },
        ({ inputs, output }) => has(inputs, word) && has(output, other),
      ],
      [contains("exception", word), ({ exception }) => has(exception, word)],
      [contains("exception", word, false), ({ exception }) => exception.includes(word)],
      [{ $not: [contains("exception", word)] }, ({ exception }) => exception !== "" && !has(exception, word)],
      [contains("output.note", word, false), ({ output }) => output.includes(word)],
      [compare("$eq", "inputs.note", word), ({ inputs }) => inputs === word],
      [
        { $in: [{ $getField: "output.note" }, words.map(($literal) => ({ $literal }))] },
        ({ output }) => words.includes(output),
      ],
      [{ $and: [after, anywhere(word)] }, (call) => call.second >= second && any(call, word)],
      [{ $and: [before, anywhere(word)] }, (call) => call.second < second && any(call, word)],
      [{ $and: [compare("$eq", "op_name", opName), anywhere(word)] }, (call) => call.op === opName && any(call, word)],
      [{ $or: [compare("$eq", "op_name", opName), anywhere(word)] }, (call) => call.op === opName || any(call, word)],
      [
        { $and: [{ $not: [compare("$eq", "inputs.note", word)] }, anywhere(other)] },
        (call) => call.inputs !== word && any(call, other),
      ],
    ]
    for (const [expression, isWanted] of cases) {
      const shown = this.#calls.filter((call) => call.isStarted && !call.isDeleted && isWanted(call))
      const ordered = (wanted: ExpectedCall[]) => (isAscending ? wanted : wanted.toReversed()).map(({ id }) => id)
      const byTime = ordered(shown.toSorted((a, b) => a.second - b.second))
      const byId = ordered(shown.toSorted((a, b) => (a.id < b.id ? -1 : 1)))
      const context = `${JSON.stringify(expression)} of ${JSON.stringify(this.#calls)}`
      const limit = this.#random(2) === 0 ? null : 1 + this.#random(3)
      const direction = isAscending ? "asc" : "desc"
      const end = limit ?? undefined
      expect(await found(this.project, expression, direction, limit), context).toEqual(byTime.slice(0, end))
      expect(await found(this.project, expression, direction, limit, "id"), context).toEqual(byId.slice(0, end))
      expect(await counted(this.project, expression), context).toBe(shown.length)
    }
  }

  #pick<T>(from: readonly T[]): T {
    return from[this.#random(from.length)] as T
  }

  #note(): string {
    const all = Array.from({ length: this.#random(3) }, () => this.#pick(words))
    return (this.#random(3) === 0 ? all.map((word) => word.toUpperCase()) : all).join(", ")
  }

  async #post(url: string, body: object): Promise<void> {
    const text = JSON.stringify(body)
    // Some programs escape letters that need no escape.
    const sent = this.#random(3) === 0 ? text.replaceAll(/(?<="note":"[^"]*)[aeo]/g, escaped) : text
    const answers = [await app.acme.post(url, sent)]
    if (this.#random(4) === 0) answers.push(await app.acme.post(url, sent))
    for (const { status, text: answer } of answers) expect(status, answer).toBe(200)
  }
}

const escaped = (sign: string) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, "0")}`

const histories = process.env["HEDDLE_SLOW_TESTS"] === undefined ? 2 : 100

test.each(Array.from({ length: histories }, (_, index) => index + 1))(
  "calls 3.6: after random history %d of starts, ends and deletions, words are found where they are",
  async (seed) => {
    const modelled = new ModelledProject(seed)
    for (let count = 1; count <= 32; count++) {
      await modelled.write()
      if (count % 16 === 0) await modelled.check()
    }
    await app.app.stores.traces.command("optimize table calls_v2 final")
    await modelled.check()
  },
)

test("calls 3.6: words of a start and of its end are found together", async () => {
  const project = app.acme.newProject()
  const key = { project_id: project, id: "01900000-0000-7000-8000-000000000001" }
  const start = { ...key, trace_id: traceId, op_name: "op", started_at: timeOf(1), attributes: {} }
  await app.acme.post("/call/start", { start: { ...start, inputs: { note: "marigold" } } })
  await app.acme.post("/call/end", { end: { ...key, ended_at: timeOf(2), summary: {}, output: { note: "larkspur" } } })
  const both = { $and: [contains("inputs.note", "marigold"), contains("output.note", "larkspur")] }
  expect(await found(project, both, "asc", 10, "id")).toEqual([key.id])
  expect(await counted(project, both)).toBe(1)
})

describe("calls 3.6: in a project of many calls", () => {
  const project = "acme/many-words"
  const count = 70_000
  const at = (number: number) => Date.UTC(2026, 0, 1) + number * 1000
  /** At each end every tenth call has an id that holds a time in the middle. */
  const isOdd = (number: number) => number % 10 === 3 && (number < 4000 || number >= count - 4000)
  const idOf = (number: number) => {
    const time = at(isOdd(number) ? (number + count / 2) % count : number)
    const hex = time.toString(16).padStart(12, "0")
    return `${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-${String(number).padStart(12, "0")}`
  }
  const noteOf = (number: number) =>
    [
      "daisy",
      number % 40 === 0 ? "clover" : "",
      number % 2000 === 3 ? "orchid" : "",
      number < 40 || number >= count - 40 || number % 3500 === 0 ? "heather" : "",
      number === 12_345 || number === 69_993 ? "edelweiss" : "",
    ].join(" ")
  const all = Array.from({ length: count }, (_, number) => number)

  beforeAll(async () => {
    for (let from = 0; from < count; from += 10_000) {
      const batch = all.slice(from, from + 10_000).map((number) => ({
        project_id: project,
        id: idOf(number),
        trace_id: traceId,
        op_name: "op",
        started_at: new Date(at(number)).toISOString(),
        ended_at: new Date(at(number) + 500).toISOString(),
        attributes: {},
        inputs: { note: noteOf(number) },
        output: null,
        summary: {},
      }))
      const { status, text } = await app.acme.post(`/v2/${project}/calls/complete`, { batch })
      expect(status, text).toBe(200)
    }
  })

  test.each(["daisy", "clover", "orchid", "heather", "edelweiss", "cactus"])(
    "the calls with the word %s are found from both ends of time, and counted",
    async (word) => {
      const wanted = all.filter((number) => noteOf(number).includes(word)).map(idOf)
      const reversed = wanted.toReversed()
      for (const limit of [20, 60]) {
        expect(await found(project, anywhere(word), "asc", limit)).toEqual(wanted.slice(0, limit))
        expect(await found(project, anywhere(word), "desc", limit)).toEqual(reversed.slice(0, limit))
      }
      for (const offset of [1, 25, 45]) {
        const page = await found(project, anywhere(word), "asc", 20, "started_at", offset)
        expect(page).toEqual(wanted.slice(offset, offset + 20))
      }
      expect(await counted(project, anywhere(word), 50)).toBe(Math.min(50, wanted.length))
      expect(await counted(project, anywhere(word))).toBe(wanted.length)
    },
  )

  test("calls 3.4: what the end of time that comes first holds is sent before the others are found", async () => {
    const body = {
      project_id: project,
      query: { $expr: anywhere("edelweiss") },
      sort_by: [{ field: "started_at", direction: "asc" }],
      columns: ["op_name"],
      limit: 100,
    }
    const url = await app.app.server.listen({ host: "127.0.0.1", port: 0 })
    const headers = { authorization: `Bearer ${app.acme.key}`, "content-type": "application/json" }
    const answer = await fetch(`${url}/calls/stream_query`, { method: "POST", headers, body: JSON.stringify(body) })
    const parts: string[] = []
    for await (const part of answer.body!.pipeThrough(new TextDecoderStream())) parts.push(part)
    expect(parts.map((part) => (JSON.parse(part) as { id: string }).id)).toEqual([idOf(12_345), idOf(69_993)])
  })

  test("of values among which there is none, nothing is found", async () => {
    const expression = { $in: [{ $getField: "inputs.note" }, [{ $literal: null }]] }
    expect(await found(project, expression, "desc", 10)).toEqual([])
    expect(await counted(project, expression)).toBe(0)
  })

  test("a range of time is held to", async () => {
    const [from, to] = [10_003, 20_003]
    const within = {
      $and: [
        compare("$gte", "started_at", at(from) / 1000),
        compare("$lt", "started_at", at(to) / 1000),
        anywhere("orchid"),
      ],
    }
    const wanted = all.slice(from, to).filter((number) => noteOf(number).includes("orchid"))
    expect(await found(project, within, "asc", 100)).toEqual(wanted.map(idOf))
    expect(await counted(project, within)).toBe(wanted.length)
  })
})
