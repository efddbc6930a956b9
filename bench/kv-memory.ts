/** Measures the memory for keys and values while requests of very different lengths come and go. */
import { setTimeout as sleep } from "node:timers/promises"
import { baseModel } from "./harness/base-models.ts"
import { seededRandom } from "./harness/call-corpus.ts"
import { engineVersions } from "./harness/environments.ts"
import { type HeddleServer, startHeddle } from "./harness/heddle-server.ts"
import { checkpointName, register } from "./harness/heddle-training.ts"
import { descendants, mebibytesOf, pagedMebibytesOf } from "./harness/machine.ts"
import { progress } from "./harness/measure.ts"
import { count, type Options } from "./harness/options.ts"
import { temporaryFolder } from "./harness/paths.ts"
import { atLeast, atMost, type Findings, measurement } from "./harness/result.ts"

export const options = {
  /** How long requests are sent. */
  minutes: { type: "string", default: "20" },
  /** HEDDLE_ENGINE_KV_BYTES, in MiB. */
  kv: { type: "string", default: "1024" },
  /** HEDDLE_ENGINE_CACHE_BYTES, in MiB. */
  cache: { type: "string", default: "256" },
  /** Requests in flight. */
  requests: { type: "string", default: "32" },
} as const

const [SHORTEST, LONGEST] = [64, 8_192]
/** Tokens of the longest answer; the rest of a request's length is its prompt. */
const MOST_ANSWER = 128
/** Ids behind the special tokens. */
const [FIRST_ID, IDS] = [3, 32_000]
const SAMPLE_EVERY_MS = 1_000
/** After so many no more requests are sent. */
const MOST_ERRORS = 20

interface Sample {
  paged: number
  engine: number
}

export async function run(given: Options): Promise<Findings> {
  const [minutes, requests] = [count(given, "minutes"), count(given, "requests")]
  const [kv, cache] = [count(given, "kv"), count(given, "cache")]
  const base = await baseModel("small")
  await using server = await startHeddle(temporaryFolder(), {
    env: { HEDDLE_ENGINE_KV_BYTES: String(kv * 2 ** 20), HEDDLE_ENGINE_CACHE_BYTES: String(cache * 2 ** 20) },
  })
  const model = checkpointName(await register(server, "lengths", base.folder), 0)
  await complete(server, model, { prompt: [5], answer: 1 })
  const engine = descendants(server.pid).slice(1)
  const began = performance.now()
  const ends = began + minutes * 60_000
  const samples: Sample[] = []
  const found = { lengths: [] as number[], errors: [] as string[] }
  const random = seededRandom(1)
  await Promise.all([
    sampled(samples, engine, began, ends),
    ...Array.from({ length: requests }, async () => {
      while (performance.now() < ends && found.errors.length < MOST_ERRORS) {
        const request = drawn(random)
        try {
          await complete(server, model, request)
          found.lengths.push(request.prompt.length + request.answer)
        } catch (error) {
          found.errors.push(error instanceof Error ? error.message : String(error))
        }
      }
    }),
  ])
  for (const error of found.errors) progress(error)
  const limit = kv + cache
  const paged = samples.map((sample) => sample.paged)
  const highest = Math.max(...paged)
  const alive = descendants(server.pid).slice(1)
  return {
    method: [
      `A server whose engine may use ${kv} MiB for keys and values and ${cache} MiB for prompts that it keeps. ${requests} requests of POST /v1/completions in flight for ${minutes} minutes, each of random ids and of a length drawn evenly from ${SHORTEST} to ${LONGEST} tokens, of which up to ${MOST_ANSWER} are the answer.`,
      "Every second, resident memory of the engine's mappings for keys, values and kept prompts (those of /proc/PID/smaps that reserve nothing and take small pages), and of the engine as a whole.",
    ],
    versions: engineVersions("torch"),
    settings: { model: base.title, minutes, kv_mib: kv, cache_mib: cache, requests },
    measurements: [
      measurement("answered", "requests", [found.lengths.length]),
      measurement("length of those answered", "tokens", found.lengths),
      measurement("memory of keys, values and kept prompts", "MiB", paged),
      measurement(
        "engine, resident",
        "MiB",
        samples.map(({ engine: whole }) => whole),
      ),
    ],
    bars: [
      atMost("highest memory of keys, values and kept prompts", 1.05, highest / limit, "× the limits together"),
      // With less the limit would not have been tested.
      atLeast("highest memory of keys, values and kept prompts", 0.8, highest / limit, "× the limits together"),
      atMost("processes of the engine that ended", 0, engine.filter((pid) => !alive.includes(pid)).length, ""),
      atMost("errors", 0, found.errors.length, ""),
    ],
    caveats: [],
  }
}

interface Request {
  prompt: number[]
  answer: number
}

function drawn(random: () => number): Request {
  const length = SHORTEST + Math.floor(random() * (LONGEST - SHORTEST + 1))
  const answer = 1 + Math.floor(random() * Math.min(MOST_ANSWER, length - 1))
  return { prompt: Array.from({ length: length - answer }, () => FIRST_ID + Math.floor(random() * IDS)), answer }
}

const complete = (server: HeddleServer, model: string, { prompt, answer }: Request) =>
  server.post("/v1/completions", { model, prompt, max_tokens: answer, temperature: 0, ignore_eos: true })

async function sampled(samples: Sample[], engine: number[], began: number, ends: number): Promise<void> {
  while (performance.now() < ends) {
    const [paged, whole] = [pagedMebibytesOf(engine), mebibytesOf(engine)]
    samples.push({ paged, engine: whole })
    if (samples.length % 60 === 1) {
      const minute = (performance.now() - began) / 60_000
      progress(`minute ${minute.toFixed(1)}: ${paged.toFixed(0)} MiB of ${whole.toFixed(0)} MiB`)
    }
    await sleep(SAMPLE_EVERY_MS)
  }
}
