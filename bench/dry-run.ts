/** Measures the dry run of training on labelled calls: its time, and the memory that it takes. */
import { randomUUIDv7 } from "node:crypto"
import { setTimeout as sleep } from "node:timers/promises"
import { baseModel } from "./harness/base-models.ts"
import { CallCorpus, seededRandom } from "./harness/call-corpus.ts"
import { type HeddleServer, startHeddle } from "./harness/heddle-server.ts"
import { register } from "./harness/heddle-training.ts"
import { mebibytesOf } from "./harness/machine.ts"
import { median, progress } from "./harness/measure.ts"
import { count, type Options } from "./harness/options.ts"
import { temporaryFolder } from "./harness/paths.ts"
import { PROJECT_ID } from "./harness/read-cases.ts"
import { atMost, type Findings, measurement } from "./harness/result.ts"

export const options = {
  /** Labelled calls in the store. */
  calls: { type: "string", default: "100000" },
  /** How often the dry run of all calls, and that of a tenth of them, is asked for. */
  rounds: { type: "string", default: "5" },
} as const

const batchSize = 1000
const dayMs = 24 * 60 * 60 * 1000

interface DryRun {
  read: number
  rows: number
  drops: { count: number; reason: string }[]
}

interface Round {
  seconds: number
  /** MiB of the server at most. */
  resident: number
}

export async function run(given: Options): Promise<Findings> {
  const [calls, rounds] = [count(given, "calls"), count(given, "rounds")]
  await using server = await startHeddle(temporaryFolder())
  const model = await register(server, "dry", (await baseModel("tiny")).name)
  const began = Date.now() - dayMs
  await fill(server, calls, began)
  const endOf = (first: number) => new Date(began + first).toISOString()
  const all: Round[] = []
  const few: Round[] = []
  for (let round = 0; round <= rounds; round++) {
    const [one, other] = [
      await timed(server, model.id, endOf(calls), calls),
      await timed(server, model.id, endOf(calls / 10), calls / 10),
    ]
    // The first round reads files that no program has opened yet.
    if (round > 0) {
      all.push(one)
      few.push(other)
    }
    progress(
      `round ${round}: ${one.seconds.toFixed(2)} s and ${one.resident.toFixed(0)} MiB, a tenth ${other.seconds.toFixed(2)} s and ${other.resident.toFixed(0)} MiB`,
    )
  }
  const [seconds, resident] = [all.map((one) => one.seconds), all.map((one) => one.resident)]
  return {
    method: [
      `${calls} chats of a question and an answer, each with one piece of feedback that says whether the answer is right (three of four are). The dry run is that of supervised training on the right ones among those that began before a time: all are read, three of four are rendered, and the tokens of a sample are counted by the engine.`,
      "Time: from sending the request to the last byte of its answer. Memory: the most that the server had resident meanwhile, read every 20 ms.",
    ],
    versions: {},
    settings: { calls, rounds },
    measurements: [
      measurement(`dry run of ${calls} calls`, "s", seconds),
      measurement(
        `dry run of ${calls / 10} calls`,
        "s",
        few.map((one) => one.seconds),
      ),
      measurement(`memory of the server at most, ${calls} calls`, "MiB", resident),
      measurement(
        `memory of the server at most, ${calls / 10} calls`,
        "MiB",
        few.map((one) => one.resident),
      ),
    ],
    bars: [
      atMost(`dry run of ${calls} labelled calls`, 3, median(seconds), "s"),
      atMost("memory, ten times as many calls", 1.1, median(resident) / median(few.map((one) => one.resident)), "×"),
    ],
    caveats: [],
  }
}

/** Stores call n at `began` + n milliseconds, so that an end of the time chooses the first of them. */
async function fill(server: HeddleServer, calls: number, began: number): Promise<void> {
  const corpus = new CallCorpus(seededRandom(7))
  const words = Array.from({ length: 500 }, () => JSON.stringify(corpus.next().inputs))
  const part = (at: number, length: number) => (words[at % words.length] as string).slice(0, length)
  for (let from = 0; from < calls; from += batchSize) {
    const ids = Array.from({ length: Math.min(batchSize, calls - from) }, () => randomUUIDv7())
    const batch = ids.map((id, index) => {
      const at = new Date(began + from + index).toISOString()
      return {
        project_id: PROJECT_ID,
        id,
        trace_id: id,
        parent_id: null,
        op_name: "answer",
        started_at: at,
        ended_at: at,
        attributes: {},
        inputs: { messages: [{ role: "user", content: `Question ${from + index}: ${part(index, 300)}` }] },
        output: { choices: [{ message: { role: "assistant", content: `Answer ${index}: ${part(index + 7, 200)}` } }] },
        summary: {},
      }
    })
    await server.post(`/v2/${PROJECT_ID}/calls/complete`, { batch })
    await server.post("/feedback/batch/create", {
      batch: ids.map((id, index) => ({
        project_id: PROJECT_ID,
        weave_ref: `weave:///${PROJECT_ID}/call/${id}`,
        feedback_type: "right",
        payload: { value: index % 4 !== 0 },
      })),
    })
    if ((from + batchSize) % 20_000 === 0) progress(`${from + batchSize} of ${calls} calls stored and labelled`)
  }
}

async function timed(server: HeddleServer, model_id: string, until: string, expected: number): Promise<Round> {
  const query = { $expr: { $not: [{ $gte: [{ $getField: "started_at" }, { $literal: until }] }] } }
  let most = 0
  const watching = new AbortController()
  const watched = watch(() => (most = Math.max(most, mebibytesOf([server.pid]))), watching.signal)
  const began = performance.now()
  const answer = await server.post<DryRun>("/v1/preview/training-jobs/from-source/dry-run", {
    model_id,
    source: { kind: "calls", project_id: PROJECT_ID, query },
    target: { kind: "sft", score: [{ field: "feedback.[right].payload.value" }], min_score: 1 },
  })
  const seconds = (performance.now() - began) / 1000
  watching.abort()
  await watched
  const wanted = (expected * 3) / 4
  if (answer.read !== expected || answer.rows !== wanted) {
    throw new Error(
      `of ${expected} calls ${answer.read} were read and ${answer.rows} remained, not ${wanted}: ${JSON.stringify(answer.drops)}`,
    )
  }
  return { seconds, resident: most }
}

async function watch(look: () => void, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    look()
    await sleep(20)
  }
}
