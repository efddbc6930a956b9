/** How fast calls are found and read over HTTP, on a store filled through the public API. */
import { CallCorpus, seededRandom } from "./harness/call-corpus.ts"
import { peerVersions } from "./harness/environments.ts"
import { startHeddle, type HeddleServer } from "./harness/heddle-server.ts"
import { median, progress } from "./harness/measure.ts"
import { count, type Options } from "./harness/options.ts"
import { temporaryFolder } from "./harness/paths.ts"
import { Poster } from "./harness/post.ts"
import { atLeast, atMost, type Findings, measurement } from "./harness/result.ts"
import { callsBody, needle, PROJECT_ID, readCases } from "./harness/read-cases.ts"
import { measurePeers } from "./harness/read-peers.ts"

export const options = {
  /** 10000000 for the bar that compares with a million. */
  calls: { type: "string", default: "1000000" },
  rounds: { type: "string", default: "9" },
  /** Of the store that is compared with those of the peers; Phoenix takes 8 minutes to show 70,000. */
  "peer-calls": { type: "string", default: "70000" },
  "no-peers": { type: "boolean", default: false },
} as const

const batch = 1000
const connections = 4
const templates = 5000

interface CaseTimes {
  what: string
  atMostMs: number | null
  milliseconds: number[]
}

export async function run(given: Options): Promise<Findings> {
  const calls = count(given, "calls")
  const rounds = count(given, "rounds")
  const results = await measureHeddle(calls, rounds)
  const versus = given["no-peers"] === true ? null : await besidePeers(count(given, "peer-calls"), rounds)
  return {
    method: [
      `${calls} calls of about 2 KB, ten to a trace but for one trace of 50,000, stored through /v2/{entity}/{project}/calls/complete; one of them holds the word "${needle}".`,
      "Each figure: from sending the request over a connection that stays open to the last byte of its answer, uncompressed; each round asks for another call, trace or number. One round before is not counted.",
      "Phoenix and MLflow hold the same payloads as OTLP spans and are asked over the API of their own pages: Phoenix by GraphQL with all attributes of a span; MLflow lists traces without their spans, and finds no single span and no number within JSON.",
    ],
    versions: { ...peerVersions("phoenix", "arize-phoenix"), ...peerVersions("mlflow", "mlflow") },
    settings: { calls, rounds, ...(versus === null ? {} : { peer_calls: String(given["peer-calls"]) }) },
    measurements: [
      ...results.map(({ what, milliseconds }) => measurement(what, "ms", milliseconds)),
      ...(versus?.measurements ?? []),
    ],
    bars: [
      ...results.flatMap(({ what, atMostMs, milliseconds }) =>
        atMostMs === null ? [] : [atMost(what, atMostMs, median(milliseconds), "ms")],
      ),
      ...(versus?.bars ?? []),
    ],
    caveats: [],
  }
}

async function measureHeddle(asked: number, rounds: number): Promise<CaseTimes[]> {
  const calls = Math.ceil(asked / batch) * batch
  using folder = temporaryFolder()
  await using server = await startHeddle(folder.path, { engine: "none" })
  await fill(server, calls)
  const results: CaseTimes[] = []
  for (const { what, atMostMs, request } of readCases(calls)) {
    const milliseconds = await measure(server, request, rounds)
    progress(`${what}: ${median(milliseconds).toFixed(1)} ms`)
    results.push({ what, atMostMs, milliseconds })
  }
  return results
}

/** All three on stores of `calls`, one after the other; a bar for what a peer can do at all. */
async function besidePeers(calls: number, rounds: number): Promise<Pick<Findings, "measurements" | "bars">> {
  const ours = await measureHeddle(calls, rounds)
  const peers = await measurePeers(calls, rounds)
  const measurements = ours.map(({ what, milliseconds }) =>
    measurement(`Heddle, ${calls} calls, ${what}`, "ms", milliseconds),
  )
  const bars: Findings["bars"] = []
  for (const { what, milliseconds } of ours) {
    const medians: number[] = []
    for (const [name, times] of peers) {
      const theirs = times.get(what)
      if (theirs === undefined) continue
      measurements.push(measurement(`${name}, ${calls} calls, ${what}`, "ms", theirs))
      medians.push(median(theirs))
    }
    if (medians.length > 0)
      bars.push(atLeast(`${what}, against the better peer`, 3, Math.min(...medians) / median(milliseconds), "×"))
  }
  return { measurements, bars }
}

async function fill(server: HeddleServer, calls: number): Promise<void> {
  const corpus = new CallCorpus(seededRandom(1))
  const payloads = Array.from({ length: Math.min(templates, calls) }, () => corpus.next())
  const poster = new Poster(connections)
  const headers = { ...server.headers, "content-type": "application/json" }
  let next = 0
  const connection = async () => {
    for (let from = (next += batch) - batch; from < calls; from = (next += batch) - batch) {
      await poster.post(`${server.url}/v2/${PROJECT_ID}/calls/complete`, callsBody(payloads, from, batch), headers)
      if (from % 100_000 === 0) progress(`${from} of ${calls} calls stored`)
    }
  }
  await Promise.all(Array.from({ length: connections }, connection))
  poster.close()
}

interface ReadRequest {
  path: string
  body: object
}

async function measure(
  server: HeddleServer,
  request: (round: number) => ReadRequest,
  rounds: number,
): Promise<number[]> {
  const milliseconds: number[] = []
  for (let round = 0; round <= rounds; round++) {
    const { path, body } = request(round)
    const began = performance.now()
    const answer = await fetch(server.url + path, {
      method: "POST",
      headers: { ...server.headers, "content-type": "application/json", "accept-encoding": "identity" },
      body: JSON.stringify({ project_id: PROJECT_ID, ...body }),
    })
    const text = await answer.text()
    if (round > 0) milliseconds.push(performance.now() - began)
    if (answer.status !== 200 || text === "") throw new Error(`${path} answered ${answer.status}: ${text}`)
  }
  return milliseconds
}
