/** Fills a Heddle server with calls and times reads, over its public API. */
import { setTimeout } from "node:timers/promises"
import { CallCorpus, seededRandom } from "./call-corpus.ts"
import type { IdKind } from "./call-ids.ts"
import type { HeddleServer } from "./heddle-server.ts"
import { treeCpuSeconds } from "./machine.ts"
import { median, progress } from "./measure.ts"
import { Poster } from "./post.ts"
import { callsBody, PROJECT_ID, type ReadCase } from "./read-cases.ts"

/** Settings of filling a store. */
export interface Filling {
  ids: IdKind
  /** Calls of one request. */
  batch: number
}

export const largeBatches: Filling = { ids: "uuid7", batch: 1000 }
const connections = 4
const templates = 5000

/** Stores calls `from` to below `to`. */
export async function fillCalls(
  server: HeddleServer,
  from: number,
  to: number,
  { ids, batch }: Filling = largeBatches,
): Promise<void> {
  const corpus = new CallCorpus(seededRandom(1))
  const payloads = Array.from({ length: Math.min(templates, to) }, () => corpus.next())
  const poster = new Poster(connections)
  const headers = { ...server.headers, "content-type": "application/json" }
  let next = from
  const connection = async () => {
    for (let at = (next += batch) - batch; at < to; at = (next += batch) - batch) {
      const body = callsBody(payloads, ids, at, Math.min(batch, to - at))
      await poster.post(`${server.url}/v2/${PROJECT_ID}/calls/complete`, body, headers)
      if (at % 100_000 === 0) progress(`${at} of ${to} calls stored`)
    }
  }
  await Promise.all(Array.from({ length: connections }, connection))
  poster.close()
}

const restSeconds = 5
const mostRests = 60

/** Resolves once the server has computed next to nothing for some seconds: its store has merged what was stored. */
export async function untilAtRest({ pid }: HeddleServer): Promise<void> {
  for (let rests = 0; rests < mostRests; rests++) {
    const before = treeCpuSeconds(pid) ?? 0
    await setTimeout(restSeconds * 1000)
    if ((treeCpuSeconds(pid) ?? 0) - before < restSeconds / 20) return
  }
  throw new Error(`the server still computed after ${restSeconds * mostRests} s without requests`)
}

/** Milliseconds of each round, from sending the request to the answer's last byte, after a first round not counted. */
export async function measureReads(
  server: HeddleServer,
  what: string,
  request: ReadCase["request"],
  rounds: number,
): Promise<number[]> {
  const [milliseconds = []] = await measureInTurn([{ server, what, request }], rounds)
  return milliseconds
}

/** A read of a server that is timed. */
export interface TimedRead extends Pick<ReadCase, "what" | "request"> {
  server: HeddleServer
}

/** {@link measureReads} of several reads, which take turns: a slow moment of the machine falls on all of them. */
export async function measureInTurn(reads: readonly TimedRead[], rounds: number): Promise<number[][]> {
  const milliseconds: number[][] = reads.map(() => [])
  for (let round = 0; round <= rounds; round++) {
    for (const [index, { server, request }] of reads.entries()) {
      const took = await measureRead(server, request(round))
      if (round > 0) milliseconds[index]?.push(took)
    }
  }
  for (const [index, { what }] of reads.entries())
    progress(`${what}: ${median(milliseconds[index] ?? []).toFixed(1)} ms`)
  return milliseconds
}

export async function measureRead(
  server: HeddleServer,
  { path, body }: ReturnType<ReadCase["request"]>,
): Promise<number> {
  const began = performance.now()
  const answer = await fetch(server.url + path, {
    method: "POST",
    headers: { ...server.headers, "content-type": "application/json", "accept-encoding": "identity" },
    body: JSON.stringify({ project_id: PROJECT_ID, ...body }),
  })
  const text = await answer.text()
  const took = performance.now() - began
  if (answer.status !== 200 || text === "") throw new Error(`${path} answered ${answer.status}: ${text}`)
  return took
}
