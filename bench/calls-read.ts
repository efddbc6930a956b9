/** How fast calls are found and read over HTTP, on a store filled through the public API. */
import { CallCorpus, seededRandom } from "./harness/call-corpus.ts"
import { startHeddle, type HeddleServer } from "./harness/heddle-server.ts"
import { median, progress } from "./harness/measure.ts"
import { count, type Options } from "./harness/options.ts"
import { temporaryFolder } from "./harness/paths.ts"
import { Poster } from "./harness/post.ts"
import { atMost, type Findings, measurement } from "./harness/result.ts"
import { callsBody, needle, PROJECT_ID, readCases } from "./harness/read-cases.ts"

export const options = {
  /** 10000000 for the bar that compares with a million. */
  calls: { type: "string", default: "1000000" },
  rounds: { type: "string", default: "9" },
} as const

const batch = 1000
const connections = 4
const templates = 5000

export async function run(given: Options): Promise<Findings> {
  const calls = Math.ceil(count(given, "calls") / batch) * batch
  using folder = temporaryFolder()
  await using server = await startHeddle(folder.path, { engine: "none" })
  await fill(server, calls)
  const results = []
  for (const { what, atMostMs, request } of readCases(calls)) {
    const milliseconds = await measure(server, request, count(given, "rounds"))
    progress(`${what}: ${median(milliseconds).toFixed(1)} ms`)
    results.push({ what, atMostMs, milliseconds })
  }
  return {
    method: [
      `${calls} calls of about 2 KB, ten to a trace but for one trace of 50,000, stored through /v2/{entity}/{project}/calls/complete; one of them holds the word "${needle}".`,
      "Each figure: from sending the request over a connection that stays open to the last byte of its answer, uncompressed; each round asks for another call, trace or number. One round before is not counted.",
    ],
    versions: {},
    settings: { calls, rounds: count(given, "rounds") },
    measurements: results.map(({ what, milliseconds }) => measurement(what, "ms", milliseconds)),
    bars: results.flatMap(({ what, atMostMs, milliseconds }) =>
      atMostMs === null ? [] : [atMost(what, atMostMs, median(milliseconds), "ms")],
    ),
    caveats: [],
  }
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
