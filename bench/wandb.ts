/** Measures how fast the unmodified wandb client stores rows of runs and files of artifacts, and reads them back. */
import { rmSync } from "node:fs"
import path from "node:path"
import { clientPython, clientVersions } from "./harness/environments.ts"
import { type HeddleServer, startHeddle } from "./harness/heddle-server.ts"
import { request, requestJson } from "./harness/http.ts"
import { residentMebibytes, treeCpuSeconds } from "./harness/machine.ts"
import { median, progress } from "./harness/measure.ts"
import { count, type Options } from "./harness/options.ts"
import { temporaryFolder } from "./harness/paths.ts"
import { type PythonWorker, startWorker } from "./harness/python-worker.ts"
import { atLeast, atMost, type Findings, measurement } from "./harness/result.ts"

export const options = {
  /** Rows that a run logs, one a step. */
  steps: { type: "string", default: "100000" },
  /** Values in each row. */
  keys: { type: "string", default: "20" },
  /** Small files of an artifact, of 1 KiB each. */
  files: { type: "string", default: "2000" },
  /** Size of the large file of an artifact, in MiB. */
  "large-mib": { type: "string", default: "1024" },
  /** How often each case is timed. */
  rounds: { type: "string", default: "3" },
} as const

const project = "bench-wandb"
const set = "wandb-0.31.0"
const samplingMs = 100
/** Most bytes of lines in one request, as in the client: 10 MB. */
const pieceBytes = 10 * 1000 ** 2
const pageRows = 10_000

interface Figures {
  logged: number[]
  /** Rows a second of the client alone, without a server. */
  offline: number[]
  converted: number[]
  readable: number[]
  stored: number[]
  scanned: number[]
  answered: number[]
  small: number[]
  large: number[]
  downloaded: number[]
  grownMebibytes: number[]
  /** Processor seconds of client and server by case, in the order in which the cases run. */
  spent: Map<string, { client: number[]; server: number[] }>
}

export async function run(given: Options): Promise<Findings> {
  const [steps, keys, files] = [count(given, "steps"), count(given, "keys"), count(given, "files")]
  const largeMebibytes = count(given, "large-mib")
  const figures: Figures = {
    logged: [],
    offline: [],
    converted: [],
    readable: [],
    stored: [],
    scanned: [],
    answered: [],
    small: [],
    large: [],
    downloaded: [],
    grownMebibytes: [],
    spent: new Map(),
  }
  const data = temporaryFolder()
  await using server = await startHeddle(data, { engine: "none" })
  const folder = temporaryFolder()
  await using worker = startWorker(await clientPython(set), "wandb_client.py", "wandb", {
    WANDB_BASE_URL: server.url,
    WANDB_API_KEY: server.adminKey,
    WANDB_DIR: folder,
    WANDB_CACHE_DIR: path.join(folder, "cache"),
    WANDB_DATA_DIR: path.join(folder, "staging"),
    WANDB_SILENT: "true",
    WANDB_CONSOLE: "off",
    WANDB_ERROR_REPORTING: "false",
  })
  const measured = { server, worker, figures, folder }
  for (let round = 1; round <= count(given, "rounds"); round++) {
    await rows(measured, round, steps, keys)
    await artifacts(measured, round, { files, largeMebibytes })
  }
  return findings(given, figures)
}

interface Measured {
  server: HeddleServer
  worker: PythonWorker
  figures: Figures
  folder: string
}

/** Notes the processor seconds that client and server spend on the work. */
async function counted<T>({ server, worker, figures }: Measured, what: string, work: () => Promise<T>): Promise<T> {
  const used = () => [worker.pid, server.pid].map((pid) => treeCpuSeconds(pid) ?? Number.NaN)
  const before = used()
  const result = await work()
  const [client = 0, ofServer = 0] = used().map((seconds, place) => seconds - (before[place] ?? 0))
  const spent = figures.spent.get(what) ?? { client: [], server: [] }
  spent.client.push(client)
  spent.server.push(ofServer)
  figures.spent.set(what, spent)
  return result
}

async function rows(measured: Measured, round: number, steps: number, keys: number): Promise<void> {
  const { server, worker, figures } = measured
  const name = `rows-${round}`
  const { logged, readable } = await counted(measured, "run.log", () =>
    worker.call<{ logged: number; readable: number }>("log_rows", { project, name, steps, keys }),
  )
  figures.logged.push(steps / logged)
  figures.readable.push(steps / readable)
  const alone = { project, name: `offline-${round}`, steps, keys }
  figures.offline.push(steps / (await worker.call<{ seconds: number }>("log_rows_offline", alone)).seconds)
  figures.converted.push(steps / (await worker.call<{ seconds: number }>("convert_rows", { steps, keys })).seconds)
  const scan = await counted(measured, "scan_history", () =>
    worker.call<{ seconds: number }>("scan_rows", { project, name, steps, page_size: pageRows }),
  )
  figures.scanned.push(steps / scan.seconds)
  figures.answered.push(steps / (await readPages(server, name, steps)))
  figures.stored.push(steps / (await storePieces(server, `direct-${round}`, steps, keys)))
  progress(
    `rows: ${(steps / readable).toFixed(0)}/s through the client, ${figures.stored.at(-1)?.toFixed(0)}/s stored by the server; ` +
      `${(steps / scan.seconds).toFixed(0)}/s scanned, ${figures.answered.at(-1)?.toFixed(0)}/s answered`,
  )
}

interface HistoryPage {
  data: { project: { run: { history: string[] } } }
}

/** Seconds until the last byte of all pages of a scan, without the client's own work on them. */
async function readPages(server: HeddleServer, name: string, steps: number): Promise<number> {
  const query = `query($minStep: Int64, $maxStep: Int64) { project(name: "${project}", entityName: "local") {
    run(name: "${name}") { history(minStep: $minStep, maxStep: $maxStep, samples: ${pageRows}) } } }`
  const pages: string[] = []
  const began = performance.now()
  for (let minStep = 0; minStep < steps; minStep += pageRows) {
    const variables = { minStep, maxStep: minStep + pageRows }
    const answer = await request("POST", `${server.url}/graphql`, { query, variables }, server.headers)
    pages.push(answer.body)
  }
  const seconds = (performance.now() - began) / 1000
  const answered = pages.flatMap((page) => (JSON.parse(page) as HistoryPage).data.project.run.history)
  if (answered.length !== steps) throw new Error(`the server answered ${answered.length} rows instead of ${steps}`)
  return seconds
}

/** Seconds in which the server stores the same rows, in pieces as the client sends them, until the last row is read. */
async function storePieces(server: HeddleServer, name: string, steps: number, keys: number): Promise<number> {
  const input = { entityName: "local", modelName: project, name, host: "bench", jobProgram: "bench" }
  await graphql(server, "mutation($input: UpsertBucketInput) { upsertBucket(input: $input) { inserted } }", { input })
  const pieces: string[] = []
  let [lines, bytes, offset]: [string[], number, number] = [[], 0, 0]
  const flush = (next: number) => {
    if (lines.length > 0) pieces.push(JSON.stringify({ files: { "wandb-history.jsonl": { offset, content: lines } } }))
    ;[lines, bytes, offset] = [[], 0, next]
  }
  for (let step = 0; step < steps; step++) {
    const values = Array.from({ length: keys }, (_, key) => [`metric_${key}`, step + key / 7] as const)
    const line = JSON.stringify({
      ...Object.fromEntries(values),
      _step: step,
      _runtime: step / 10,
      _timestamp: 1.7e9 + step,
    })
    lines.push(line)
    bytes += line.length
    if (bytes >= pieceBytes) flush(step + 1)
  }
  flush(steps)
  const began = performance.now()
  for (const piece of pieces) await post(server, `/files/local/${project}/${name}/file_stream`, piece)
  const query = `query { project(name: "${project}", entityName: "local") { run(name: "${name}") { historyKeys } } }`
  const answer = await graphql(server, query, {})
  const seconds = (performance.now() - began) / 1000
  if (!JSON.stringify(answer).includes(`"lastStep":${steps - 1}`)) throw new Error("the last row cannot be read")
  return seconds
}

const graphql = (server: HeddleServer, query: string, variables: object) =>
  requestJson("POST", `${server.url}/graphql`, { query, variables }, server.headers)

async function post(server: HeddleServer, route: string, body: string): Promise<void> {
  const headers = { ...server.headers, "content-type": "application/json" }
  const answer = await fetch(server.url + route, { method: "POST", headers, body })
  if (answer.status !== 200) throw new Error(`${route}: ${answer.status} ${await answer.text()}`)
  await answer.arrayBuffer()
}

async function artifacts(
  measured: Measured,
  round: number,
  { files, largeMebibytes }: { files: number; largeMebibytes: number },
): Promise<void> {
  const { server, worker, figures, folder } = measured
  const small = path.join(folder, `small-${round}`)
  await worker.call("make_files", { folder: small, files, file_bytes: 1024 })
  const logged = await counted(measured, "the small files", () =>
    worker.call<{ seconds: number }>("log_artifact", { project, name: `small-${round}`, folder: small }),
  )
  figures.small.push(logged.seconds)

  const large = path.join(folder, `large-${round}`)
  await worker.call("make_files", { folder: large, files: 1, file_bytes: largeMebibytes * 2 ** 20 })
  const before = residentMebibytes(server.pid)
  let most = before
  const sampler = setInterval(() => (most = Math.max(most, residentMebibytes(server.pid))), samplingMs)
  const name = `large-${round}`
  const megabytes = (largeMebibytes * 2 ** 20) / 1e6
  const stored = await counted(measured, "the large file", () =>
    worker.call<{ seconds: number; added: number }>("log_artifact", { project, name, folder: large }),
  )
  // The client copies and digests the file before it sends anything.
  figures.large.push(megabytes / (stored.seconds - stored.added))
  const into = path.join(folder, "down")
  const read = await counted(measured, "its download", () =>
    worker.call<{ seconds: number }>("download_artifact", { project, name, folder: into }),
  )
  figures.downloaded.push(megabytes / read.seconds)
  clearInterval(sampler)
  figures.grownMebibytes.push(Math.max(0, most - before))
  for (const made of [small, large]) rmSync(made, { recursive: true })
  progress(
    `artifacts: ${files} files in ${logged.seconds.toFixed(2)} s; ${largeMebibytes} MiB at ${figures.large.at(-1)?.toFixed(0)} MB/s, ` +
      `${(most - before).toFixed(0)} MiB more memory`,
  )
}

function findings(given: Options, figures: Figures): Findings {
  const [steps, keys, files] = [count(given, "steps"), count(given, "keys"), count(given, "files")]
  const largeMebibytes = count(given, "large-mib")
  return {
    method: [
      `wandb's client logs ${steps} rows of ${keys} numbers with run.log, ends the run, and asks its public API until the last row is there; then it reads all with scan_history, ${pageRows} rows a page.`,
      "The client alone: the same run.log and finish in offline mode, which writes a file and sends nothing; and its last act of a scan, messages of as many values made into dicts. No server lets the client be faster than these.",
      "The server's part: the same rows posted in pieces of 10 MB as the client sends them, until the last one is read; and the pages of the scan, asked for without being made into rows.",
      `An artifact of ${files} files of 1 KiB, and one of a file of ${largeMebibytes} MiB, random bytes: log_artifact until it is committed. The rate of the large file is without the time in which the client copies and digests it before it sends; its memory is that of all processes of the server, while it is stored and fetched.`,
      "CPU s: processor seconds that the processes of the client, and those of the server, spend on a case together, whatever else the machine does. The client's seconds for an artifact include the copy and digests that it makes first.",
    ],
    versions: clientVersions(set, "wandb"),
    settings: { steps, keys, files, "large-mib": largeMebibytes, rounds: count(given, "rounds") },
    measurements: [
      measurement("run.log until readable by the public API", "rows/s", figures.readable),
      measurement("run.log returns", "rows/s", figures.logged),
      measurement("run.log and finish offline: the client alone", "rows/s", figures.offline),
      measurement("the server's part: stored and readable", "rows/s", figures.stored),
      measurement("scan_history", "rows/s", figures.scanned),
      measurement("messages made into dicts: the client alone", "rows/s", figures.converted),
      measurement("the server's part: pages of a scan", "rows/s", figures.answered),
      measurement("an artifact of small files", "s", figures.small),
      measurement("an artifact of one large file, stored", "MB/s", figures.large),
      measurement("the same, downloaded", "MB/s", figures.downloaded),
      measurement("memory above what the server had", "MiB", figures.grownMebibytes),
      ...Array.from(figures.spent, ([what, { client, server }]) => [
        measurement(`${what}: the client`, "CPU s", client),
        measurement(`${what}: the server`, "CPU s", server),
      ]).flat(),
    ],
    bars: [
      atLeast("rows durable and readable, through the client", 20_000, median(figures.readable), "rows/s"),
      atLeast("rows durable and readable, the server's part", 20_000, median(figures.stored), "rows/s"),
      atLeast("scan, through the client", 100_000, median(figures.scanned), "rows/s"),
      atLeast("scan, the server's part", 100_000, median(figures.answered), "rows/s"),
      atMost("an artifact of small files", 10, median(figures.small), "s"),
      atLeast("an artifact of one large file", 200, median(figures.large), "MB/s"),
      atMost("memory that the large file adds", 256, Math.max(...figures.grownMebibytes), "MiB"),
    ],
    caveats: ["Client and server share the machine's cores."],
  }
}
