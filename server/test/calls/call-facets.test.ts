/** Counting the values of calls' fields over HTTP, on rows as the write routes store them. */
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { callFacetsAnswer } from "../../src/wire/calls/call-facets.ts"
import { type EvaluationApp, openEvaluationApp } from "../support/evaluation-app.ts"
import { type StoredCall, storeCalls } from "../support/stored-calls.ts"

let opened: EvaluationApp
let project: string
beforeAll(async () => {
  opened = await openEvaluationApp()
  project = await projectWith([
    call("a", { inputs: '{"model":"m1","n":1}', wb_user_id: "u1", exception: "boom" }),
    call("b", { inputs: '{"model":"m1","n":2}', wb_user_id: "u2" }),
    call("c", { inputs: '{"model":"m2","n":2}', wb_user_id: "u2", started_at: "2026-01-02 05:59:59.999999" }),
    call("d", { parent_id: "c", op_name: "inner", ended_at: null }),
  ])
})
afterAll(() => opened.close())

function call(id: string, changes: Partial<StoredCall> = {}): StoredCall {
  const started_at = "2026-01-02 03:04:05.000000"
  return {
    id,
    trace_id: "t",
    op_name: "op",
    started_at,
    ended_at: "2026-01-02 06:00:00.000000",
    inputs: "{}",
    ...changes,
  }
}

async function projectWith(calls: StoredCall[]): Promise<string> {
  const name = opened.acme.newProject()
  await storeCalls(opened.app, name, calls)
  return name
}

async function facets(project_id: string, request: object) {
  const { status, body } = await opened.acme.post("/calls/facets", { project_id, ...request })
  expect(status, JSON.stringify(body)).toBe(200)
  return callFacetsAnswer.strict().parse(body)
}

/** The values of each field, as `value×count`. */
async function shown(request: object, of = project) {
  const answer = await facets(of, request)
  return answer.facets.map(({ values }) => values.map(({ value, count }) => `${value}×${count}`).join(" "))
}

describe("calls 3.11: /calls/facets", () => {
  test("counts the values of columns, computed fields and payloads, the most frequent first", async () => {
    const request = { facets: ["op_name", "summary.weave.status", "inputs.model", "wb_user_id"] }
    expect(await shown(request)).toEqual([
      "op×3 inner×1",
      "success×2 error×1 running×1",
      "m1×2 m2×1 null×1",
      "u2×2 u1×1 null×1",
    ])
    expect(await facets(project, request)).toMatchObject({ counted: 4, counted_from: null })
  })

  test("counts times by the hour, the latest first", async () => {
    expect(await shown({ facets: ["started_at"] })).toEqual(["2026-01-02T05:00:00Z×1 2026-01-02T03:00:00Z×3"])
    expect(await shown({ facets: ["ended_at"] })).toEqual(["2026-01-02T06:00:00Z×3 null×1"])
  })

  test("counts times by the minute and by the second", async () => {
    const times = ["03:04:05.000000", "03:04:05.999999", "03:04:06.000000", "03:05:00.000000"]
    const close = await projectWith(
      times.map((time, index) => call(`close-${index}`, { started_at: `2026-01-02 ${time}` })),
    )
    const by = (time_unit: string) => shown({ facets: ["started_at"], time_unit }, close)
    expect(await by("hour")).toEqual(["2026-01-02T03:00:00Z×4"])
    expect(await by("minute")).toEqual(["2026-01-02T03:05:00Z×1 2026-01-02T03:04:00Z×3"])
    expect(await by("second")).toEqual(["2026-01-02T03:05:00Z×1 2026-01-02T03:04:06Z×1 2026-01-02T03:04:05Z×2"])
    const refused = await opened.acme.post("/calls/facets", {
      project_id: close,
      facets: ["op_name"],
      time_unit: "day",
    })
    expect(refused).toMatchObject({ status: 422, body: { detail: [{ loc: ["body", "time_unit"] }] } })
  })

  test("counts times of every year that calls may have", async () => {
    const times = ["1900-01-01 00:59:00", "1969-12-31 23:59:59", "2106-02-07 07:00:00", "2299-12-31 23:30:00"]
    const far = await projectWith(
      times.map((started_at, index) => call(`far-${index}`, { started_at, ended_at: null })),
    )
    const hours = ["2299-12-31T23", "2106-02-07T07", "1969-12-31T23", "1900-01-01T00"]
    expect(await shown({ facets: ["started_at"] }, far)).toEqual([hours.map((hour) => `${hour}:00:00Z×1`).join(" ")])
  })

  test("counts what filter and query leave, numbers as they are compared", async () => {
    expect(await shown({ facets: ["op_name"], filter: { trace_roots_only: true } })).toEqual(["op×3"])
    const query = { $expr: { $eq: [{ $getField: "inputs.n" }, { $literal: 2 }] } }
    expect(await shown({ facets: ["inputs.model", "inputs.n"], query })).toEqual(["m1×1 m2×1", "2×2"])
    expect(await facets(project, { facets: ["op_name"], query })).toMatchObject({ counted: 2 })
  })

  test("names as many values as are asked for, and says whether there are more", async () => {
    const of = (limit: number) => facets(project, { facets: ["op_name"], limit })
    expect((await of(1)).facets).toEqual([{ field: "op_name", values: [{ value: "op", count: 3 }], has_more: true }])
    expect((await of(2)).facets[0]?.has_more).toBe(false)
  })

  test("without time it counts the newest 10,000 rows, and says how far it came", async () => {
    const many = Array.from({ length: 10_050 }, (_, index) => {
      const started_at = new Date(Date.UTC(2026, 0, 1) + index * 1000)
        .toISOString()
        .replace("T", " ")
        .replace("Z", "000")
      return call(`call-${index}`, { trace_id: `t${index}`, op_name: index < 50 ? "old" : "new", started_at })
    })
    const large = await projectWith(many)
    const part = await facets(large, { facets: ["op_name"], budget_ms: 0 })
    expect(part).toEqual({
      facets: [{ field: "op_name", values: [{ value: "new", count: 10_000 }], has_more: false }],
      counted: 10_000,
      counted_from: "2026-01-01T00:00:50.000Z",
    })
    const whole = await facets(large, { facets: ["op_name"] })
    expect(whole).toMatchObject({ counted: 10_050, counted_from: null })
    expect(whole.facets[0]?.values).toEqual([
      { value: "new", count: 10_000 },
      { value: "old", count: 50 },
    ])
    expect(await facets(large, { facets: ["op_name"], budget_ms: 30_000 })).toEqual(whole)
  })

  test("a long value is cut to its first 1,000 characters", async () => {
    const name = await projectWith([call("a", { inputs: `{"x":"${"é".repeat(1500)}"}` })])
    const [facet] = (await facets(name, { facets: ["inputs.x"] })).facets
    expect(facet?.values).toEqual([{ value: "é".repeat(1000), count: 1 }])
  })

  test("calls of other projects, and deleted calls, are not counted", async () => {
    const name = await projectWith([call("x"), call("y")])
    expect((await opened.acme.post("/calls/delete", { project_id: name, call_ids: ["y"] })).status).toBe(200)
    expect(await facets(name, { facets: ["op_name"], budget_ms: 500 })).toMatchObject({
      counted: 1,
      counted_from: null,
    })
  })

  test.each([
    ["what is no field", { facets: ["nowhere"] }, 422],
    ["no field", { facets: [] }, 422],
    ["17 fields", { facets: Array(17).fill("op_name") }, 422],
    ["too long a time", { facets: ["op_name"], budget_ms: 30_001 }, 422],
    ["too many values", { facets: ["op_name"], limit: 1001 }, 422],
  ])("refuses %s", async (_what, request, status) => {
    expect((await opened.acme.post("/calls/facets", { project_id: project, ...request })).status).toBe(status)
  })
})
