/** Requests that are made to take as long as possible, with every kind of body that may be large. */
import { counted, type HostileRequest, repeated } from "./hostile-request.ts"
import { streamedHostileRequests } from "./hostile-streams.ts"

const mebibyte = 1024 * 1024
const project = "local/p"
const id = (index: number) => `019a0000-0000-7000-8000-${String(index).padStart(12, "0")}`

const upsert = "/call/upsert_batch"
/** An id without a time, so that the place of its call must be looked up. */
const randomId = (index: number) => `019a0000-0000-4000-8000-${String(index).padStart(12, "0")}`
const end = (index: number, output: string, idOf = id) =>
  `{"mode":"end","req":{"end":{"project_id":"${project}","id":"${idOf(index)}","ended_at":"2026-01-01T00:00:00Z","summary":{},"output":${output}}}}`

const whole = (index: number) =>
  `{"project_id":"${project}","id":"${id(index)}","trace_id":"${id(index)}","op_name":"op","started_at":"2026-01-01T00:00:00Z","ended_at":"2026-01-01T00:00:01Z","attributes":{},"inputs":{},"output":1.50,"summary":{}}`

const calls: HostileRequest[] = [
  {
    name: "calls: many small items",
    path: upsert,
    body: (bytes) => Buffer.from(`{"batch":[${counted((index) => end(index, "null"), bytes)}]}`),
    statuses: [200],
  },
  {
    name: "calls: many small items whose ids tell no time",
    path: upsert,
    body: (bytes) => Buffer.from(`{"batch":[${counted((index) => end(index, "null", randomId), bytes)}]}`),
    statuses: [200],
  },
  {
    name: "calls: many whole ones",
    path: `/v2/${project}/calls/complete`,
    body: (bytes) => Buffer.from(`{"batch":[${counted(whole, bytes)}]}`),
    statuses: [200],
  },
  {
    name: "calls: items without anything that is required",
    path: upsert,
    body: (bytes) => Buffer.from(`{"batch":[${repeated('{"mode":"end","req":{"end":{}}}', bytes)}]}`),
    statuses: [422],
  },
  {
    name: "calls: a payload of numbers with exponents",
    path: upsert,
    body: (bytes) => Buffer.from(`{"batch":[${end(1, `[${repeated("1e1", bytes)}]`)}]}`),
    statuses: [200],
  },
  {
    name: "calls: a payload of NaN",
    path: upsert,
    body: (bytes) => Buffer.from(`{"batch":[${end(1, `[${repeated("NaN", bytes)}]`)}]}`),
    statuses: [200],
  },
  {
    name: "calls: a payload that is nested",
    path: upsert,
    body: (bytes) => Buffer.from(`{"batch":[${end(1, `[${repeated("[".repeat(150) + "]".repeat(150), bytes)}]`)}]}`),
    statuses: [200],
  },
  {
    name: "calls: many members that no call has",
    path: upsert,
    body: (bytes) => Buffer.from(`{"batch":[{${counted((index) => `"k${index}":0`, bytes)}}]}`),
    statuses: [422],
  },
]

const table = (rows: string, owner = project) => `{"table":{"project_id":"${owner}","rows":[${rows}]}}`

const tables: HostileRequest[] = [
  {
    name: "tables: more rows than one may have",
    path: "/table/create",
    body: (bytes) => Buffer.from(table(repeated("{}", bytes))),
    statuses: [200, 413],
  },
  {
    name: "tables: many small rows",
    path: "/table/create",
    body: (bytes) =>
      Buffer.from(table(counted((n) => `{"question":${n},"answer":"yes, and no, and yes","score":1.50}`, bytes))),
    statuses: [200, 413],
  },
  {
    name: "tables: one row of numbers, more than a row may have",
    path: "/table/create",
    body: (bytes) => Buffer.from(table(`{"a":[${repeated("1", bytes)}]}`)),
    statuses: [413],
  },
  {
    name: "tables: rows of another team's project",
    path: "/table/create",
    body: (bytes) => Buffer.from(table(repeated('{"a":1}', bytes), "nobody/p")),
    statuses: [403, 413],
  },
  {
    name: "tables: rows with refs to many projects",
    path: "/table/create",
    body: (bytes) => Buffer.from(table(counted((n) => `{"r":"weave:///local/p${n}/object/x:v0"}`, bytes))),
    statuses: [413],
  },
  {
    name: "tables: rows put in front of each other",
    path: "/table/update",
    body: (bytes) =>
      Buffer.from(
        `{"project_id":"${project}","base_digest":"${"0".repeat(64)}","updates":[${repeated('{"insert":{"index":0,"row":{}}}', bytes)}]}`,
      ),
    statuses: [404, 413],
  },
  {
    name: "tables: a table of a million digests",
    path: "/table/create_from_digests",
    body: (bytes) =>
      Buffer.from(`{"project_id":"${project}","row_digests":[${repeated(`"${"d".repeat(43)}"`, bytes)}]}`),
    statuses: [200],
    largestBytes: 46 * mebibyte,
  },
]

const object = (val: string, more = "", owner = project) =>
  `{"obj":{"project_id":"${owner}","object_id":"o","val":${val}${more}}}`

/** Bytes that a row may have. */
const rowBytes = 3.4 * mebibyte

const objects: HostileRequest[] = [
  {
    name: "objects: numbers, more than a row may have",
    path: "/obj/create",
    body: (bytes) => Buffer.from(object(`[${repeated("1", bytes)}]`)),
    statuses: [200, 413],
  },
  {
    name: "objects: as many numbers as a row may have",
    path: "/obj/create",
    body: (bytes) => Buffer.from(object(`[${repeated("1", Math.min(bytes, rowBytes))}]`)),
    statuses: [200],
    largestBytes: rowBytes,
  },
  {
    name: "objects: as many members as a row may have",
    path: "/obj/create",
    body: (bytes) => Buffer.from(object(`{${counted((n) => `"k${n}":1`, Math.min(bytes, rowBytes))}}`)),
    statuses: [200],
    largestBytes: rowBytes,
  },
  {
    name: "objects: members beside the value",
    path: "/obj/create",
    body: (bytes) => Buffer.from(object("1", `,${counted((n) => `"k${n}":1`, bytes)}`)),
    statuses: [200, 413],
  },
  {
    name: "objects: in another team's project",
    path: "/obj/create",
    body: (bytes) => Buffer.from(object(`[${repeated("1", Math.min(bytes, rowBytes))}]`, "", "nobody/p")),
    statuses: [403],
    largestBytes: rowBytes,
  },
  {
    name: "objects: a schema that doubles at each level",
    path: "/obj/create",
    body: () => {
      const levels = Array.from({ length: 60 }, (_, n) =>
        n === 0 ? '"a0":{}' : `"a${n}":{"allOf":[{"$ref":"#/$defs/a${n - 1}"},{"$ref":"#/$defs/a${n - 1}"}]}`,
      )
      const val = `{"field_schema":{"$defs":{${levels.join(",")}},"$ref":"#/$defs/a59"}}`
      return Buffer.from(object(val, ',"builtin_object_class":"AnnotationSpec"'))
    },
    statuses: [400],
  },
  {
    name: "datasets: many small rows",
    path: `/v2/${project}/datasets`,
    body: (bytes) =>
      Buffer.from(
        `{"name":"d","rows":[${counted((n) => `{"question":${n},"answer":"yes, and no, and yes","score":1.50}`, bytes)}]}`,
      ),
    statuses: [200, 413],
  },
  {
    name: "models: attributes, more than a row may have",
    path: `/v2/${project}/models`,
    body: (bytes) => Buffer.from(`{"name":"m","source_code":"x","attributes":{${counted((n) => `"k${n}":1`, bytes)}}}`),
    statuses: [200, 413],
  },
  {
    name: "predictions: inputs of numbers",
    path: `/v2/${project}/predictions`,
    body: (bytes) => Buffer.from(`{"model":"m","inputs":{"a":[${repeated("1", bytes)}]},"output":1}`),
    statuses: [200],
  },
]

const feedbackItem = (n: number, payload: string) =>
  `{"project_id":"${project}","weave_ref":"weave:///${project}/call/${n}","feedback_type":"custom","payload":${payload}}`

const feedback: HostileRequest[] = [
  {
    name: "feedback: more pieces than one request may have",
    path: "/feedback/batch/create",
    body: (bytes) => Buffer.from(`{"batch":[${counted((n) => feedbackItem(n, "{}"), bytes)}]}`),
    statuses: [200, 422],
  },
  {
    name: "feedback: as many as it may have, as large as it may be",
    path: "/feedback/batch/create",
    body: (bytes) => {
      const payload = `{"a":[${repeated("1", bytes / 10_000 - 130)}]}`
      const items = Array.from({ length: 10_000 }, (_, n) => feedbackItem(n, payload))
      return Buffer.from(`{"batch":[${items.join(",")}]}`)
    },
    statuses: [200],
  },
  {
    name: "feedback: a payload of numbers, more than it may have",
    path: "/feedback/create",
    body: (bytes) => Buffer.from(feedbackItem(0, `{"a":[${repeated("1", bytes)}]}`)),
    statuses: [200, 400],
  },
]

const hex = (n: number, digits: number) => (n + 1).toString(16).padStart(digits, "0")
const jsonSpan = (n: number, attributes: string) =>
  `{"traceId":"${hex(n, 32)}","spanId":"${hex(n, 16)}","name":"chat","startTimeUnixNano":"1760000000000000000","attributes":[${attributes}]}`
const jsonTraces = (spans: string, resource = "") =>
  `{"resourceSpans":[{"resource":{"attributes":[${resource}]},"scopeSpans":[{"spans":[${spans}]}]}]}`
const attribute = (key: string, value: string) => `{"key":"${key}","value":{"stringValue":"${value}"}}`
const someAttributes = [
  attribute("gen_ai.prompt.0.content", "What is the capital of France?"),
  attribute("gen_ai.completion.0.content", "Paris"),
  attribute("gen_ai.request.model", "gpt"),
].join(",")

const spans: HostileRequest[] = ["/otel/v1/traces", "/agents/otel/v1/traces"].flatMap((route) => {
  const headers = { project_id: "local/p" }
  return [
    {
      name: `${route}: many small spans of JSON`,
      path: route,
      headers,
      body: (bytes: number) => Buffer.from(jsonTraces(counted((n) => jsonSpan(n, someAttributes), bytes))),
      statuses: [200, 413],
    },
    {
      name: `${route}: a span of many attributes`,
      path: route,
      headers,
      body: (bytes: number) =>
        Buffer.from(
          jsonTraces(
            jsonSpan(
              1,
              counted((n) => attribute(`a.b${n}.c`, "x"), bytes),
            ),
          ),
        ),
      statuses: [200, 400, 413],
    },
    {
      name: `${route}: a large resource and many spans`,
      path: route,
      headers,
      body: (bytes: number) =>
        Buffer.from(
          jsonTraces(
            counted((n) => jsonSpan(n, ""), Math.min(bytes / 2, 4 * mebibyte)),
            counted((n) => attribute(`r${n}`, "x"), Math.min(bytes / 2, mebibyte)),
          ),
        ),
      statuses: [200, 413],
    },
  ]
})

const logs: HostileRequest[] = [
  {
    name: "/otel/v1/logs: many records",
    path: "/otel/v1/logs",
    headers: { project_id: "local/p" },
    body: (bytes) => {
      const record = (n: number) =>
        `{"eventName":"gen_ai.evaluation.result","spanId":"${hex(n, 16)}","timeUnixNano":"1760000000000000000","attributes":[${attribute("gen_ai.evaluation.name", "quality")}]}`
      return Buffer.from(`{"resourceLogs":[{"scopeLogs":[{"logRecords":[${counted(record, bytes)}]}]}]}`)
    },
    statuses: [200, 413],
  },
]

const imports: HostileRequest[] = [
  {
    name: "imports: CSV of more columns than it may have",
    path: `/import/dataset?format=csv&project_id=${project}`,
    body: (bytes) => Buffer.from(`${counted((n) => `c${n}`, bytes / 2)}\n${repeated("1", bytes / 4)}`),
    statuses: [200, 400],
  },
  {
    name: "imports: CSV of many small rows",
    path: `/import/dataset?format=csv&project_id=${project}`,
    body: (bytes) =>
      Buffer.from(
        `a,b\n${counted((n) => `${n};x`, bytes)
          .replaceAll(",", "\n")
          .replaceAll(";", ",")}`,
      ),
    statuses: [200],
  },
  {
    name: "imports: JSON Lines of many small rows",
    path: `/import/dataset?format=jsonl&project_id=${project}`,
    body: (bytes) => Buffer.from(counted((n) => `{"a":${n}}`, bytes).replaceAll("},", "}\n")),
    statuses: [200],
  },
  {
    name: "imports: a row of numbers, more than a row may have",
    path: `/import/dataset?format=jsonl&project_id=${project}`,
    body: (bytes) => Buffer.from(`{"a":[${repeated("1", bytes)}]}`),
    statuses: [200],
  },
  {
    name: "imports: a call of numbers",
    path: `/import/calls?format=jsonl&project_id=${project}`,
    body: (bytes) => Buffer.from(`{"id":"${id(1)}","inputs":{"a":[${repeated("1e1", bytes)}]}}`),
    statuses: [200],
  },
  {
    name: "imports: many pieces of feedback",
    path: `/import/feedback?format=jsonl&project_id=${project}`,
    body: (bytes) =>
      Buffer.from(
        counted(
          (n) => feedbackItem(n, "{}").replace("{", `{"id":"${id(n)}",`),
          Math.min(bytes, 4 * mebibyte),
        ).replaceAll("},{", "}\n{"),
      ),
    statuses: [200],
    largestBytes: 4 * mebibyte,
  },
]

const parsed: HostileRequest[] = [
  {
    name: "parsed: a query of 32 MiB",
    path: "/calls/query_stats",
    body: (bytes) => Buffer.from(`{"project_id":"${project}","filter":{"call_ids":[${repeated('"x"', bytes)}]}}`),
    statuses: [413],
  },
  {
    name: "parsed: a query of as many values as it may have",
    path: "/calls/query_stats",
    body: () =>
      Buffer.from(
        `{"project_id":"${project}","query":{"$expr":{"$in":[{"$getField":"inputs.a"},[${repeated('{"$literal":1.50}', 850_000)}]]}}}`,
      ),
    statuses: [200, 400, 413, 422],
  },
  {
    name: "parsed: a body of escapes",
    path: "/calls/query_stats",
    body: (bytes) =>
      Buffer.from(`{"project_id":"${project}","x":"${'\\"'.repeat(Math.min(bytes, 4 * mebibyte - 100) / 2)}"}`),
    statuses: [200, 403],
    largestBytes: 4 * mebibyte - 100,
  },
  {
    name: "parsed: a chat of 32 MiB",
    path: "/v1/chat/completions",
    body: (bytes) =>
      Buffer.from(`{"model":"heddle/tiny","messages":[{"role":"user","content":"${"x".repeat(bytes)}"}]}`),
    statuses: [413, 503],
  },
  {
    name: "parsed: a prompt of as many token ids as it may have",
    path: "/v1/completions",
    body: () => Buffer.from(`{"model":"heddle/tiny","prompt":[${repeated("1", 580_000)}]}`),
    statuses: [503],
  },
  {
    name: "parsed: token ids to be made into text",
    path: "/detokenize",
    body: () => Buffer.from(`{"model":"heddle/tiny","tokens":[${repeated("1", 580_000)}]}`),
    statuses: [503],
  },
  {
    name: "parsed: a chat of as many messages as it may have",
    path: "/v1/chat/completions",
    body: () =>
      Buffer.from(
        `{"model":"heddle/tiny","messages":[${repeated('{"role":"user","content":"x","n":1.50}', 900_000)}]}`,
      ),
    statuses: [503],
  },
]

/** The body that makes a run whose config is the JSON text `text`, inside a JSON string. */
const runWithConfig = (text: string) =>
  Buffer.from(
    JSON.stringify({
      query:
        "mutation UpsertBucket($project: String, $entity: String, $name: String!, $config: JSONString) { upsertBucket(input: { modelName: $project, entityName: $entity, name: $name, config: $config }) { bucket { id config } inserted } }",
      variables: { entity: project.split("/")[0], project: project.split("/")[1], name: "hostile", config: text },
    }),
  )
const largestGraphqlBytes = 8 * mebibyte - 2048

const runs: HostileRequest[] = [
  {
    name: "/graphql: a config of numbers",
    path: "/graphql",
    body: (bytes) => runWithConfig(`{"a":{"value":[${repeated("1.50", Math.min(bytes, largestGraphqlBytes))}]}}`),
    statuses: [200],
    largestBytes: largestGraphqlBytes,
  },
  {
    name: "/graphql: a config of many members",
    path: "/graphql",
    body: (bytes) =>
      runWithConfig(`{${counted((n) => `"k${n}":{"value":1}`, Math.min(bytes, largestGraphqlBytes) / 1.5)}}`),
    statuses: [200],
    largestBytes: largestGraphqlBytes,
  },
  {
    name: "/graphql: a config that is nested in itself",
    path: "/graphql",
    body: (bytes) => {
      const depth = Math.min(bytes, largestGraphqlBytes) / 2 - 16
      return runWithConfig(`{"a":${"[".repeat(depth)}${"]".repeat(depth)}}`)
    },
    statuses: [200],
    largestBytes: largestGraphqlBytes,
  },
  {
    name: "/graphql: a query of many fields",
    path: "/graphql",
    body: (bytes) =>
      Buffer.from(`{"query":"{ viewer {${" id".repeat(Math.min(bytes, largestGraphqlBytes) / 3 - 64)} } }"}`),
    statuses: [200],
    largestBytes: largestGraphqlBytes,
  },
]

export const hostileRequests: readonly HostileRequest[] = [
  ...calls,
  ...tables,
  ...objects,
  ...feedback,
  ...spans,
  ...logs,
  ...imports,
  ...parsed,
  ...runs,
  ...streamedHostileRequests,
]
