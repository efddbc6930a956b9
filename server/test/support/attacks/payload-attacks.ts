/** H3 and H7: bodies, valid or nearly so, that take long to process, and what was stored and takes long to give out. */
import { type Attack, type AttackRequest, type BySize, type Ground, json, times } from "./attack.ts"
import { askServer, postWell } from "./teams.ts"

/** An attack that publishes a schema, which may be refused, and validates values with it. */
function schema(name: string, does: string, fieldSchema: object, value: unknown, answers: readonly number[]): Attack {
  return {
    name,
    does,
    answers,
    lasts: "shortly",
    requests: async ({ url, attacker }, size) => {
      const { project, key } = attacker
      const val = { name: "s", description: null, field_schema: fieldSchema }
      const obj = { project_id: project, object_id: name, val, builtin_object_class: "AnnotationSpec" }
      // The server may already refuse this request.
      await askServer(url, key, "POST", "/obj/create", { obj })
      const publish: AttackRequest = { path: "/obj/create", body: json({ obj }) }
      const annotation = {
        project_id: project,
        weave_ref: `weave:///${project}/call/1`,
        feedback_type: `wandb.annotation.${name}`,
        annotation_ref: `weave:///${project}/object/${name}:latest`,
        payload: { value },
      }
      const annotate: AttackRequest = { path: "/feedback/create", body: json(annotation) }
      return times(size === "full" ? 8 : 2, (n) => (n % 2 === 0 ? annotate : publish))
    },
  }
}

/** A schema in which each definition refers to the one before it twice. */
function doublingSchema(levels: number): object {
  const $defs = Object.fromEntries(
    times(levels, (n) => {
      const before = { $ref: `#/$defs/a${n - 1}` }
      return [`a${n}`, n === 0 ? {} : { allOf: [before, before] }]
    }),
  )
  return { $defs, $ref: `#/$defs/a${levels - 1}` }
}

const schemas: readonly Attack[] = [
  schema("H3-doubling", "a JSON Schema that doubles at each of 45 levels", doublingSchema(45), 1, [200, 400]),
  schema(
    "H3-unique",
    "uniqueItems over 6,000 objects",
    { uniqueItems: true },
    times(6_000, (n) => ({ n, same: "x" })),
    [200, 400],
  ),
  schema(
    "H3-pattern",
    "a pattern that backtracks for ever, on 60 texts",
    { items: { not: { pattern: "^(a+)+$" } } },
    times(60, (n) => `${"a".repeat(22)}${n}!`),
    [200, 400],
  ),
]

interface LargeBody {
  name: string
  does: string
  count: BySize
  path: (project: string) => string
  body: (project: string, count: number) => string
  answers: readonly number[]
  lasts: Attack["lasts"]
  headers?: (project: string) => Record<string, string>
}

function largeBody({ name, does, count, path, body, answers, lasts, headers }: LargeBody): Attack {
  return {
    name,
    does,
    answers,
    lasts,
    requests: async ({ attacker: { project } }: Ground, size) => [
      { path: path(project), body: Buffer.from(body(project, count[size])), headers: headers?.(project) ?? {} },
    ],
  }
}

const list = (count: number, one: (n: number) => string) => times(count, one).join(",")
const object = (project: string, val: string) => `{"obj":{"project_id":"${project}","object_id":"large","val":${val}}}`
const members = (count: number) => `{${list(count, (n) => `"member ${n}":1`)}}`

const hex = (n: number, digits: number) => (n + 1).toString(16).padStart(digits, "0")
const span = (n: number, attributes: string) =>
  `{"traceId":"${hex(n, 32)}","spanId":"${hex(n, 16)}","name":"chat","startTimeUnixNano":"1760000000000000000",` +
  `"endTimeUnixNano":"1760000001000000000","attributes":[${attributes}]}`
const attribute = (n: number) => `{"key":"a.b${n}.c","value":{"stringValue":"x"}}`
const traces = (spans: string) => `{"resourceSpans":[{"scopeSpans":[{"spans":[${spans}]}]}]}`
const ofProject = (project: string) => ({ project_id: project })

const largeBodies: readonly LargeBody[] = [
  {
    name: "H7-rows",
    does: "very many rows of a table",
    count: { full: 1_500_000, small: 200_000 },
    path: () => "/table/create",
    body: (project, count) => `{"table":{"project_id":"${project}","rows":[${list(count, (n) => `{"a":${n}}`)}]}}`,
    answers: [200, 413],
    lasts: "a while",
  },
  {
    name: "H7-numbers",
    does: "very many numbers in an object",
    count: { full: 15_000_000, small: 4_000_000 },
    path: () => "/obj/create",
    body: (project, count) => object(project, `[${"1,".repeat(count - 1)}1]`),
    answers: [413],
    lasts: "shortly",
  },
  {
    name: "H7-members",
    does: "very many members of an object",
    count: { full: 1_500_000, small: 400_000 },
    path: () => "/obj/create",
    body: (project, count) => object(project, members(count)),
    answers: [413],
    lasts: "shortly",
  },
  {
    name: "H7-fewer-members",
    does: "members of an object, a little more than it may have",
    count: { full: 300_000, small: 300_000 },
    path: () => "/obj/create",
    body: (project, count) => object(project, members(count)),
    answers: [413],
    lasts: "shortly",
  },
  {
    name: "H7-spans",
    does: "very many spans of OpenTelemetry",
    count: { full: 90_000, small: 15_000 },
    path: () => "/otel/v1/traces",
    headers: ofProject,
    body: (_, count) => traces(list(count, (n) => span(n, attribute(n)))),
    answers: [200, 413],
    lasts: "a while",
  },
  {
    name: "H7-attributes",
    does: "very many attributes of one span",
    count: { full: 200_000, small: 50_000 },
    path: () => "/otel/v1/traces",
    headers: ofProject,
    body: (_, count) => traces(span(1, list(count, attribute))),
    answers: [200, 400, 413],
    lasts: "shortly",
  },
  {
    name: "H7-agent-spans",
    does: "very many spans of agents",
    count: { full: 50_000, small: 15_000 },
    path: () => "/agents/otel/v1/traces",
    headers: ofProject,
    body: (_, count) => traces(list(count, (n) => span(n, attribute(n)))),
    answers: [200, 413],
    lasts: "a while",
  },
  {
    name: "H7-columns",
    does: "very many columns of a CSV file",
    count: { full: 1_000_000, small: 100_000 },
    path: (project) => `/import/dataset?project_id=${encodeURIComponent(project)}&format=csv`,
    body: (_, count) => `${list(count, (n) => `c${n}`)}\n${list(count, () => "1")}\n`,
    answers: [200, 400],
    lasts: "shortly",
  },
  {
    name: "H7-feedback",
    does: "very many pieces of feedback",
    count: { full: 100_000, small: 20_000 },
    path: () => "/feedback/batch/create",
    body: (project, count) => {
      const item = {
        project_id: project,
        weave_ref: `weave:///${project}/call/1`,
        feedback_type: "custom",
        payload: {},
      }
      const text = JSON.stringify(item)
      return `{"batch":[${list(count, () => text)}]}`
    },
    answers: [413, 422],
    lasts: "shortly",
  },
]

const sparseKeys: BySize = { full: 9_000, small: 1_000 }
const sparseRows: BySize = { full: 40_000, small: 16_000 }

const stored: readonly Attack[] = [
  {
    name: "H7-sparse",
    does: "exports of a dataset whose rows share few keys",
    answers: [200],
    lasts: "a while",
    requests: async ({ url, attacker: { project, key } }, size) => {
      const rows = times(sparseRows[size], (n) => ({ [`key ${n % sparseKeys[size]}`]: n }))
      const table = { project_id: project, rows }
      const { digest } = await postWell<{ digest: string }>(url, key, "/table/create", { table })
      const body = json({ project_id: project, table_digest: digest, format: "parquet" })
      return times(2, () => ({ path: "/export/dataset", body }))
    },
  },
  {
    name: "H7-tool",
    does: "a tool's reads of a call of very many values",
    answers: [200],
    lasts: "shortly",
    requests: async ({ url, attacker: { project, key } }, size) => {
      const call_id = "00000000-0000-4000-8000-000000000007"
      const when = { started_at: "2026-01-01T00:00:00Z", ended_at: "2026-01-01T00:00:01Z" }
      const call = {
        project_id: project,
        id: call_id,
        trace_id: call_id,
        op_name: "op",
        ...when,
        attributes: {},
        summary: {},
      }
      const inputs = { many: times(1_900_000, () => ({})) }
      await postWell(url, key, `/v2/${project}/calls/complete`, { batch: [{ ...call, inputs, output: null }] })
      const asked = { name: "get_call", arguments: { project, call_id } }
      const body = json({ jsonrpc: "2.0", id: 1, method: "tools/call", params: asked })
      const headers = { accept: "application/json, text/event-stream", "mcp-protocol-version": "2025-11-25" }
      return times(size === "full" ? 16 : 2, () => ({ path: "/mcp", body, headers }))
    },
  },
]

export const payloadAttacks: readonly Attack[] = [...schemas, ...largeBodies.map(largeBody), ...stored]
