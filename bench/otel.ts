/** Measures how fast OpenTelemetry spans are stored and shown, plain and compressed, beside Phoenix and MLflow. */
import { peerVersions } from "./harness/environments.ts"
import { median, quantile } from "./harness/measure.ts"
import { count, type Options } from "./harness/options.ts"
import { temporaryFolder } from "./harness/paths.ts"
import { atLeast, type Findings, measurement } from "./harness/result.ts"
import { type Ingest, ingest, type Load } from "./harness/store-load.ts"
import { startHeddleOtlp, startMlflow, startPhoenix, type TraceStoreServer } from "./harness/trace-stores.ts"

export const options = {
  /** Spans that are stored in a round. */
  spans: { type: "string", default: "200000" },
  /** Spans that a peer stores in a round; of fewer, MLflow's first seconds are most of the time. */
  "peer-spans": { type: "string", default: "50000" },
  /** How often each store is timed. */
  rounds: { type: "string", default: "2" },
  /** Spans in one request. */
  batch: { type: "string", default: "500" },
  /** Connections at once. */
  connections: { type: "string", default: "8" },
  /** Leave out the peers. */
  "no-peers": { type: "boolean", default: false },
} as const

interface Contender {
  name: string
  start: (folder: string) => Promise<TraceStoreServer>
  load: Load
  runs: Ingest[]
}

export async function run(given: Options): Promise<Findings> {
  const load = { batch: count(given, "batch"), connections: count(given, "connections") }
  const own = { ...load, calls: count(given, "spans") }
  const others = { ...load, calls: count(given, "peer-spans") }
  const plain: Contender = { name: "Heddle", start: startHeddleOtlp, load: own, runs: [] }
  const gzip: Contender = { name: "Heddle, gzip", start: startHeddleOtlp, load: { ...own, gzip: true }, runs: [] }
  const peers: Contender[] =
    given["no-peers"] === true
      ? []
      : [
          { name: "Phoenix", start: startPhoenix, load: others, runs: [] },
          { name: "MLflow", start: startMlflow, load: others, runs: [] },
        ]
  for (let round = 0; round < count(given, "rounds"); round++) {
    for (const one of [plain, gzip, ...peers]) {
      const folder = temporaryFolder()
      await using server = await one.start(folder)
      one.runs.push(await ingest(server, one.load))
    }
  }
  return findings(given, plain, gzip, peers)
}

const visible = ({ runs }: Contender) => runs.map((one) => one.visiblePerSecond)

function findings(given: Options, plain: Contender, gzip: Contender, peers: readonly Contender[]): Findings {
  const better = Math.max(...peers.map((one) => median(visible(one))))
  const p50 = (one: Contender) => one.runs.map(({ requestMs }) => quantile(requestMs, 0.5))
  const memory = [plain, gzip].flatMap(({ runs }) => runs.map((one) => Math.max(...one.residentMebibytes)))
  return {
    method: [
      `Spans of about 2 KB in protobuf with OpenInference's attributes, in batches of ${String(given["batch"])} over ${String(given["connections"])} connections that stay open; the load generator runs on the same cores. The prose is that of the benchmark ingest; ten spans to a trace, every batch has ids of its own.`,
      "Visible: from the first request until the server's own API shows every span (Heddle /calls/query_stats, Phoenix GraphQL recordCount, MLflow all pages of traces/search).",
      "The same bytes for all: Heddle /otel/v1/traces, Phoenix and MLflow /v1/traces, on their default SQLite stores. gzip: the bodies are compressed before the clock starts.",
    ],
    versions: { ...peerVersions("phoenix", "arize-phoenix"), ...peerVersions("mlflow", "mlflow") },
    settings: Object.fromEntries(
      ["spans", "peer-spans", "batch", "connections", "rounds"].map((name) => [name, String(given[name])]),
    ),
    measurements: [
      ...[plain, gzip, ...peers].map((one) => measurement(`${one.name}, stored and visible`, "spans/s", visible(one))),
      ...[plain, gzip, ...peers].map((one) =>
        measurement(
          `${one.name}, processor time`,
          "µs/span",
          one.runs.map((each) => each.cpuMicrosecondsPerCall),
        ),
      ),
      measurement("Heddle, one request of the load, p50", "ms", p50(plain)),
      measurement("Heddle, gzip, one request of the load, p50", "ms", p50(gzip)),
      measurement("bytes of one span in its request", "byte", [plain.runs[0]?.bodyBytesPerCall ?? Number.NaN]),
      measurement("most resident memory", "MiB", memory),
    ],
    bars: [
      atLeast("stored and visible", 12_000, median(visible(plain)), "spans/s"),
      atLeast("stored and visible, gzip", 12_000, median(visible(gzip)), "spans/s"),
      ...(peers.length === 0 ? [] : [atLeast("against the better peer", 10, median(visible(plain)) / better, "×")]),
    ],
    caveats: [],
  }
}
