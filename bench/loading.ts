/** Measures how long tokens of a stream wait while other base models load. */
import { cp } from "node:fs/promises"
import path from "node:path"
import { baseModel } from "./harness/base-models.ts"
import { engineVersions } from "./harness/environments.ts"
import { type HeddleServer, startHeddle } from "./harness/heddle-server.ts"
import { checkpointName, register } from "./harness/heddle-training.ts"
import { median, progress, quantile } from "./harness/measure.ts"
import { count, type Options } from "./harness/options.ts"
import { temporaryFolder } from "./harness/paths.ts"
import { atMost, type Findings, measurement } from "./harness/result.ts"

export const options = {
  /** Base models that load at once. */
  models: { type: "string", default: "4" },
  /** How often each of both is measured. */
  rounds: { type: "string", default: "3" },
} as const

/** Tokens of the stream that nothing else disturbs. */
const TOKENS = 400
/** More than come while the models load. */
const MOST_TOKENS = 4_000

export async function run(given: Options): Promise<Findings> {
  const base = await baseModel("small")
  const [models, rounds] = [count(given, "models"), count(given, "rounds")]
  const copies = temporaryFolder()
  await using server = await startHeddle(temporaryFolder())
  const served = checkpointName(await register(server, "served", base.folder), 0)
  // Loads it.
  await gapsOf(server, served, TOKENS)
  const found = { alone: [] as number[], beside: [] as number[], longest: [] as number[], loadMs: [] as number[] }
  for (let round = 1; round <= rounds; round++) {
    const alone = await gapsOf(server, served, TOKENS)
    const others = await Promise.all(
      Array.from({ length: models }, async (_, n) => {
        const folder = path.join(copies, `${round}-${n}`)
        await cp(base.folder, folder, { recursive: true })
        return checkpointName(await register(server, `other-${round}-${n}`, folder), 0)
      }),
    )
    const began = performance.now()
    const beside = await gapsBeside(server, served, others)
    found.loadMs.push(performance.now() - began)
    found.alone.push(quantile(alone, 0.99))
    found.beside.push(quantile(beside, 0.99))
    found.longest.push(Math.max(...beside))
    progress(`round ${round}: ${told(alone)}; beside loading ${told(beside)}`)
  }
  const ratio = found.beside.map((value, round) => value / (found.alone[round] ?? Number.NaN))
  return {
    method: [
      `One greedy stream of POST /v1/completions on the base model, and the times between its events at the client. Alone: ${TOKENS} tokens. Beside: from the moment at which ${models} copies of the model's folder, which the server has not seen, are each asked for one token, until all of them have answered.`,
    ],
    versions: engineVersions("torch"),
    settings: { model: base.title, models, rounds },
    measurements: [
      measurement("p99 between tokens, alone", "ms", found.alone),
      measurement("p99 between tokens, beside models that load", "ms", found.beside),
      measurement("longest time between tokens, beside models that load", "ms", found.longest),
      measurement("all models asked → all have answered", "ms", found.loadMs),
      measurement("p99, beside / alone", "×", ratio),
    ],
    bars: [atMost(`p99 between tokens beside ${models} models that load`, 2, median(ratio), "× alone")],
    caveats: [],
  }
}

const told = (gaps: number[]) =>
  `${gaps.length} gaps, p50 ${median(gaps).toFixed(1)}, p99 ${quantile(gaps, 0.99).toFixed(1)}, longest ${Math.max(...gaps).toFixed(1)} ms`

/** Streams a completion; returns the milliseconds between its events, until it ends or is left by `leaving`. */
async function gapsOf(server: HeddleServer, model: string, tokens: number, leaving?: AbortSignal): Promise<number[]> {
  const body = { model, prompt: [5, 6, 7, 8], max_tokens: tokens, temperature: 0, ignore_eos: true, stream: true }
  const answer = await fetch(`${server.url}/v1/completions`, {
    method: "POST",
    headers: { ...server.headers, "content-type": "application/json" },
    body: JSON.stringify({ ...body, return_token_ids: true }),
    signal: leaving ?? null,
  })
  if (!answer.ok || answer.body === null)
    throw new Error(`POST /v1/completions: ${answer.status} ${await answer.text()}`)
  const arrived: number[] = []
  try {
    for await (const _ of answer.body) arrived.push(performance.now())
  } catch (error) {
    if (leaving?.aborted !== true) throw error
  }
  return arrived.slice(1).map((time, index) => time - (arrived[index] ?? Number.NaN))
}

/** {@link gapsOf} a stream that is left once the models, which are asked for at its beginning, have answered. */
async function gapsBeside(server: HeddleServer, model: string, others: string[]): Promise<number[]> {
  const leaving = new AbortController()
  const loaded = Promise.all(
    others.map((other) => server.post("/v1/completions", { model: other, prompt: [5], max_tokens: 1 })),
  ).finally(() => leaving.abort())
  const [gaps] = await Promise.all([gapsOf(server, model, MOST_TOKENS, leaving.signal), loaded])
  return gaps
}
