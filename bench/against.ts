/** Compares this checkout with another, such as an older commit: writing, reading and chats, in turns. */
import { readdirSync } from "node:fs"
import path from "node:path"
import { baseModel } from "./harness/base-models.ts"
import { type HeddleServer, startHeddle } from "./harness/heddle-server.ts"
import { requestJson } from "./harness/http.ts"
import { type Contender, median, pairwiseRatio, rates, type Sample, takeTurns } from "./harness/measure.ts"
import { count, type Options } from "./harness/options.ts"
import { fromRoot, temporaryFolder } from "./harness/paths.ts"
import { readCases } from "./harness/read-cases.ts"
import { fillCalls, measureRead } from "./harness/read-heddle.ts"
import { atLeast, type Findings, measurement } from "./harness/result.ts"

export const options = {
  /** The folder of the other checkout, with its packages installed. */
  checkout: { type: "string", default: "" },
  /** How often each checkout does each work. */
  rounds: { type: "string", default: "15" },
  /** Calls that are stored in a round. */
  calls: { type: "string", default: "20000" },
  /** Calls in one request. */
  batch: { type: "string", default: "100" },
  /** Reads of each kind, and chats, in a round. */
  requests: { type: "string", default: "40" },
  /** Tokens of one chat. */
  tokens: { type: "string", default: "16" },
  /** Only the works whose names contain this. */
  only: { type: "string", default: "" },
} as const

/** One kind of work; `run` does it once and returns its amount, in the unit of the rate. */
interface Work {
  what: string
  unit: string
  run: (server: HeddleServer, round: number) => Promise<number>
}

export async function run(given: Options): Promise<Findings> {
  const checkout = otherCheckout(given)
  const rounds = count(given, "rounds")
  await using ours = await startHeddle(temporaryFolder())
  await using theirs = await startHeddle(temporaryFolder(), { checkout })
  const results: { work: Work; ours: Sample[]; theirs: Sample[] }[] = []
  for (const work of await works(given)) {
    const contender = (name: string, server: HeddleServer): Contender => ({
      name,
      pid: server.pid,
      run: (round) => work.run(server, round),
    })
    const samples = await takeTurns([contender("this checkout", ours), contender("the other", theirs)], rounds)
    results.push({ work, ours: samples.get("this checkout") ?? [], theirs: samples.get("the other") ?? [] })
  }
  const compared = results.map((one) => ({
    ...one,
    rate: pairwiseRatio(rates(one.ours), rates(one.theirs)),
    cpu: pairwiseRatio(processorTime(one.ours), processorTime(one.theirs)),
  }))
  return {
    method: [
      `Two servers on stores of their own, this checkout's and the other's, take turns: ${rounds} rounds of each work, after one that is not counted. A ratio is the median over the rounds of one pair each.`,
      `Writing: ${count(given, "calls")} calls of about 2 KB in batches of ${count(given, "batch")} over 4 connections; an answer comes when they can be read. Reading: ${count(given, "requests")} requests of each kind, one after the other, in the store that writing filled. Chats: ${count(given, "requests")} of ${count(given, "tokens")} tokens on heddle/tiny, one after the other.`,
    ],
    versions: {},
    settings: {
      calls: count(given, "calls"),
      batch: count(given, "batch"),
      requests: count(given, "requests"),
      tokens: count(given, "tokens"),
    },
    measurements: compared.flatMap(({ work: { what, unit }, ours: own, theirs: other, rate, cpu }) => [
      measurement(`${what}, this checkout`, unit, rates(own)),
      measurement(`${what}, the other`, unit, rates(other)),
      measurement(`${what}, this checkout / the other`, "×", rate),
      measurement(`${what}, processor time, this checkout / the other`, "×", cpu),
    ]),
    bars: compared.map(({ work: { what }, rate }) => atLeast(`${what}, against the other`, 0.97, median(rate), "×")),
    caveats: [],
  }
}

const processorTime = (samples: Sample[]) => samples.map(({ cpuSeconds }) => cpuSeconds ?? Number.NaN)

/** @throws {Error} when the folder is not a checkout whose packages are installed. */
function otherCheckout(given: Options): string {
  const folder = path.resolve(String(given["checkout"]))
  if (given["checkout"] === "" || folder === fromRoot()) {
    throw new Error("--checkout names the folder of another checkout to compare this one with")
  }
  for (const needed of ["server/src/main.ts", "node_modules"]) {
    const place = path.join(folder, needed)
    if (!readdirSync(path.dirname(place)).includes(path.basename(place))) {
      throw new Error(`--checkout ${folder}: there is no ${needed} in it; run npm ci there`)
    }
  }
  return folder
}

async function works(given: Options): Promise<Work[]> {
  const calls = count(given, "calls")
  const requests = count(given, "requests")
  const written = (count(given, "rounds") + 1) * calls
  const tokens = count(given, "tokens")
  const base = await baseModel("tiny")
  const writing: Work = {
    what: "writing",
    unit: "calls/s",
    run: async (server, round) => {
      await fillCalls(server, round * calls, (round + 1) * calls, { ids: "uuid7", batch: count(given, "batch") })
      return calls
    },
  }
  const reading = readCases(written, "uuid7")
    .slice(0, 3)
    .map(({ what, request }): Work => ({
      what,
      unit: "requests/s",
      run: async (server, round) => {
        for (let each = 0; each < requests; each++) await measureRead(server, request(round * requests + each))
        return requests
      },
    }))
  const chatting: Work = {
    what: "chats",
    unit: "requests/s",
    run: async (server, round) => {
      for (let each = 0; each < requests; each++)
        await chat(server, base.name, `${round * requests + each} + 4 = ?`, tokens)
      return requests
    },
  }
  return [writing, ...reading, chatting].filter(({ what }) => what.includes(String(given["only"])))
}

async function chat(server: HeddleServer, model: string, content: string, tokens: number): Promise<void> {
  const messages = [{ role: "user", content }]
  const body = { model, messages, max_tokens: tokens, temperature: 0, ignore_eos: true }
  await requestJson("POST", `${server.url}/v1/chat/completions`, body, server.headers)
}
