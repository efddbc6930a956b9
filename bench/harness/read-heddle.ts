/** Heddle as a store to read from: filled and asked over its public API. */
import { CallCorpus, seededRandom } from "./call-corpus.ts"
import type { HeddleServer } from "./heddle-server.ts"
import { median, progress } from "./measure.ts"
import { Poster } from "./post.ts"
import { callsBody, PROJECT_ID, type ReadCase } from "./read-cases.ts"

/** Calls are stored so many at a time. */
export const fillBatch = 1000
const connections = 4
const templates = 5000

/** Stores calls `from` to `to`, both multiples of {@link fillBatch}. */
export async function fillCalls(server: HeddleServer, from: number, to: number): Promise<void> {
  const corpus = new CallCorpus(seededRandom(1))
  const payloads = Array.from({ length: Math.min(templates, to) }, () => corpus.next())
  const poster = new Poster(connections)
  const headers = { ...server.headers, "content-type": "application/json" }
  let next = from
  const connection = async () => {
    for (let at = (next += fillBatch) - fillBatch; at < to; at = (next += fillBatch) - fillBatch) {
      await poster.post(`${server.url}/v2/${PROJECT_ID}/calls/complete`, callsBody(payloads, at, fillBatch), headers)
      if (at % 100_000 === 0) progress(`${at} of ${to} calls stored`)
    }
  }
  await Promise.all(Array.from({ length: connections }, connection))
  poster.close()
}

/** Milliseconds of each round, from sending the request to the last byte of its answer. */
export async function measureReads(
  server: HeddleServer,
  what: string,
  request: ReadCase["request"],
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
  progress(`${what}: ${median(milliseconds).toFixed(1)} ms`)
  return milliseconds
}
