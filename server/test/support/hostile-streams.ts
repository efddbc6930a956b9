/**
 * Requests that are made to take as long as possible, with bodies that are read as streams, and of runs and protobuf
 * spans.
 */
import { parquetWriteBuffer } from "hyparquet-writer"
import { counted, type HostileRequest, repeated } from "./hostile-request.ts"
import { bytesField, protobufTraces, textAttribute, timeField } from "./otlp-message.ts"
import type { WatchedServer } from "./watched-server.ts"

const mebibyte = 1024 * 1024
const project = "local/p"

async function ask({ url, key }: WatchedServer, path: string, body: object): Promise<unknown> {
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" }
  const answer = await fetch(url + path, { method: "POST", headers, body: JSON.stringify(body) })
  if (answer.status !== 200) throw new Error(`POST ${path}: ${answer.status} ${await answer.text()}`)
  return answer.json()
}

/** Makes a model; returns the path of its log. Jobs read their bodies in the same way, but need an engine. */
async function logPath(server: WatchedServer): Promise<string> {
  const model = await ask(server, "/v1/preview/models", {
    project: "p",
    name: "hostile",
    base_model: "heddle/tiny",
    return_existing: true,
  })
  return `/v1/preview/models/${(model as { id: string }).id}/log`
}

const log = (groups: string, beside = "") => Buffer.from(`{"split":"val"${beside},"trajectory_groups":[${groups}]}`)
const group = (trajectories: string) => `{"trajectories":[${trajectories}]}`
const message = '{"role":"user","content":"x"}'
const choice = '{"finish_reason":"stop","index":0,"message":{"role":"assistant","content":"y"}}'

const training: HostileRequest[] = [
  {
    name: "training: many small trajectories",
    path: logPath,
    body: (bytes) => log(group(repeated(`{"messages_and_choices":[${message},${choice}],"reward":1}`, bytes))),
    statuses: [200],
  },
  {
    name: "training: many groups that are not valid",
    path: logPath,
    body: (bytes) => log(repeated('{"trajectories":[{"reward":"x"}]}', bytes)),
    statuses: [422],
  },
  {
    name: "training: one trajectory of numbers",
    path: logPath,
    body: (bytes) =>
      log(group(`{"messages_and_choices":[${message},${choice}],"metadata":{"a":[${repeated("1", bytes)}]}}`)),
    statuses: [200],
  },
  {
    name: "training: numbers beside the trajectories",
    path: logPath,
    body: (bytes) => log("", `,"a":[${repeated("1", bytes)}]`),
    statuses: [200],
  },
  {
    name: "training: a configuration of numbers",
    path: logPath,
    body: (bytes) => log("", `,"experimental_config":{"a":[${repeated("1", bytes)}]}`),
    statuses: [413],
  },
  {
    name: "training: metrics of many names",
    path: logPath,
    body: (bytes) => log(group(`{"metrics":{${counted((n) => `"m${n}":1`, bytes)}}}`)),
    statuses: [413],
  },
]

const boundary = "cut"
const form = { "content-type": `multipart/form-data; boundary=${boundary}` }
const filePart = (content: string) =>
  `--${boundary}\r\ncontent-disposition: form-data; name="file"; filename="f.jsonl"\r\n\r\n${content}\r\n--${boundary}--\r\n`

const uploads: HostileRequest[] = [
  {
    name: "uploads: training data of many lines",
    path: "/v1/files",
    headers: form,
    body: (bytes) => Buffer.from(filePart(repeated('{"messages":[]}', bytes).replaceAll(",", "\n"))),
    statuses: [200],
  },
  {
    name: "uploads: a form of fields",
    path: "/v1/files",
    headers: form,
    body: (bytes) => {
      const field = `--${boundary}\r\ncontent-disposition: form-data; name="a"\r\n\r\nx\r\n`
      return Buffer.from(field.repeat(bytes / field.length) + filePart("{}"))
    },
    statuses: [200, 400, 413, 422],
  },
  {
    name: "imports: Parquet of many small rows",
    path: `/import/dataset?format=parquet&project_id=${project}`,
    body: (bytes) => {
      const data = Array.from({ length: Math.floor(bytes / 24) }, (_, row) => `text ${row}`)
      return Buffer.from(
        parquetWriteBuffer({ columnData: [{ name: "a", data, type: "STRING" }], codec: "UNCOMPRESSED" }),
      )
    },
    statuses: [200],
  },
  {
    name: "imports: Parquet whose rows are the same, and large",
    path: `/import/dataset?format=parquet&project_id=${project}`,
    body: () => {
      const data = Array.from({ length: 8_192 }, () => "x".repeat(100_000))
      return Buffer.from(parquetWriteBuffer({ columnData: [{ name: "a", data, type: "STRING" }] }))
    },
    statuses: [200, 413],
  },
]

async function streamPath(server: WatchedServer): Promise<string> {
  const query =
    "mutation UpsertBucket($project: String, $entity: String, $name: String!) { upsertBucket(input: { modelName: $project, entityName: $entity, name: $name }) { bucket { id } inserted } }"
  await ask(server, "/graphql", { query, variables: { entity: "local", project: "p", name: "streamed" } })
  return `/files/${project}/streamed/file_stream`
}

const stream = (files: string) => Buffer.from(`{"files":{${files}}}`)
const history = (line: string, bytes: number) =>
  stream(`"wandb-history.jsonl":{"offset":0,"content":[${repeated(JSON.stringify(line), bytes)}]}`)

const runs: HostileRequest[] = [
  {
    name: "runs: many small lines",
    path: streamPath,
    body: (bytes) => history('{"_step":1,"loss":0.50}', bytes),
    statuses: [200, 400, 413],
  },
  {
    name: "runs: one line of numbers",
    path: streamPath,
    body: (bytes) => history(`{"_step":1,"a":[${repeated("1.50", Math.min(bytes, 15 * mebibyte))}]}`, 1),
    statuses: [200, 413],
  },
  {
    name: "runs: a summary of numbers",
    path: streamPath,
    body: (bytes) =>
      stream(
        `"wandb-summary.json":{"offset":0,"content":[${JSON.stringify(`{"a":[${repeated("1.50", Math.min(bytes, 15 * mebibyte))}]}`)}]}`,
      ),
    statuses: [200, 413],
  },
  {
    name: "runs: many lines of the console",
    path: streamPath,
    body: (bytes) => stream(`"output.log":{"offset":0,"content":[${repeated('"a line\\n"', bytes)}]}`),
    statuses: [200, 400, 413],
  },
]

const id = (n: number, length: number) => {
  const bytes = Buffer.alloc(length)
  bytes.writeUInt32BE(n + 1, length - 4)
  return bytes
}
const span = (n: number) => [
  bytesField(1, id(n, 16)),
  bytesField(2, id(n, 8)),
  bytesField(5, "chat"),
  timeField(7, 1_760_000_000_000_000_000n),
  bytesField(9, textAttribute("gen_ai.request.model", "gpt")),
]

const spans: HostileRequest[] = ["/otel/v1/traces", "/agents/otel/v1/traces"].map((path) => ({
  name: `${path}: many small spans of protobuf`,
  path,
  headers: { project_id: project, "content-type": "application/x-protobuf" },
  body: (bytes) =>
    protobufTraces(
      {},
      Array.from({ length: Math.floor(bytes / 90) }, (_, n) => span(n)),
    ),
  statuses: [200, 413],
}))

export const streamedHostileRequests: readonly HostileRequest[] = [...training, ...uploads, ...runs, ...spans]
