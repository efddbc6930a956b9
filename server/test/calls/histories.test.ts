/** Random histories of repeated and interleaved writes in any order give what a small model computes (calls 2.3). */
import { afterAll, beforeAll, expect, test } from "vitest"
import { type EvaluationApp, openEvaluationApp } from "../support/evaluation-app.ts"
import { seededBelow } from "../support/seeded-random.ts"

let app: EvaluationApp
beforeAll(async () => {
  app = await openEvaluationApp()
})
afterAll(() => app.close())

const histories = process.env["HEDDLE_SLOW_TESTS"] === undefined ? 8 : 100
const writes = 40
/** Number of calls in a history, few enough that many writes have the same call. */
const population = 6

interface Shown {
  id: string
  started_at: string
  inputs: { version: number }
  parent_id: string | null
  display_name: string | null
  ended_at: string | null
  output: unknown
  exception: string | null
}

interface Modelled {
  started: { version: number; parent_id: string | null; started_at: string } | null
  ended: { output: number; exception: string | null } | null
  name: string | null
  deleted: boolean
}

/** Kinds of ids. A UUIDv7 says where its call is stored; for other UUIDs and span ids the store records the place. */
const idKinds: readonly ((number: number) => string)[] = [
  (number) => `01900000-0000-7000-8000-00000000000${number}`,
  (number) => `${number * 7919 + 10_000_000}-0000-4000-8000-00000000000${number}`,
  (number) => `b7ad6b71692033${number}${number}`,
]
const traceId = "01900000-0000-7000-8000-000000000999"

class History {
  readonly #project = app.acme.newProject()
  readonly #random: (below: number) => number
  readonly #idOf: (number: number) => string
  readonly #calls: Modelled[] = Array.from({ length: population }, () => ({
    started: null,
    ended: null,
    name: null,
    deleted: false,
  }))
  #version = 0
  /** The requests so far, which a failure prints. */
  readonly told: string[] = []

  constructor(seed: number) {
    this.#random = seededBelow(seed)
    this.#idOf = idKinds[seed % idKinds.length] as (number: number) => string
  }

  async write(): Promise<void> {
    const kinds = [this.#start, this.#end, this.#complete, this.#batch, this.#rename, this.#delete]
    // Deletions are rarer, so that some calls are left.
    const kind = kinds[this.#random(4) === 0 ? this.#random(6) : this.#random(5)] as () => Promise<void>
    await kind.call(this)
  }

  async check(): Promise<void> {
    const shown = (await app.acme.lines("/calls/stream_query", { project_id: this.#project })) as Shown[]
    const seen = shown.map(({ id, started_at, inputs, parent_id, display_name, ended_at, output, exception }) => ({
      id,
      started_at,
      version: inputs.version,
      parent_id,
      name: display_name,
      ended: ended_at === null ? null : { output, exception },
    }))
    const expected = this.#calls
      .flatMap(({ started, ended, name, deleted }, number) =>
        started === null || deleted ? [] : [{ id: this.#idOf(number), ...started, name, ended }],
      )
      .toSorted((a, b) => (a.started_at + a.id < b.started_at + b.id ? -1 : 1))
    expect(seen, this.told.join("\n")).toEqual(expected)
  }

  #pick(): number {
    return this.#random(population)
  }

  #startOf(number: number) {
    // A parent has a lower number, so that no call is its own ancestor.
    const parent_id = number > 0 && this.#random(2) === 0 ? this.#idOf(this.#random(number)) : null
    const call = this.#calls[number] as Modelled
    const version = ++this.#version
    // The fields of two starts are merged: a start without a parent keeps the parent of the other.
    // Sometimes a call starts again at another time, which becomes its start.
    const day = this.#random(8) === 0 ? 1 + this.#random(5) : 6
    const started_at = `2026-01-0${day}T00:00:0${number}.000000Z`
    call.started = { version, parent_id: parent_id ?? call.started?.parent_id ?? null, started_at }
    return {
      project_id: this.#project,
      id: this.#idOf(number),
      trace_id: traceId,
      parent_id,
      op_name: "op",
      started_at,
      attributes: {},
      inputs: { version },
    }
  }

  #endOf(number: number) {
    const output = ++this.#version
    const exception = this.#random(2) === 0 ? null : `failed ${output}`
    const call = this.#calls[number] as Modelled
    call.ended = { output, exception }
    return {
      project_id: this.#project,
      id: this.#idOf(number),
      ended_at: "2026-01-07T00:01:00Z",
      output,
      exception,
      summary: {},
    }
  }

  async #post(url: string, body: object): Promise<unknown> {
    const answer = await app.acme.post(url, body)
    this.told.push(`${url} ${JSON.stringify(body)} → ${answer.status} ${answer.text}`)
    expect(answer.status, this.told.join("\n")).toBe(200)
    // The same request once more, as a client sends it that got no answer.
    if (this.#random(4) === 0) expect((await app.acme.post(url, body)).status).toBe(200)
    return answer.body
  }

  async #start(): Promise<void> {
    const paths = ["/call/start", `/v2/${this.#project}/call/start`]
    await this.#post(paths[this.#random(2)] as string, { start: this.#startOf(this.#pick()) })
  }

  async #end(): Promise<void> {
    const paths = ["/call/end", `/v2/${this.#project}/call/end`]
    await this.#post(paths[this.#random(2)] as string, { end: this.#endOf(this.#pick()) })
  }

  async #complete(): Promise<void> {
    const number = this.#pick()
    const batch = [{ ...this.#endOf(number), ...this.#startOf(number) }]
    await this.#post(`/v2/${this.#project}/calls/complete`, { batch })
  }

  async #batch(): Promise<void> {
    const batch = Array.from({ length: 1 + this.#random(5) }, () =>
      this.#random(2) === 0
        ? { mode: "start", req: { start: this.#startOf(this.#pick()) } }
        : { mode: "end", req: { end: this.#endOf(this.#pick()) } },
    )
    await this.#post("/call/upsert_batch", { batch })
  }

  async #rename(): Promise<void> {
    const number = this.#pick()
    const display_name = this.#random(3) === 0 ? "" : `name ${++this.#version}`
    const call = this.#calls[number] as Modelled
    call.name = display_name === "" ? null : display_name
    await this.#post("/call/update", { project_id: this.#project, call_id: this.#idOf(number), display_name })
  }

  async #delete(): Promise<void> {
    const number = this.#pick()
    const removed = this.#below(number)
    for (const one of removed) (this.#calls[one] as Modelled).deleted = true
    const answer = await app.acme.post("/calls/delete", { project_id: this.#project, call_ids: [this.#idOf(number)] })
    this.told.push(`delete ${number} → ${answer.text}`)
    expect(answer.body, this.told.join("\n")).toEqual({ num_deleted: removed.length })
  }

  /** Numbers of the call and of all calls below it, without hidden ones. */
  #below(number: number): number[] {
    const { started, deleted } = this.#calls[number] as Modelled
    if (started === null || deleted) return []
    const children = this.#calls.flatMap((call, at) => (call.started?.parent_id === this.#idOf(number) ? [at] : []))
    return [number, ...children.flatMap((child) => this.#below(child))]
  }
}

test.each(Array.from({ length: histories }, (_, index) => index + 1))(
  "calls 2.3: random history %d of starts, ends, batches, names and deletions shows what the model says",
  async (seed) => {
    const history = new History(seed * 7919)
    // The first write makes the project, which checks need.
    await history.write()
    for (let count = 1; count < writes; count++) {
      await history.write()
      if (count % 8 === 0) await history.check()
    }
    await app.app.stores.traces.command("optimize table calls_v2 final")
    await history.check()
  },
)
