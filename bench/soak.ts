/** Measures an hour of mixed use: memory of server and engine, errors, and the waits of a light request. */
import { setTimeout as sleep } from "node:timers/promises"
import { type CallBatch, otlpBatch, weaveBatch } from "./harness/call-batches.ts"
import { type BenchCall, CallCorpus, seededRandom } from "./harness/call-corpus.ts"
import { callIds, chosenIds } from "./harness/call-ids.ts"
import { baseModel } from "./harness/base-models.ts"
import { engineVersions } from "./harness/environments.ts"
import { type HeddleServer, startHeddle } from "./harness/heddle-server.ts"
import {
  checkpointName,
  register,
  sampleChoices,
  submitJob,
  type TrainableModel,
  trajectoryGroup,
  waitForEvents,
} from "./harness/heddle-training.ts"
import { descendants, mebibytesOf } from "./harness/machine.ts"
import { median, progress, quantile } from "./harness/measure.ts"
import { count, type Options } from "./harness/options.ts"
import { temporaryFolder } from "./harness/paths.ts"
import { Poster } from "./harness/post.ts"
import { PROJECT_ID } from "./harness/read-cases.ts"
import { fillCalls } from "./harness/read-heddle.ts"
import { atMost, type Findings, measurement } from "./harness/result.ts"

export const options = {
  /** Minutes of mixed use. */
  minutes: { type: "string", default: "60" },
  /** Kind of the ids: uuid7, uuid4 or otel. */
  ids: { type: "string", default: "uuid7" },
  /** Calls that the server holds before; an hour stores half a million. */
  stored: { type: "string", default: "" },
} as const

const sampleEveryMs = 10_000
const lightRequests = "light requests"
const callsInBatch = 20
const spansInBatch = 50
const prompt = "What is 3 + 4?"

interface Memory {
  minute: number
  server: number
  engine: number
}

/** Kinds of work that run at the same time until the time is over. */
class Soak {
  readonly #server: HeddleServer
  readonly #ends: number
  /** Milliseconds of each turn that ended well. */
  readonly took: Record<string, number[]> = {}
  readonly errors: string[] = []

  constructor(server: HeddleServer, ends: number) {
    this.#server = server
    this.#ends = ends
  }

  /** Begins `work` every `everyMs`, or as soon as the turn before has ended if that takes longer. */
  async every(everyMs: number, what: string, work: (server: HeddleServer, turn: number) => Promise<unknown>) {
    const took: number[] = []
    this.took[what] = took
    for (let turn = 0; performance.now() < this.#ends; turn++) {
      const began = performance.now()
      try {
        await work(this.#server, turn)
        took.push(performance.now() - began)
      } catch (error) {
        this.errors.push(`${what}: ${error instanceof Error ? error.message : String(error)}`)
      }
      await sleep(Math.max(0, everyMs - (performance.now() - began)))
    }
  }
}

const stored = (given: Options) => (given["stored"] === "" ? 0 : count(given, "stored"))

export async function run(given: Options): Promise<Findings> {
  const minutes = count(given, "minutes")
  const ids = chosenIds(given)
  await using server = await startHeddle(temporaryFolder())
  await fillCalls(server, 0, stored(given), { ids, batch: 500 })
  const base = await baseModel("tiny")
  const model = await register(server, "soak", base.name)
  const began = performance.now()
  const soak = new Soak(server, began + minutes * 60_000)
  const memory: Memory[] = []
  const corpus = new CallCorpus(seededRandom(1))
  const some = (length: number) => Array.from({ length }, () => corpus.next())
  const calls = Array.from({ length: 20 }, () => some(callsInBatch))
  const spans = Array.from({ length: 20 }, () => some(spansInBatch))
  const poster = new Poster(8)
  const send = (path: string, batch: CallBatch, sequence: number, headers: Record<string, string> = {}) =>
    poster.post(server.url + path, batch.fresh(sequence), {
      ...server.headers,
      ...headers,
      "content-type": batch.contentType,
    })
  const known = await newCall(server)
  const queueId = await newQueue(server)
  await Promise.all([
    soak.every(sampleEveryMs, "samples of memory", async () => {
      const [, ...engine] = descendants(server.pid)
      memory.push({
        minute: (performance.now() - began) / 60_000,
        server: mebibytesOf([server.pid]),
        engine: mebibytesOf(engine),
      })
    }),
    soak.every(100, lightRequests, () => server.post("/call/read", { project_id: PROJECT_ID, id: known })),
    soak.every(200, "batches of calls", (_, turn) =>
      send(`/v2/${PROJECT_ID}/calls/complete`, weaveBatch(begunNow(calls, turn), PROJECT_ID, ids), turn),
    ),
    soak.every(1000, "batches of spans", (_, turn) =>
      send("/otel/v1/traces", otlpBatch(begunNow(spans, turn), "soak"), turn, { project_id: PROJECT_ID }),
    ),
    ...[1, 2].map((chat) =>
      soak.every(500, `chats ${chat}`, (_, turn) => answer(server, base.name, `${turn} + ${chat} = ?`)),
    ),
    ...questions.map(([what, path, body]) =>
      soak.every(1000 * questions.length, what, () => server.post(path, { project_id: PROJECT_ID, ...body })),
    ),
    soak.every(2000, "feedback", (_, turn) =>
      server.post("/feedback/create", {
        project_id: PROJECT_ID,
        weave_ref: `weave:///${PROJECT_ID}/call/${known}`,
        feedback_type: "wandb.note.1",
        payload: { note: `seen ${turn}` },
      }),
    ),
    soak.every(2000, "labels", () => label(server, queueId)),
    soak.every(30_000, "jobs", (_, turn) => train(server, model, turn)),
    soak.every(60_000, "exports", exportCalls),
  ])
  poster.close()
  return findings(given, soak, memory)
}

const millisecondsApart = 10

/** The batch whose turn it is, its calls begun one after the other until this moment. */
function begunNow(batches: readonly BenchCall[][], turn: number): BenchCall[] {
  const batch = batches[turn % batches.length] ?? []
  const now = Date.now()
  return batch.map((call, place) => ({
    ...call,
    startedAt: new Date(now - (batch.length - 1 - place) * millisecondsApart),
  }))
}

async function newCall(server: HeddleServer): Promise<string> {
  const id = callIds.uuid7.call(0, 0, Date.now())
  const started_at = new Date().toISOString()
  const start = { project_id: PROJECT_ID, id, op_name: "light", started_at, attributes: {}, inputs: { a: 1 } }
  await server.post("/call/start", { start })
  return id
}

async function newQueue(server: HeddleServer): Promise<string> {
  const queue = { project_id: PROJECT_ID, name: "soak", scorer_refs: [], required_annotators: 1 }
  return (await server.post<{ id: string }>("/annotation_queues", queue)).id
}

/** Makes a call an item of the queue, then takes the next item, writes a note and completes it. */
async function label(server: HeddleServer, queueId: string): Promise<void> {
  const url = `/annotation_queues/${queueId}/items`
  const call = await newCall(server)
  await server.post(url, { project_id: PROJECT_ID, call_ids: [call], display_fields: ["inputs"] })
  const { item } = await server.post<{ item: { id: string; call_id: string } | null }>(`${url}/next`, {
    project_id: PROJECT_ID,
  })
  if (item === null) throw new Error("the queue handed out nothing though a call was added")
  await server.post("/feedback/create", {
    project_id: PROJECT_ID,
    weave_ref: `weave:///${PROJECT_ID}/call/${item.call_id}`,
    feedback_type: "wandb.note.1",
    payload: { note: "labelled" },
    queue_id: queueId,
  })
  await server.post(`${url}/${item.id}/progress`, { project_id: PROJECT_ID, annotation_state: "completed" })
}

const answer = (server: HeddleServer, model: string, content: string) =>
  server.post("/v1/chat/completions", { model, messages: [{ role: "user", content }], max_tokens: 64 })

const newest = [{ field: "started_at", direction: "desc" }]

const score = { $gt: [{ $getField: "inputs.temperature" }, { $literal: 0.5 }] }

/** What is asked each, and how: the newest calls, filters over all calls, notes. */
const questions: readonly [what: string, path: string, body: object][] = [
  ["newest calls", "/calls/query", { limit: 50, sort_by: newest }],
  ["counts of a filter", "/calls/query_stats", { query: { $expr: score } }],
  [
    "newest calls of a filter",
    "/calls/query",
    { limit: 50, sort_by: newest, query: { $expr: score }, include_costs: true },
  ],
  ["lists of notes", "/feedback/query", { limit: 50 }],
]

async function train(server: HeddleServer, model: TrainableModel, step: number): Promise<void> {
  const choices = await sampleChoices(server, checkpointName(model, step), prompt, { n: 8, max_tokens: 16, seed: step })
  const rewards = choices.map((_, index) => index % 4)
  const job = await submitJob(server, model, [trajectoryGroup(prompt, choices, rewards)], { learning_rate: 1e-5 })
  await waitForEvents(server, job.id, "training_ended", 100)
}

async function exportCalls(server: HeddleServer): Promise<void> {
  const reply = await fetch(`${server.url}/export/calls`, {
    method: "POST",
    headers: { ...server.headers, "content-type": "application/json" },
    body: JSON.stringify({ project_id: PROJECT_ID, format: "parquet" }),
  })
  if (reply.status !== 200 || reply.body === null) throw new Error(`${reply.status}: ${await reply.text()}`)
  for await (const chunk of reply.body) void chunk
}

function findings(given: Options, soak: Soak, memory: Memory[]): Findings {
  const light = soak.took[lightRequests] ?? []
  const half = memory.slice(memory.length >> 1)
  /** Memory of the last quarter of the time, divided by that of the quarter before it. */
  const growth = (of: "server" | "engine") => {
    const values = half.map((sample) => sample[of])
    return median(values.slice(values.length >> 1)) / median(values.slice(0, values.length >> 1))
  }
  const series = (of: "server" | "engine") => memory.map((sample) => sample[of])
  for (const error of soak.errors.slice(0, 20)) progress(error)
  const steps = memory.filter((_, index) => index % Math.ceil(memory.length / 20) === 0)
  for (const { minute, server, engine } of steps) {
    progress(`minute ${minute.toFixed(1)}: server ${server.toFixed(0)} MiB, engine ${engine.toFixed(0)} MiB`)
  }
  return {
    method: [
      `A new server with the engine and heddle/tiny. Side by side: a batch of ${callsInBatch} calls five times a second, of ${spansInBatch} spans every second, two conversations of 64 tokens an answer, a query every second, a note every two seconds, a call that becomes an item of a queue and is labelled every two seconds, a training job every 30 s on one model, an export of all calls every minute, and a light request (\`/call/read\`) ten times a second.`,
      "Resident memory of the server's process, and of the processes it started, every ten seconds. Flat: the median of the last quarter of the time over that of the quarter before.",
    ],
    versions: engineVersions("torch"),
    settings: { minutes: count(given, "minutes"), ids: chosenIds(given), stored: stored(given) },
    measurements: [
      measurement("light request, p50", "ms", [median(light)]),
      measurement("light request, p99", "ms", [quantile(light, 0.99)]),
      measurement("server, resident", "MiB", series("server")),
      measurement("engine, resident", "MiB", series("engine")),
      ...Object.entries(soak.took).flatMap(([what, took]) => [
        measurement(what, "done", [took.length]),
        ...(what === lightRequests
          ? []
          : [
              measurement(`${what}, p50`, "ms", [median(took)]),
              measurement(`${what}, p99`, "ms", [quantile(took, 0.99)]),
            ]),
      ]),
    ],
    bars: [
      atMost("server", 900, Math.max(...series("server")), "MiB"),
      atMost("engine on heddle/tiny", 600, Math.max(...series("engine")), "MiB"),
      atMost("server, last quarter / the one before", 1.05, growth("server"), "×"),
      atMost("engine, last quarter / the one before", 1.05, growth("engine"), "×"),
      atMost("errors", 0, soak.errors.length, ""),
      atMost("light request, p99", 100, quantile(light, 0.99), "ms"),
    ],
    caveats: [],
  }
}
