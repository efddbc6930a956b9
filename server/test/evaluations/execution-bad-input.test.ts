/** Bad requests to every route that runs models or scorers are answered with 4xx, never with 5xx. */
import { afterAll, beforeAll, expect, test } from "vitest"
import { errorStatus } from "../../src/errors.ts"
import type { EvaluationCaller } from "../support/evaluation-app.ts"
import { type ExecutionApp, openExecutionApp } from "../support/execution-app.ts"
import { publish } from "../support/judges.ts"

let opened: ExecutionApp
let acme: EvaluationCaller
beforeAll(async () => {
  opened = await openExecutionApp()
  acme = opened.acme
})
afterAll(() => opened.close())

const nested = (depth: number) => `${'{"a":'.repeat(depth)}1${"}".repeat(depth)}`
/** Bad values, as JSON texts. */
const values = [
  "null",
  "-1",
  "1e400",
  "12345678901234567890123",
  '""',
  String.raw`"\u0000"`,
  String.raw`"\ud800"`,
  `"${"x".repeat(100_000)}"`,
  "[]",
  "[null]",
  "{}",
  '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}',
  nested(150),
  nested(250),
  "NaN",
  '"weave:///a/b/object/c:d"',
  '"weave-trace-internal:///a/b/object/c:d"',
  '"custom::"',
  '"custom::\\u0000::x"',
]

const bodies: Record<string, Record<string, string>> = {
  "/completions/create": {
    inputs: '{"model":"heddle/tiny","messages":[{"role":"user","content":"x"}]}',
    "inputs.model": '"heddle/tiny"',
    "inputs.messages": "[]",
    "inputs.prompt": '"x"',
    "inputs.template_vars": "{}",
    "inputs.temperature": "1",
    "inputs.timeout": "1",
    trace_id: "null",
    parent_id: "null",
    conversation_id: "null",
    track_llm_call: "true",
  },
  "/completions/create_stream": { inputs: "{}", "inputs.model": '"x"', trace_id: "null" },
  "/image/create": { inputs: "{}", "inputs.model": '"x"', "inputs.prompt": '"x"', "inputs.n": "1" },
  "/calls/score": { call_ids: "[]", scorer_refs: "[]" },
  "/actions/execute_batch": { call_ids: "[]", action_ref: '"x"' },
  "/evaluations/evaluate_model": { evaluation_ref: '"x"', model_ref: '"x"' },
  "/evaluations/status": { call_id: '"x"' },
  "/evaluations/rescore": { source_evaluation_run_id: '"x"', scorer_refs: "[]" },
}

/** The JSON text of a body in which one field, possibly inside `inputs`, has this value. */
function bodyWith(project: string, fields: Record<string, string>, field: string, value: string): string {
  const inner = ['"model":"heddle/tiny"', '"messages":[{"role":"user","content":"{x}"}]', '"prompt":"x"']
  const [first = "", second] = field.split(".")
  const own = inner.filter(
    (one) => !one.startsWith(`"${second}"`) && (field.startsWith("inputs.prompt") || !one.startsWith('"prompt"')),
  )
  const inputs = second === undefined ? `{${own.join(",")}}` : `{${[...own, `"${second}":${value}`].join(",")}}`
  const members = Object.keys(fields)
    .filter((name) => !name.includes("."))
    .map(
      (name) =>
        `${JSON.stringify(name)}:${name === first && second === undefined ? value : name === "inputs" ? inputs : fields[name]}`,
    )
  return `{"project_id":${JSON.stringify(project)},${members.join(",")}}`
}

test.each(Object.entries(bodies))("%s", async (path, fields) => {
  const project = acme.newProject()
  await publish(acme, project, "thing", { a: 1 })
  for (const field of Object.keys(fields)) {
    for (const value of values) {
      const body = bodyWith(project, fields, field, value)
      const { status, text } = await acme.post(path, body)
      expect([field, value.slice(0, 60), status < 500, text.slice(0, 200)]).toEqual([
        field,
        value.slice(0, 60),
        true,
        expect.any(String),
      ])
    }
  }
  for (const body of ["", "{", "[]", "null", '"x"', "\u0000"]) {
    const { status } = await acme.post(path, body)
    expect([body, [errorStatus.bad_request, errorStatus.validation_error].includes(status as 400)]).toEqual([
      body,
      true,
    ])
  }
  expect({}).not.toHaveProperty("polluted")
})

test("runtimes", async () => {
  const project = acme.newProject()
  const fields: Record<string, string> = {
    base_url: '"https://a.example.com"',
    api_key_secret: "null",
    headers: "{}",
    runtime_ids: '[{"id":"m"}]',
  }
  for (const name of ["r", "%00", "%ud800", "..", "a%2Fb", "é", "x".repeat(300)]) {
    for (const field of Object.keys(fields)) {
      for (const value of values) {
        const members = Object.entries({ ...fields, [field]: value }).map(
          ([key, text]) => `${JSON.stringify(key)}:${text}`,
        )
        const { status, text } = await acme.put(`/v2/${project}/runtimes/${name}`, `{${members.join(",")}}`)
        expect([name, field, value.slice(0, 60), status < 500, text.slice(0, 200)]).toEqual([
          name,
          field,
          value.slice(0, 60),
          true,
          expect.any(String),
        ])
      }
    }
  }
})
