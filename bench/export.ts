/** Measures time and memory of exporting calls to files, beside MLflow's export of its traces to a data frame. */
import path from "node:path"
import { mlflowPython, peerVersions } from "./harness/environments.ts"
import { residentMebibytes } from "./harness/machine.ts"
import { median, progress } from "./harness/measure.ts"
import { count, type Options } from "./harness/options.ts"
import { temporaryFolder } from "./harness/paths.ts"
import { startWorker } from "./harness/python-worker.ts"
import { atLeast, atMost, type Findings, measurement } from "./harness/result.ts"
import { ingest } from "./harness/store-load.ts"
import { startHeddleStore, startMlflow } from "./harness/trace-stores.ts"

export const options = {
  /** Calls that are exported. */
  calls: { type: "string", default: "1000000" },
  /** How often each format is timed. */
  rounds: { type: "string", default: "3" },
  /** Spans that MLflow exports. */
  "peer-calls": { type: "string", default: "10000" },
  /** Leave out MLflow. */
  "no-peers": { type: "boolean", default: false },
} as const

const project = "local/bench"
const formats = ["parquet", "csv", "jsonl"] as const
const samplingMs = 100

interface Export {
  rowsPerSecond: number
  firstByteMs: number
  bytes: number
  /** The server's memory above what it held before the export. */
  grownMebibytes: number
}

export async function run(given: Options): Promise<Findings> {
  const [calls, rounds] = [count(given, "calls"), count(given, "rounds")]
  const runs = new Map<string, Export[]>()
  {
    const folder = temporaryFolder()
    await using server = await startHeddleStore(folder)
    await ingest(server, { calls, batch: 1000, connections: 4 })
    for (let round = 0; round <= rounds; round++) {
      for (const format of formats) {
        const one = await exported(server, calls, format)
        progress(`${format}: ${one.rowsPerSecond.toFixed(0)} rows/s, ${one.grownMebibytes.toFixed(0)} MiB more memory`)
        if (round > 0) runs.set(format, [...(runs.get(format) ?? []), one])
      }
    }
  }
  const peer = given["no-peers"] ? [] : await mlflowExports(count(given, "peer-calls"), rounds)
  return findings(given, runs, peer)
}

interface Exporter {
  pid: number
  origin: string
  headers: Record<string, string>
}

async function exported(server: Exporter, calls: number, format: (typeof formats)[number]): Promise<Export> {
  const before = residentMebibytes(server.pid)
  let most = before
  const sampler = setInterval(() => (most = Math.max(most, residentMebibytes(server.pid))), samplingMs)
  const began = performance.now()
  const answer = await fetch(`${server.origin}/export/calls`, {
    method: "POST",
    headers: { ...server.headers, "content-type": "application/json", "accept-encoding": "identity" },
    body: JSON.stringify({ project_id: project, format }),
  })
  if (answer.status !== 200 || answer.body === null) throw new Error(`${answer.status}: ${await answer.text()}`)
  let [bytes, firstByteMs] = [0, 0]
  for await (const chunk of answer.body) {
    firstByteMs ||= performance.now() - began
    bytes += chunk.length
  }
  const seconds = (performance.now() - began) / 1000
  clearInterval(sampler)
  return { rowsPerSecond: calls / seconds, firstByteMs, bytes, grownMebibytes: most - before }
}

/** Spans a second of MLflow: `mlflow.search_traces` puts traces into a data frame, which is written as Parquet. */
async function mlflowExports(calls: number, rounds: number): Promise<number[]> {
  const folder = temporaryFolder()
  await using server = await startMlflow(folder)
  await ingest(server, { calls, batch: 100, connections: 4 })
  await using worker = startWorker(await mlflowPython(), "export_mlflow.py", "export-mlflow")
  const request = { origin: new URL(server.url).origin, spans: calls, file: path.join(folder, "traces.parquet") }
  const rates: number[] = []
  for (let round = 0; round <= rounds; round++) {
    const { seconds } = await worker.call<{ seconds: number }>("export", request)
    progress(`MLflow: ${(calls / seconds).toFixed(0)} spans/s`)
    if (round > 0) rates.push(calls / seconds)
  }
  return rates
}

function findings(given: Options, runs: Map<string, Export[]>, peer: number[]): Findings {
  const parquet = runs.get("parquet") ?? []
  const rate = median(parquet.map((one) => one.rowsPerSecond))
  const figures = [...runs].flatMap(([format, exports]) => [
    measurement(
      `${format}: rows`,
      "rows/s",
      exports.map((one) => one.rowsPerSecond),
    ),
    measurement(
      `${format}: size`,
      "MB",
      exports.map((one) => one.bytes / 1e6),
    ),
    measurement(
      `${format}: memory above what the server had`,
      "MiB",
      exports.map((one) => Math.max(1, one.grownMebibytes)),
    ),
  ])
  const peers = peer.length === 0 ? [] : [measurement("MLflow, search_traces to Parquet: spans", "rows/s", peer)]
  return {
    method: [
      `${count(given, "calls")} calls of about 2 KB, stored over HTTP, then exported whole by /export/calls over the loopback interface; one export of each format before is not counted.`,
      `MLflow: ${count(given, "peer-calls")} spans; mlflow.search_traces with all spans into a data frame, which pandas writes as Parquet.`,
    ],
    versions: peerVersions("mlflow", "mlflow"),
    settings: { calls: count(given, "calls"), rounds: count(given, "rounds") },
    measurements: [...figures, ...peers],
    bars: [
      atLeast("Parquet export of all calls", 50_000, rate, "rows/s"),
      atMost("memory that the Parquet export adds", 512, Math.max(...parquet.map((one) => one.grownMebibytes)), "MiB"),
    ],
    caveats: ["An MLflow trace holds ten spans; the rate counts spans, as the rate of Heddle counts calls."],
  }
}
