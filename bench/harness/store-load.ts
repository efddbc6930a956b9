/** Load of the benchmarks of writing: sends batches of calls over connections that stay open, until all are visible. */
import { gzipSync } from "node:zlib"
import { setTimeout as sleep } from "node:timers/promises"
import type { CallBatch } from "./call-batches.ts"
import { CallCorpus, seededRandom } from "./call-corpus.ts"
import { residentMebibytes, treeCpuSeconds } from "./machine.ts"
import { progress } from "./measure.ts"
import { Poster } from "./post.ts"
import type { TraceStoreServer } from "./trace-stores.ts"

/** Number of batches that are made ahead; each is sent many times with new ids. */
const templates = 50
const samplingMs = 250

export interface Load {
  calls: number
  batch: number
  connections: number
  /** True: bodies are compressed, all of them before the first is sent. */
  gzip?: boolean
}

export interface Ingest {
  visiblePerSecond: number
  acknowledgedPerSecond: number
  requestMs: number[]
  residentMebibytes: number[]
  /** Processor time of the server's processes, a better figure than the rate while other programs run. */
  cpuMicrosecondsPerCall: number
  payloadBytesPerCall: number
  bodyBytesPerCall: number
}

/** Measures from the first request until the server's own API shows every call. */
export async function ingest(
  server: TraceStoreServer,
  { calls, batch, connections, gzip = false }: Load,
): Promise<Ingest> {
  const corpus = new CallCorpus(seededRandom(1))
  const batches = Array.from({ length: templates }, () =>
    server.batchOf(Array.from({ length: batch }, () => corpus.next())),
  )
  const total = Math.ceil(calls / batch)
  const templateOf = (number: number) => batches[number % templates] as CallBatch
  const compressed = gzip
    ? Array.from({ length: total }, (_, number) => gzipSync(templateOf(number).fresh(number)))
    : []
  const headers = {
    ...server.headers,
    "content-type": templateOf(0).contentType,
    ...(gzip ? { "content-encoding": "gzip" } : {}),
  }
  const memory: number[] = []
  const sampler = setInterval(() => memory.push(residentMebibytes(server.pid)), samplingMs)
  const poster = new Poster(connections)
  const requestMs: number[] = []
  let sequence = 0
  const cpuBefore = treeCpuSeconds(server.pid) ?? Number.NaN
  const began = performance.now()
  const connection = async () => {
    for (let number = sequence++; number < total; number = sequence++) {
      const body = compressed[number] ?? templateOf(number).fresh(number)
      const sent = performance.now()
      await poster.post(server.url, body, headers)
      requestMs.push(performance.now() - sent)
    }
  }
  await Promise.all(Array.from({ length: connections }, connection))
  const acknowledged = (performance.now() - began) / 1000
  await untilVisible(server, total * batch, visibleTimeoutMs, 50)
  const visible = (performance.now() - began) / 1000
  const cpuSeconds = (treeCpuSeconds(server.pid) ?? Number.NaN) - cpuBefore
  clearInterval(sampler)
  poster.close()
  const bytesPerCall = (size: (one: CallBatch) => number) =>
    batches.reduce((sum, one) => sum + size(one), 0) / (templates * batch)
  const result = {
    visiblePerSecond: (total * batch) / visible,
    acknowledgedPerSecond: (total * batch) / acknowledged,
    requestMs,
    residentMebibytes: memory,
    cpuMicrosecondsPerCall: (cpuSeconds * 1e6) / (total * batch),
    payloadBytesPerCall: bytesPerCall((one) => one.payloadBytes),
    bodyBytesPerCall: bytesPerCall((one) => one.bytes.length),
  }
  progress(
    `${server.name}: ${result.visiblePerSecond.toFixed(0)} calls/s visible (${total * batch} in ${visible.toFixed(1)} s, ${result.cpuMicrosecondsPerCall.toFixed(0)} µs of processor time each)`,
  )
  return result
}

const visibleTimeoutMs = 300_000

/** Asks every `pauseMs` until the server's own API shows `calls` calls. */
export async function untilVisible(
  server: TraceStoreServer,
  calls: number,
  timeoutMs: number,
  pauseMs: number,
): Promise<void> {
  const deadline = performance.now() + timeoutMs
  for (;;) {
    const visible = await server.visible()
    if (visible === calls) return
    if (visible > calls) throw new Error(`${server.name} shows ${visible} calls of ${calls}`)
    if (performance.now() > deadline)
      throw new Error(`${server.name} shows ${visible} of ${calls} calls after ${timeoutMs} ms`)
    await sleep(pauseMs)
  }
}
