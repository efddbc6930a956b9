/** Starts the servers that store traces in the ingest benchmark, each with its fastest bulk path. */
import { type CallBatch, otlpBatch, weaveBatch } from "./call-batches.ts"
import { type BenchCall, callsPerTrace } from "./call-corpus.ts"
import type { IdKind } from "./call-ids.ts"
import { startProgram } from "./child-process.ts"
import { mlflowPython, phoenixPython } from "./environments.ts"
import { ENTITY, PROJECT, startHeddle } from "./heddle-server.ts"
import { freePort, requestJson, waitUntilReady } from "./http.ts"
import { logFile } from "./paths.ts"

const START_TIMEOUT_MS = 120_000

export interface TraceStoreServer extends AsyncDisposable {
  readonly name: string
  readonly pid: number
  /** The address to which batches are posted, with these headers. */
  readonly url: string
  readonly headers: Record<string, string>
  batchOf(calls: readonly BenchCall[]): CallBatch
  /** The number of calls that its own API shows. */
  visible(): Promise<number>
}

/** Starts Heddle as a store; `kind` is the kind of ids that its batches have. */
export async function startHeddleStore(
  folder: string,
  kind: IdKind = "uuid7",
): Promise<TraceStoreServer & { readonly origin: string }> {
  const server = await startHeddle(folder, { engine: "none" })
  const project = `${ENTITY}/${PROJECT}`
  return {
    name: "Heddle",
    pid: server.pid,
    origin: server.url,
    url: `${server.url}/v2/${project}/calls/complete`,
    headers: server.headers,
    batchOf: (calls) => weaveBatch(calls, project, kind),
    visible: async () => (await server.post<{ count: number }>("/calls/query_stats", { project_id: project })).count,
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  }
}

/** Starts Heddle as a store that gets OpenTelemetry spans instead of calls. */
export async function startHeddleOtlp(folder: string): Promise<TraceStoreServer> {
  const store = await startHeddleStore(folder)
  return {
    ...store,
    name: "Heddle (OTLP)",
    url: `${store.origin}/otel/v1/traces`,
    headers: { ...store.headers, project_id: `${ENTITY}/${PROJECT}` },
    batchOf: (calls) => otlpBatch(calls, "bench"),
  }
}

/** Starts Phoenix on SQLite, its default. */
export async function startPhoenix(folder: string): Promise<TraceStoreServer> {
  const python = await phoenixPython()
  const [port, grpcPort] = [await freePort(), await freePort()]
  const origin = `http://127.0.0.1:${port}`
  const program = startProgram(python, ["-m", "phoenix.server.main", "serve"], logFile("phoenix"), {
    env: {
      ...process.env,
      PHOENIX_WORKING_DIR: folder,
      PHOENIX_HOST: "127.0.0.1",
      PHOENIX_PORT: String(port),
      PHOENIX_GRPC_PORT: String(grpcPort),
      PHOENIX_TELEMETRY_ENABLED: "false",
    },
  })
  await waitUntilReady(`${origin}/healthz`, START_TIMEOUT_MS, () => program.assertAlive())
  const query = "{ projects { edges { node { name recordCount } } } }"
  return {
    name: "Phoenix",
    pid: program.pid,
    url: `${origin}/v1/traces`,
    headers: {},
    batchOf: (calls) => otlpBatch(calls, "bench"),
    visible: async () => {
      const { data } = await requestJson<PhoenixProjects>("POST", `${origin}/graphql`, { query })
      return data.projects.edges.reduce((sum, { node }) => sum + node.recordCount, 0)
    },
    [Symbol.asyncDispose]: () => program[Symbol.asyncDispose](),
  }
}

interface PhoenixProjects {
  data: { projects: { edges: { node: { recordCount: number } }[] } }
}

/** Starts MLflow's tracking server on SQLite, its default. */
export async function startMlflow(folder: string): Promise<TraceStoreServer> {
  const python = await mlflowPython()
  const port = await freePort()
  const origin = `http://127.0.0.1:${port}`
  const store = [
    "--backend-store-uri",
    `sqlite:///${folder}/mlflow.db`,
    "--default-artifact-root",
    `${folder}/artifacts`,
  ]
  const place = ["--host", "127.0.0.1", "--port", String(port)]
  const program = startProgram(python, ["-m", "mlflow", "server", ...store, ...place], logFile("mlflow"), {
    env: { ...process.env, MLFLOW_DISABLE_TELEMETRY: "true", DO_NOT_TRACK: "true" },
  })
  await waitUntilReady(`${origin}/health`, START_TIMEOUT_MS, () => program.assertAlive())
  return {
    name: "MLflow",
    pid: program.pid,
    url: `${origin}/v1/traces`,
    headers: { "x-mlflow-experiment-id": "0" },
    batchOf: (calls) => otlpBatch(calls, "bench"),
    visible: async () => (await countMlflowTraces(origin)) * callsPerTrace,
    [Symbol.asyncDispose]: () => program[Symbol.asyncDispose](),
  }
}

/** Counts traces by reading all pages, because MLflow has no count. */
async function countMlflowTraces(origin: string): Promise<number> {
  const locations = [{ type: "MLFLOW_EXPERIMENT", mlflow_experiment: { experiment_id: "0" } }]
  let count = 0
  let page_token: string | undefined
  do {
    const body = { locations, max_results: 500, ...(page_token === undefined ? {} : { page_token }) }
    const page = await requestJson<MlflowPage>("POST", `${origin}/api/3.0/mlflow/traces/search`, body)
    count += page.traces?.length ?? 0
    page_token = page.next_page_token
  } while (page_token !== undefined && page_token !== "")
  return count
}

interface MlflowPage {
  traces?: unknown[]
  next_page_token?: string
}
