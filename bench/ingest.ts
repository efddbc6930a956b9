/** Measures how fast calls are stored and shown, beside Phoenix and MLflow; latency of small batches; memory; disk. */
import { readdirSync, statSync } from "node:fs"
import { setTimeout as sleep } from "node:timers/promises"
import { openTraces } from "../server/src/storage/traces/open-traces.ts"
import type { CallBatch } from "./harness/call-batches.ts"
import { CallCorpus, seededRandom } from "./harness/call-corpus.ts"
import { chosenIds } from "./harness/call-ids.ts"
import { peerVersions } from "./harness/environments.ts"
import { median, quantile } from "./harness/measure.ts"
import { count, type Options } from "./harness/options.ts"
import { temporaryFolder } from "./harness/paths.ts"
import { Poster } from "./harness/post.ts"
import { atLeast, atMost, type Findings, measurement } from "./harness/result.ts"
import { type Ingest, ingest, type Load } from "./harness/store-load.ts"
import { startHeddleStore, startMlflow, startPhoenix, type TraceStoreServer } from "./harness/trace-stores.ts"

export const options = {
  /** Calls that are stored in a round. */
  calls: { type: "string", default: "300000" },
  /** Calls that a peer stores in a round; Phoenix shows them at about a hundredth of Heddle's rate. */
  "peer-calls": { type: "string", default: "5000" },
  /** How often each store is timed. */
  rounds: { type: "string", default: "2" },
  /** Calls in one request. */
  batch: { type: "string", default: "100" },
  /** Connections at once. */
  connections: { type: "string", default: "8" },
  /** Seconds for which small batches are sent. */
  seconds: { type: "string", default: "10" },
  /** Kind of the ids: uuid7, uuid4 or otel. */
  ids: { type: "string", default: "uuid7" },
  /** Leave out the peers. */
  "no-peers": { type: "boolean", default: false },
} as const

const requestsPerSecond = 200
/** Number of bodies that are made ahead; each is sent many times with new ids. */
const templates = 50

export async function run(given: Options): Promise<Findings> {
  const load: Load = {
    calls: count(given, "calls"),
    batch: count(given, "batch"),
    connections: count(given, "connections"),
  }
  const rounds = count(given, "rounds")
  const runs: Ingest[] = []
  const peers = new Map<string, Ingest[]>([
    ["Phoenix", []],
    ["MLflow", []],
  ])
  let latency: number[] = []
  let disk = { bytes: 0, folderBytes: 0 }
  for (let round = 1; round <= rounds; round++) {
    const folder = temporaryFolder()
    {
      await using server = await startHeddleStore(folder, chosenIds(given))
      runs.push(await ingest(server, load))
      // In the first round, before MLflow runs: after its SQLite has deleted many journals, making files is slow (see
      // temporaryFolder).
      if (round === 1) latency = await smallBatches(server, count(given, "seconds"))
    }
    if (round === rounds) disk = await diskUse(folder)
    if (given["no-peers"]) continue
    for (const start of [startPhoenix, startMlflow]) {
      const peerFolder = temporaryFolder()
      await using peer = await start(peerFolder)
      peers.get(peer.name)?.push(await ingest(peer, { ...load, calls: count(given, "peer-calls") }))
    }
  }
  return findings(given, load, runs, peers, latency, disk)
}

/**
 * Milliseconds from sending a batch of one call to its answer; every tenth call is then read, to check that it is
 * there.
 */
async function smallBatches(
  server: TraceStoreServer & { readonly origin: string },
  seconds: number,
): Promise<number[]> {
  const corpus = new CallCorpus(seededRandom(2))
  const batches = Array.from({ length: templates }, () => server.batchOf([corpus.next()]))
  const poster = new Poster(64)
  const milliseconds: number[] = []
  const pending: Promise<void>[] = []
  const began = performance.now()
  for (let number = 0; number < seconds * requestsPerSecond; number++) {
    const due = began + (number * 1000) / requestsPerSecond
    const wait = due - performance.now()
    if (wait > 0) await sleep(wait)
    const { contentType, fresh } = batches[number % templates] as CallBatch
    const headers = { ...server.headers, "content-type": contentType }
    const body = fresh(firstSmallSequence + number)
    const send = async () => {
      const sent = performance.now()
      await poster.post(server.url, body, headers)
      milliseconds.push(performance.now() - sent)
      if (number % 10 === 0) await checkReadable(server, body)
    }
    pending.push(send())
  }
  await Promise.all(pending)
  poster.close()
  return milliseconds
}

/** Larger than every sequence of the measurement before, so that the ids are new. */
const firstSmallSequence = 1_000_000_000

async function checkReadable(server: TraceStoreServer & { readonly origin: string }, body: Buffer): Promise<void> {
  const { project_id, id } = (JSON.parse(body.toString()) as { batch: [{ project_id: string; id: string }] }).batch[0]
  const answer = await fetch(`${server.origin}/call/read`, {
    method: "POST",
    headers: { ...server.headers, "content-type": "application/json" },
    body: JSON.stringify({ project_id, id }),
  })
  const { call } = (await answer.json()) as { call: { id: string } | null }
  if (call?.id !== id) throw new Error(`the call ${id} was acknowledged and cannot be read`)
}

/** Size from the store itself, once the server has stopped: the folder still has parts that merges have replaced. */
async function diskUse(dataDir: string): Promise<{ bytes: number; folderBytes: number }> {
  const folder = `${dataDir}/traces`
  const folderBytes = bytesOf(folder)
  const traces = await openTraces({ clickhouseUrl: null, folder })
  try {
    const [row] = await traces.rows<{ bytes: string }>(
      "select sum(bytes_on_disk) as bytes from system.parts where active and table in ('calls_v2', 'call_places_v2')",
    )
    return { bytes: Number(row?.bytes), folderBytes }
  } finally {
    await traces.close()
  }
}

function bytesOf(folder: string): number {
  return readdirSync(folder, { withFileTypes: true }).reduce((sum, entry) => {
    const path = `${folder}/${entry.name}`
    return sum + (entry.isDirectory() ? bytesOf(path) : statSync(path).size)
  }, 0)
}

function findings(
  given: Options,
  load: Load,
  runs: Ingest[],
  peers: Map<string, Ingest[]>,
  latency: number[],
  disk: { bytes: number; folderBytes: number },
): Findings {
  const visible = runs.map((one) => one.visiblePerSecond)
  const peerRates = [...peers].flatMap(([name, all]) =>
    all.length === 0
      ? []
      : [
          {
            name,
            visible: all.map((one) => one.visiblePerSecond),
            acknowledged: all.map((one) => one.acknowledgedPerSecond),
          },
        ],
  )
  const better = Math.max(...peerRates.map((one) => median(one.visible)))
  const memory = runs.map((one) => Math.max(...one.residentMebibytes))
  const growth = runs.map(
    ({ residentMebibytes: all }) =>
      median(all.slice(-(all.length >> 2))) / median(all.slice(all.length >> 2, all.length >> 1)),
  )
  const payload = disk.bytes / ((runs.at(-1)?.payloadBytesPerCall ?? Number.NaN) * load.calls)
  const body = disk.bytes / ((runs.at(-1)?.bodyBytesPerCall ?? Number.NaN) * load.calls)
  return {
    method: [
      `Calls of about 2 KB in batches of ${load.batch} over ${load.connections} connections that stay open; the load generator runs on the same cores. Prose of the payloads: a random walk over pairs of words of this project's pages, one word in five from anywhere. Ten calls to a trace; every batch has ids of its own, of the kind ${chosenIds(given)}.`,
      "Visible: from the first request until the server's own API shows every call (Heddle /calls/query_stats, Phoenix GraphQL recordCount, MLflow all pages of traces/search).",
      "Heddle: POST /v2/{entity}/{project}/calls/complete, JSON. Phoenix and MLflow: POST /v1/traces, OTLP in protobuf with OpenInference attributes, on their default SQLite stores; the same payloads.",
      `Small batches: one call each, ${requestsPerSecond} a second for ${String(given["seconds"])} s, from sending to the answer; every tenth is then read by id.`,
      "Disk: live parts of the tables of calls and of their places after the last run, over the bytes of attributes, inputs, output and summary that were sent. Memory: resident set of the server's process, every 250 ms.",
    ],
    versions: { ...peerVersions("phoenix", "arize-phoenix"), ...peerVersions("mlflow", "mlflow") },
    settings: {
      calls: load.calls,
      peer_calls: String(given["peer-calls"]),
      batch: load.batch,
      connections: load.connections,
      ids: chosenIds(given),
    },
    measurements: [
      measurement("Heddle, stored and visible", "calls/s", visible),
      measurement(
        "Heddle, one request of the load, p50",
        "ms",
        runs.map((one) => quantile(one.requestMs, 0.5)),
      ),
      ...peerRates.flatMap((one) => [
        measurement(`${one.name}, visible`, "calls/s", one.visible),
        measurement(`${one.name}, acknowledged`, "calls/s", one.acknowledged),
      ]),
      measurement("small batch to readable, p50", "ms", [quantile(latency, 0.5)]),
      measurement("small batch to readable, p99", "ms", [quantile(latency, 0.99)]),
      measurement("most resident memory", "MiB", memory),
      measurement("resident memory, last quarter / second quarter", "×", growth),
      measurement("disk per byte of payload", "byte", [payload]),
      measurement("disk per byte of request body", "byte", [body]),
      measurement("folder with parts that merges have replaced, per byte of payload", "byte", [
        (payload * disk.folderBytes) / disk.bytes,
      ]),
    ],
    bars: [
      atLeast("stored and visible", 15_000, median(visible), "calls/s"),
      ...(peerRates.length === 0 ? [] : [atLeast("against the better peer", 12, median(visible) / better, "×")]),
      atMost("small batch, p50", 10, quantile(latency, 0.5), "ms"),
      atMost("small batch, p99", 50, quantile(latency, 0.99), "ms"),
      atMost("disk per byte of payload", 0.35, payload, "byte"),
      atMost("resident memory", 1.2 * 1024, Math.max(...memory), "MiB"),
      atMost("resident memory, last quarter / second quarter", 1.1, median(growth), "×"),
    ],
    caveats: [],
  }
}
