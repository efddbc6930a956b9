/** Stored spans are mapped again also when they are too many and too large for one text (calls 8). */
import { randomBytes } from "node:crypto"
import { afterAll, beforeAll, expect, test } from "vitest"
import { type EvaluationApp, openEvaluationApp } from "../support/evaluation-app.ts"
import { jsonSpan, jsonTraces } from "../support/otlp-message.ts"

let opened: EvaluationApp
beforeAll(async () => (opened = await openEvaluationApp()))
afterAll(() => opened.close())

/** The longest string of V8, in UTF-16 units. */
const longestText = 0x1fffffe8

test(
  "more raw spans than one text can hold, of nearly the most that a row may take",
  { timeout: 120_000 },
  async () => {
    const { acme, app } = opened
    const { traces } = app.stores
    const project = acme.newProject()
    const id = "b7ad6b7169203331"
    const attributes = { "input.value": '{"score": 3}', filler: "FILLER" }
    const first = jsonSpan(randomBytes(16).toString("hex"), id, attributes)
    expect((await acme.post("/otel/v1/traces", jsonTraces(first), { project_id: project })).status).toBe(200)
    // The store itself makes copies of the span. They are full of quotes, which double in size where a text is quoted.
    const copies = 110
    await traces.command(
      `insert into calls_v2 (project_id, sort_time, id, trace_id, op_name, started_at, otel_dump)
      select project_id, sort_time, lower(leftPad(hex(number + 1), 16, '0')) as made, trace_id, op_name, started_at,
        replaceOne(replaceOne(assumeNotNull(otel_dump), 'FILLER', repeat('\\\\"\\\\"', 650000)), '${id}', made)
      from calls_v2 final, numbers({copies:UInt32}) as copy where id = '${id}' settings max_block_size = 8`,
      { copies },
    )
    const [sum] = await traces.rows<{ units: number }>(
      "select toFloat64(sum(length(toJSONString(assumeNotNull(otel_dump))))) as units from calls_v2 final",
    )
    expect(sum?.units).toBeGreaterThan(longestText)
    const answer = await acme.post("/otel/remap", { project_id: project })
    expect([answer.status, answer.body]).toEqual([200, { remapped: copies + 1 }])
    const query = { $expr: { $eq: [{ $getField: "inputs.input\\.value.score" }, { $literal: 3 }] } }
    const counted = await acme.post("/calls/query_stats", { project_id: project, query })
    expect(counted).toMatchObject({ status: 200, body: { count: copies + 1 } })
  },
)
