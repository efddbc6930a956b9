/** The forms of the evaluation store's error bodies. */
import { afterAll, beforeAll, expect, test } from "vitest"
import { z } from "zod"
import type { Route } from "../../src/http/route.ts"
import { type EvaluationApp, openEvaluationApp } from "../support/evaluation-app.ts"

let world: EvaluationApp
let project: string
beforeAll(async () => {
  world = await openEvaluationApp()
  project = world.acme.newProject()
  await world.acme.post("/table/create", { table: { project_id: project, rows: [{}] } })
})
afterAll(() => world.close())

const start = {
  project_id: "acme/errors",
  op_name: "op",
  started_at: "2026-01-02T03:04:05Z",
  attributes: {},
  inputs: {},
}
const reason = (error_type: string) => ({ reason: expect.any(String), error_type })

/** The error body of the reference's framework. */
const notJson = (where: string) => ({
  detail: [
    { loc: ["body"], msg: expect.stringMatching(`the request body is not JSON: .*${where}`), type: "json_invalid" },
  ],
})

test.each([
  ["a body that is not JSON", "/call/read", "{", 422, notJson("the text ends")],
  ["a body that is not JSON, of calls", "/call/start", '{"start":x', 422, notJson("x")],
  ["a body that is no object", "/call/read", "[1]", 422, { detail: [expect.objectContaining({ loc: ["body"] })] }],
  [
    "a body of calls that is no object",
    "/call/start",
    "[1]",
    422,
    { detail: [expect.objectContaining({ loc: ["body"] })] },
  ],
  ["a value that cannot be", "/table/query", { digest: "d", limit: -1 }, 400, reason("InvalidRequest")],
  ["another team's project", "/call/read", { id: "x", project_id: "rival/p" }, 403, { detail: "Project not found" }],
  ["what is not there", "/table/query_stats", { digest: "d" }, 404, reason("NotFoundError")],
  [
    "another digest than expected",
    "/table/create_from_digests",
    { row_digests: [], expected_digest: "d" },
    409,
    reason("DigestMismatchError"),
  ],
  ["nesting", "/call/read", `{"a":${"[".repeat(2000)}${"]".repeat(2000)}}`, 413, reason("RequestTooLarge")],
  [
    "a missing field",
    "/call/read",
    {},
    422,
    { detail: [{ loc: ["body", "id"], msg: "Field required", type: "missing" }] },
  ],
  ["a column that is none", "/calls/query", { columns: ["x"] }, 422, reason("InvalidFieldError")],
  [
    "a field that is none",
    "/calls/query",
    { sort_by: [{ field: "x", direction: "asc" }] },
    422,
    { reason: "Field x is not allowed", error_type: "InvalidFieldError" },
  ],
  ["an id of no form", "/call/start", { start: { ...start, id: "abc" } }, 400, reason("ValueError")],
  [
    "an internal ref",
    "/call/start",
    { start: { ...start, inputs: { x: "weave-trace-internal:///a/object/b:c" } } },
    400,
    reason("InvalidExternalRef"),
  ],
  [
    "an expression that means nothing",
    "/calls/query_stats",
    { query: { $expr: { $gt: [{ $getField: "started_at" }, { $literal: "soon" }] } } },
    400,
    reason("BadQueryParameterError"),
  ],
  [
    "a row that cannot be made small enough",
    "/call/start",
    { start: { ...start, thread_id: "x".repeat(4 * 1024 * 1024) } },
    413,
    reason("InsertTooLarge"),
  ],
] as const)("objects 14, calls 1.3: %s", async (_, url, body, status, expected) => {
  const sent = typeof body === "string" ? body : { project_id: project, ...body }
  const answer = await world.acme.post(url, sent)
  expect([answer.status, answer.body]).toEqual([status, expected])
})

test("objects 14: no key is 401 with a detail", async () => {
  const answer = await world.app.server.inject({ method: "POST", url: "/call/read", payload: {} })
  expect([answer.statusCode, answer.json()]).toEqual([401, { detail: expect.stringContaining("no API key") }])
})

interface JsonSchema {
  type?: string | string[]
  const?: unknown
  enum?: unknown[]
  minimum?: number
  minItems?: number
  anyOf?: JsonSchema[]
  oneOf?: JsonSchema[]
  items?: JsonSchema
  properties?: Record<string, JsonSchema>
  required?: string[]
  additionalProperties?: boolean | JsonSchema
}

/**
 * Schemas of the evaluation store's JSON bodies, without those of calls and table rows, which have readers of their
 * own.
 */
function jsonBodies(): { route: Route; schema: JsonSchema }[] {
  return world.app.routes.flatMap((route) => {
    const body = route.schemas.body ?? route.bodyDocument
    const isJson = route.dialect === "reason" && route.bodyType === undefined && route.streamsBody !== true
    return isJson && body !== undefined ? [{ route, schema: z.toJSONSchema(body, jsonSchema) as JsonSchema }] : []
  })
}
const jsonSchema = { io: "input", unrepresentable: "any" } as const

/**
 * Scoring rules refuse unknown keys, since a rule asks its judge about every call, and a misspelt setting would cost
 * (calls 9).
 */
const isStrict = ({ path }: Route) => path.startsWith("/scoring_rules")

test("calls 1.1: no request body but Query and scoring rules refuses unknown keys, and all that may be absent may be null", () => {
  const faults = (schema: JsonSchema, place: string): string[] => [
    ...(schema.additionalProperties === false ? [`${place} refuses unknown keys`] : []),
    ...Object.entries(schema.properties ?? {}).flatMap(([name, member]) => {
      if (isQuery(member)) return []
      const isRefused = schema.required?.includes(name) !== true && !admitsNull(member)
      return [...(isRefused ? [`${place}.${name} refuses null`] : []), ...faults(member, `${place}.${name}`)]
    }),
    ...[...(schema.anyOf ?? []), ...(schema.oneOf ?? [])].flatMap((one) => faults(one, place)),
    ...(schema.items === undefined ? [] : faults(schema.items, `${place}[]`)),
  ]
  const bodies = jsonBodies().filter(({ route }) => !isStrict(route))
  expect(bodies.length).toBeGreaterThan(80)
  expect(bodies.flatMap(({ route, schema }) => faults(schema, `${route.method} ${route.path}`))).toEqual([])
})

function isQuery({ properties, anyOf }: JsonSchema): boolean {
  return properties?.["$expr"] !== undefined || anyOf?.some(isQuery) === true
}

function admitsNull({ type, anyOf, enum: values }: JsonSchema): boolean {
  const isAnything = type === undefined && anyOf === undefined && values === undefined
  return isAnything || [type].flat().includes("null") || anyOf?.some(admitsNull) === true
}

const foreign = "rival/p"
/** Fields that bodies need besides those that their schemas require. */
const besides: Record<string, object> = {
  "/agents/spans/stats": {
    start: "2026-03-01",
    end: "2026-03-02",
    metrics: [{ alias: "n", value: { key: "input_tokens" }, value_type: "number" }],
  },
  "/annotation_queues/:queue_id/items/:item_id/final_labels/:field": { value: 1 },
  "/call/update": { display_name: "x" },
  "/scoring_rules": { scorer: { kind: "value", field: "output" } },
  "/v2/:entity/:project/eval_results/query": { evaluation_call_ids: ["x"] },
}
/** Valid values of members for which not every text is valid. */
const samples: Record<string, unknown> = {
  project_id: foreign,
  id: "0198c5a0-0000-7000-8000-000000000001",
  trace_id: "0198c5a0-0000-7000-8000-000000000001",
  started_at: "2026-01-02T03:04:05Z",
  ended_at: "2026-01-02T03:04:05Z",
  before_ms: 2,
  $expr: { $eq: [{ $getField: "id" }, { $literal: "x" }] },
  refs: [`weave:///${foreign}/object/x:v0`],
  ref: `weave:///${foreign}/object/x:v0`,
  scorer: `weave:///${foreign}/object/x:v0`,
  base_url: "https://models.example.com",
}

test("calls 1.1: every route answers 403 for another team's project", async () => {
  await world.rival.post("/table/create", { table: { project_id: foreign, rows: [{}] } })
  // Without projects_info, which lists the caller's own, and without routes that name the project in their query.
  const asked = jsonBodies().filter(
    ({ route }) => route.path !== "/service/projects_info" && route.schemas.query === undefined,
  )
  expect(asked.length).toBeGreaterThan(80)
  for (const { route, schema } of asked) {
    const url = route.path.replace(":entity/:project", foreign).replaceAll(/:\w+/g, "x")
    const answer = await world.app.server.inject({
      method: route.method,
      url,
      headers: { authorization: `Bearer ${world.acme.key}`, "content-type": "application/json" },
      payload: JSON.stringify({ ...(least(schema) as object), ...besides[route.path] }),
    })
    expect([route.path, answer.statusCode, answer.json()]).toEqual([route.path, 403, { detail: "Project not found" }])
  }
})

/** The smallest value of a schema, with required members only; its project is another team's. */
function least(schema: JsonSchema): unknown {
  const [choice] = schema.anyOf ?? schema.oneOf ?? []
  if (choice !== undefined) return least(choice)
  if (schema.const !== undefined) return schema.const
  if (schema.enum !== undefined) return schema.enum[0]
  const type = [schema.type].flat()[0]
  if (type === "array") return Array.from({ length: schema.minItems ?? 1 }, () => least(schema.items ?? {}))
  if (type === "integer" || type === "number") return schema.minimum ?? 1
  if (type === "boolean") return true
  if (type === "string") return "x"
  const { properties = {}, required = [] } = schema
  return Object.fromEntries(required.map((name) => [name, samples[name] ?? least(properties[name] ?? {})]))
}
