/** Reading calls over HTTP, on rows as the write routes store them. */
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { callRecord, callsQueryStatsAnswer } from "../../src/wire/calls/call-read.ts"
import { type EvaluationApp, openEvaluationApp } from "../support/evaluation-app.ts"
import { type StoredCall, storeCalls } from "../support/stored-calls.ts"

let opened: EvaluationApp
beforeAll(async () => (opened = await openEvaluationApp()))
afterAll(() => opened.close())

const start = "2026-01-02 03:04:05"

function call(id: string, changes: Partial<StoredCall> = {}): StoredCall {
  return {
    id,
    trace_id: "t1",
    op_name: "op",
    started_at: `${start}.000000`,
    inputs: "{}",
    attributes: "{}",
    ...changes,
  }
}

/** A finished call, whose start and end are in one row. */
function ended(id: string, changes: Partial<StoredCall> = {}): StoredCall {
  return call(id, { ended_at: "2026-01-02 03:04:06.500000", output: "null", summary: "{}", ...changes })
}

async function projectWith(...calls: StoredCall[]): Promise<string> {
  const project = opened.acme.newProject()
  await storeCalls(opened.app, project, calls)
  return project
}

type Line = Record<string, unknown> & { id: string }

async function stream(project_id: string, request: object = {}): Promise<Line[]> {
  return (await opened.acme.lines("/calls/stream_query", { project_id, ...request })) as Line[]
}

async function idsOf(project_id: string, request: object = {}): Promise<string> {
  return (await stream(project_id, request)).map(({ id }) => id).join(" ")
}

describe("calls 3.6: payloads that ClickHouse's reader of JSON refuses", () => {
  const wanted = (field: string) => ({ query: { $expr: { $eq: [{ $getField: field }, { $literal: "here" }] } } })

  test("are searched, whichever write brought them", async () => {
    const project = await projectWith(
      call("a", { inputs: '{"lone":"\\ud800","x":"here"}' }),
      call("b", { inputs: '{"x":"here"}' }),
      call("c"),
    )
    await storeCalls(opened.app, project, [
      { id: "a", output: '{"y":"here"}' },
      { id: "b", output: '{"wide":123456789012345678901234567890,"y":"here"}' },
      { id: "c", output: '{"y":"there"}' },
    ])
    expect(await idsOf(project, wanted("inputs.x"))).toBe("a b")
    expect(await idsOf(project, wanted("output.y"))).toBe("a b")
    expect(await idsOf(project, { sort_by: [{ field: "output.y", direction: "desc" }] })).toBe("c a b")
  })

  test("are found by what stands beside a number that no double or no whole number holds, and by its digits", async () => {
    const modulus = "9".repeat(617)
    const project = await projectWith(
      call("a", { inputs: `{"n":${modulus},"x":"here"}` }),
      call("b", { inputs: '{"n":-9223372036854775809,"x":"here"}' }),
      call("c", { inputs: '{"n":[1e309],"x":"there"}' }),
    )
    expect(await idsOf(project, wanted("inputs.x"))).toBe("a b")
    expect(await idsOf(project, { sort_by: [{ field: "inputs.x", direction: "desc" }] })).toBe("c a b")
    const equal = { $eq: [{ $getField: "inputs.n" }, { $literal: modulus }] }
    expect(await idsOf(project, { query: { $expr: equal } })).toBe("a")
    const below = { $lt: [{ $getField: "inputs.n" }, { $literal: 0 }] }
    expect(await idsOf(project, { query: { $expr: below } })).toBe("b")
  })
})

describe("calls 3.1: the record", () => {
  test("every field, payload texts as they came", async () => {
    const inputs = '{ "n":12345678901234567890123,"f":1.0,"z":"\\u0000\\ud800","a":1,"a":2 }'
    const project = await projectWith(
      ended("a", {
        inputs,
        output: '[1e3,"\u2028\u0085"]',
        attributes: '{"k":\n"v"}',
        summary: '{"usage":{"m":{"requests":1}}}',
        parent_id: "p",
        thread_id: "th",
        turn_id: "tu",
        wb_user_id: "u",
        wb_run_id: "e/p/r",
        wb_run_step: 3,
        wb_run_step_end: 4,
        display_name: "shown",
        exception: "",
      }),
    )
    const answer = await opened.acme.post("/calls/stream_query", { project_id: project })
    expect(answer.status).toBe(200)
    expect(answer.headers["content-type"]).toContain("application/jsonl")
    expect(answer.text).toContain(`"inputs":${inputs}`)
    expect(answer.text).toContain('"output":[1e3,"\\u2028\\u0085"]')
    expect(answer.text.split("\n")).toHaveLength(2)
    const record = callRecord.strict().parse(JSON.parse(answer.text))
    expect(record).toMatchObject({
      id: "a",
      project_id: project,
      op_name: "op",
      trace_id: "t1",
      parent_id: "p",
      thread_id: "th",
      turn_id: "tu",
      started_at: "2026-01-02T03:04:05.000000Z",
      ended_at: "2026-01-02T03:04:06.500000Z",
      exception: null,
      attributes: { k: "v" },
      wb_user_id: "u",
      wb_run_id: "e/p/r",
      wb_run_step: 3,
      wb_run_step_end: 4,
      display_name: "shown",
      deleted_at: null,
      expire_at: null,
      storage_size_bytes: null,
      total_storage_size_bytes: null,
    })
    expect(record.summary).toEqual({
      usage: { m: { requests: 1 } },
      weave: { status: "success", latency_ms: 1500, display_name: "shown" },
    })
  })

  test("keys of a summary count however they are spelled", async () => {
    const summary = String.raw`{"\u0077eave":{"mine":1.0},"status\u005fcounts":{"error":1}}`
    const project = await projectWith(ended("a", { summary }))
    const { text } = await opened.acme.post("/calls/stream_query", { project_id: project })
    expect(text).toContain('"weave":{"mine":1.0,"status":"descendant_error",')
    expect(text).not.toContain("u0077")
  })

  test("a start without its end is running; an end without its start is not shown", async () => {
    const project = await projectWith(call("started"), { id: "orphan", ended_at: `${start}.1`, summary: "{}" })
    const [only, ...rest] = await stream(project)
    expect(rest).toEqual([])
    expect(only).toMatchObject({ id: "started", ended_at: null, output: null, exception: null })
    expect(only?.["summary"]).toEqual({ weave: { status: "running", trace_name: "op" } })
  })

  test("an OpenTelemetry span comes back inside the attributes", async () => {
    const project = await projectWith(call("a", { attributes: '{"x":1.0}', otel_dump: '{"name":"span"}' }))
    const { text } = await opened.acme.post("/calls/stream_query", { project_id: project })
    expect(text).toContain('"attributes":{"x":1.0,"otel_span":{"name":"span"}}')
    expect(
      await idsOf(project, {
        query: { $expr: { $eq: [{ $getField: "attributes.otel_span.name" }, { $literal: "span" }] } },
      }),
    ).toBe("a")
  })
})

describe("calls 3.2: summary.weave", () => {
  const opName = "weave:///acme/p/op/predict:abc"

  test("status, latency and name by their rules; the client's keys stay", async () => {
    const project = await projectWith(
      ended("error", { exception: "boom", summary: '{"status_counts":{"error":1}}' }),
      ended("failed below", { summary: '{"status_counts":{"error":2,"success":1}}' }),
      ended("ref", { op_name: opName, ended_at: `${start}.001999` }),
      ended("own", { summary: '{"weave":{"mine":1.0,"status":"x"},"k":1}' }),
    )
    const [own, error, below, ref] = ["own", "error", "failed below", "ref"].map(async (id) => {
      const { text } = await opened.acme.post("/call/read", { project_id: project, id })
      return text.slice(text.indexOf('"summary":') + 10, text.indexOf(',"storage_size_bytes"'))
    })
    expect(await error).toBe(
      '{"status_counts":{"error":1},"weave":{"status":"error","trace_name":"op","latency_ms":1500}}',
    )
    expect(JSON.parse((await below) ?? "")).toMatchObject({ weave: { status: "descendant_error" } })
    expect(JSON.parse((await ref) ?? "")).toEqual({
      weave: { status: "success", trace_name: "predict", latency_ms: 1 },
    })
    expect(await own).toBe('{"k":1,"weave":{"mine":1.0,"status":"success","trace_name":"op","latency_ms":1500}}')
  })

  test("the same in filters and sorts", async () => {
    const project = await projectWith(
      ended("a", { exception: "boom", ended_at: `${start}.100` }),
      ended("b", { display_name: "zebra", ended_at: `${start}.300` }),
      ended("c", { op_name: opName, ended_at: `${start}.200` }),
      call("d"),
    )
    const by = (field: string, value: unknown) => ({
      query: { $expr: { $eq: [{ $getField: `summary.weave.${field}` }, { $literal: value }] } },
    })
    expect(await idsOf(project, by("status", "error"))).toBe("a")
    expect(await idsOf(project, by("status", "success"))).toBe("b c")
    expect(await idsOf(project, by("status", "running"))).toBe("d")
    expect(await idsOf(project, by("latency_ms", 200))).toBe("c")
    expect(await idsOf(project, by("trace_name", "zebra"))).toBe("b")
    expect(await idsOf(project, by("trace_name", "predict"))).toBe("c")
    const sorted = (field: string, direction: string) =>
      idsOf(project, { sort_by: [{ field: `summary.weave.${field}`, direction }] })
    expect(await sorted("latency_ms", "desc")).toBe("b c a d")
    expect(await sorted("latency_ms", "asc")).toBe("a c b d")
    expect(await sorted("trace_name", "desc")).toBe("b c a d")
  })

  test("tokens of every model that the call reports, in filters and sorts", async () => {
    const usage = (of: object) => ({ summary: JSON.stringify({ usage: of }) })
    const project = await projectWith(
      ended("a", usage({ m: { prompt_tokens: 9, completion_tokens: 1, total_tokens: 99, requests: 7 } })),
      ended("b", usage({ m: { input_tokens: "100", output_tokens: 5.5 }, n: { prompt_tokens: 20, requests: 1 } })),
      ended("c", usage({ m: { prompt_tokens: null, completion_tokens: [3], input_tokens: "many" }, n: 4 })),
      ended("d"),
      ended("e", usage({ "weave:///p:é": { output_tokens: 50 } })),
    )
    const tokens = { $getField: "summary.weave.tokens" }
    const sorted = (direction: string) => idsOf(project, { sort_by: [{ field: tokens.$getField, direction }] })
    expect([await sorted("desc"), await sorted("asc")]).toEqual(["b e a c d", "a e b c d"])
    const where = (expression: object) => idsOf(project, { query: { $expr: expression } })
    expect(await where({ $eq: [tokens, { $literal: 125 }] })).toBe("b")
    expect(await where({ $gte: [tokens, { $literal: 50 }] })).toBe("b e")
    expect(await where({ $eq: [tokens, { $literal: null }] })).toBe("c d")
  })

  test("asked for by status, errors below a call count before that it runs", async () => {
    const summary = '{"status_counts":{"error":1}}'
    const project = await projectWith(call("open", { summary }), ended("done", { summary }))
    const withStatus = (status: string) =>
      idsOf(project, {
        query: { $expr: { $eq: [{ $getField: "summary.weave.status" }, { $literal: status }] } },
      })
    expect(await withStatus("descendant_error")).toBe("done open")
    expect(await withStatus("running")).toBe("")
    const shown = (await stream(project)).map((line) => (line["summary"] as { weave: { status: string } }).weave.status)
    expect(shown).toEqual(["descendant_error", "running"])
  })
})

describe("calls 3.3: /call/read", () => {
  test("a call, or 200 with null when it is missing, deleted or another project's", async () => {
    const project = await projectWith(ended("here"), ended("gone"), { id: "gone", deleted_at: "2026-01-03 00:00:00" })
    const other = await projectWith(ended("elsewhere"))
    const read = async (id: string, project_id = project) =>
      (await opened.acme.post("/call/read", { project_id, id })).body
    expect(await read("here")).toMatchObject({ call: { id: "here", project_id: project } })
    for (const id of ["nowhere", "gone", "elsewhere"]) expect(await read(id)).toEqual({ call: null })
    expect(await read("elsewhere", other)).toMatchObject({ call: { id: "elsewhere" } })
  })

  test("another tenant's project: 403 Project not found, on every route", async () => {
    const project = await projectWith(ended("a"))
    for (const path of ["/call/read", "/calls/stream_query", "/calls/query", "/calls/query_stats"]) {
      const { status, body } = await opened.rival.post(path, { project_id: project, id: "a" })
      expect({ status, body }).toEqual({ status: 403, body: { detail: "Project not found" } })
    }
  })

  test("sizes on request, the whole trace's on its root only", async () => {
    const payload = { inputs: '{"a":1}', attributes: "{}", output: '"xyz"', summary: "{}" }
    const project = await projectWith(ended("root", payload), ended("child", { ...payload, parent_id: "root" }))
    const sizes = await stream(project, { include_storage_size: true, include_total_storage_size: true })
    expect(sizes.map((one) => [one.id, one["storage_size_bytes"], one["total_storage_size_bytes"]])).toEqual([
      ["child", 16, null],
      ["root", 16, 32],
    ])
    const read = async (id: string) => {
      const flags = { include_storage_size: true, include_total_storage_size: true }
      return (await opened.acme.post("/call/read", { project_id: project, id, ...flags })).body
    }
    expect(await read("root")).toMatchObject({ call: { storage_size_bytes: 16, total_storage_size_bytes: 32 } })
    expect(await read("child")).toMatchObject({ call: { storage_size_bytes: 16, total_storage_size_bytes: null } })
  })
})

describe("calls 3.5: filters", () => {
  const family = "weave:///acme/p/op/predict"
  const object = "weave:///acme/p/object/data"
  let project: string
  beforeAll(async () => {
    project = await projectWith(
      ended("a", { op_name: `${family}:v1`, inputs: `{"d":"${object}:1"}`, thread_id: "th1", turn_id: "a" }),
      ended("b", { op_name: `${family}:v2`, parent_id: "a", output: `["${object}:2"]`, thread_id: "th2" }),
      ended("c", { op_name: "plain", parent_id: "a", trace_id: "t2", wb_user_id: "u1", wb_run_id: "r1" }),
      ended("d", { op_name: `${family}:v11`, inputs: `{"d":"${object}:11"}`, wb_user_id: "u2" }),
    )
  })

  test.each([
    [{}, "a b c d"],
    [{ op_names: [`${family}:v1`] }, "a"],
    [{ op_names: [`${family}:*`] }, "a b d"],
    [{ op_names: [`${family}:v2`, "plain"] }, "b c"],
    [{ op_names: [] }, "a b c d"],
    [{ input_refs: [`${object}:1`] }, "a"],
    [{ input_refs: [`${object}:*`] }, "a d"],
    [{ output_refs: [`${object}:2`] }, "b"],
    [{ output_refs: [`${object}:1`] }, ""],
    [{ parent_ids: ["a"] }, "b c"],
    [{ trace_ids: ["t1"] }, "a b d"],
    [{ trace_ids: ["t2", "nowhere"] }, "c"],
    [{ call_ids: ["d", "a", "nowhere"] }, "a d"],
    [{ call_ids: [] }, "a b c d"],
    [{ thread_ids: ["th1", "th2"] }, "a b"],
    [{ thread_ids: [] }, ""],
    [{ turn_ids: ["a"] }, "a"],
    [{ turn_ids: [] }, ""],
    [{ wb_user_ids: ["u1"] }, "c"],
    [{ wb_run_ids: ["r1"] }, "c"],
    [{ trace_roots_only: true }, "a d"],
    [{ trace_roots_only: false }, "a b c d"],
    [{ trace_ids: ["t1"], parent_ids: ["a"] }, "b"],
    [{ op_names: null, unknown: 1 }, "a b c d"],
  ])("%j", async (filter, expected) => {
    expect(await idsOf(project, { filter })).toBe(expected)
    const stats = await opened.acme.post("/calls/query_stats", { project_id: project, filter })
    expect(stats.body).toMatchObject({ count: expected === "" ? 0 : expected.split(" ").length })
  })

  test.each(
    `op_names input_refs output_refs parent_ids trace_ids call_ids thread_ids turn_ids wb_run_ids`.split(/\s+/),
  )("1000 %s pass, one more is 400 with the reason", async (name) => {
    const values = Array.from({ length: 1001 }, (_, index) => `c${index}`)
    const ask = (count: number) =>
      opened.acme.post("/calls/stream_query", { project_id: project, filter: { [name]: values.slice(0, count) } })
    expect((await ask(1000)).status).toBe(200)
    const answer = await ask(1001)
    expect(answer.status).toBe(400)
    expect(answer.body).toEqual({
      reason: `Parameter: '${name}' request length is greater than max length (1000). Actual length: 1001`,
      error_type: "ValueError",
    })
  })

  test.each([1, 50, 51, 120])("a trace of %i calls is read whole, in order, and by page", async (count) => {
    const id = (index: number) => `n${String(index).padStart(3, "0")}`
    const ids = Array.from({ length: count }, (_, index) => id(index))
    const traces = await projectWith(
      ...ids.map((one) => ended(one, { trace_id: "mine", inputs: `{"at":"${one}"}` })),
      ended("moved", { trace_id: "mine" }),
      ended("other", { trace_id: "not mine" }),
    )
    await storeCalls(opened.app, traces, [
      { id: "moved", trace_id: "not mine", started_at: `${start}.000000` },
      { id: id(count), trace_id: "mine", started_at: `${start}.000000`, deleted_at: "2026-01-03 00:00:00" },
    ])
    const asked = { filter: { trace_ids: ["mine"] } }
    const lines = await stream(traces, asked)
    expect(lines.map((line) => [line.id, line["inputs"]])).toEqual(ids.map((one) => [one, { at: one }]))
    const sort_by = [{ field: "inputs.at", direction: "desc" }]
    expect(await idsOf(traces, { ...asked, sort_by, offset: 1, limit: 3 })).toBe(ids.toReversed().slice(1, 4).join(" "))
    expect(await idsOf(traces, { ...asked, limit: 0 })).toBe("")
    expect(await idsOf(traces, { ...asked, offset: count })).toBe("")
  })

  test("deleted calls and ends without a start are not there, even when they are named", async () => {
    const hidden = await projectWith(ended("gone", { thread_id: "th" }), {
      id: "orphan",
      ended_at: `${start}.1`,
      summary: "{}",
    })
    await storeCalls(opened.app, hidden, [{ id: "gone", deleted_at: "2026-01-03 00:00:00" }])
    for (const filter of [{ call_ids: ["gone", "orphan"] }, { thread_ids: ["th"] }, { trace_ids: ["t1"] }]) {
      expect(await idsOf(hidden, { filter })).toBe("")
    }
    expect((await opened.acme.post("/calls/query_stats", { project_id: hidden })).body).toMatchObject({ count: 0 })
  })

  test("calls 2.3: a ref is a whole string, in either spelling of its letters; a text that quotes one has none", async () => {
    const [foreign, escaped] = ["weave:///acme/p/object/größe:1", "weave:///acme/p/object/gr\\u00f6\\u00dfe:1"]
    const refs = await projectWith(
      ended("quoting", { inputs: JSON.stringify({ text: `"${object}:1" and "${foreign}" and ` }) }),
      ended("ending", { inputs: JSON.stringify([`said "${object}:1`, `said "${foreign}`]) }),
      ended("list", { inputs: `["${object}:1","${object}:2"]` }),
      ended("plain", { inputs: `{"d":"${foreign}"}` }),
      ended("ascii", { inputs: `{"d":"${escaped}"}` }),
    )
    const calls = (...input_refs: string[]) => idsOf(refs, { filter: { input_refs } })
    expect(await calls(`${object}:1`)).toBe("list")
    expect(await calls(`${object}:2`)).toBe("list")
    expect(await calls(`${object}:*`)).toBe("list")
    expect(await calls(foreign)).toBe("ascii plain")
    expect(await calls(foreign.replace(":1", ":*"))).toBe("ascii plain")
  })

  test("300 refs at once", async () => {
    const input_refs = Array.from({ length: 299 }, (_, index) => `${object}:none${index}`)
    expect(await idsOf(project, { filter: { input_refs: [...input_refs, `${object}:11`] } })).toBe("d")
  })
})

describe("calls 3.6: query expressions over the wire", () => {
  test("fields of every kind; what is not a field is refused with 422 and a reason", async () => {
    const project = await projectWith(
      ended("a", { inputs: '{"n":9007199254740993,"s":{"d.k":"x"}}', wb_run_step: 5 }),
      ended("b", { inputs: '{"n":9007199254740992}', display_name: "" }),
    )
    const where = (expression: unknown) => idsOf(project, { query: { $expr: expression } })
    const equal = (field: string, value: unknown) => ({ $eq: [{ $getField: field }, { $literal: value }] })
    expect(await where(equal("id", "b"))).toBe("b")
    expect(await where(equal("project_id", project))).toBe("a b")
    expect(await where(equal("wb_run_step", 5))).toBe("a")
    expect(await where(equal("display_name", null))).toBe("a b")
    expect(await where(equal("inputs_dump.n", null))).toBe("")
    expect(await where(equal("inputs.s.d\\.k", "x"))).toBe("a")
    expect(await where(equal("annotation_queue_items.queue_id", "q"))).toBe("")
    const exact = `{"project_id":"${project}","query":{"$expr":{"$eq":[{"$getField":"inputs.n"},{"$literal":9007199254740993}]}}}`
    const { text } = await opened.acme.post("/calls/stream_query", exact)
    expect(text.match(/"id":"./g)).toEqual(['"id":"a'])
    for (const field of ["storage_size_bytes", "total_storage_size_bytes", "nowhere", "op_name.x", "__proto__"]) {
      const query = { $expr: equal(field, 1) }
      const { status, body } = await opened.acme.post("/calls/stream_query", { project_id: project, query })
      expect({ status, body }).toEqual({
        status: 422,
        body: { reason: `Field ${field} is not allowed`, error_type: "InvalidFieldError" },
      })
    }
  })

  test("law 3: whole numbers past 2^53 are exact when they are converted, and when two fields are compared", async () => {
    const [odd, even] = ["9007199254740993", "9007199254740992"]
    const project = await projectWith(
      ended("a", { inputs: `{"n":${odd}}`, output: odd, wb_run_step: odd }),
      ended("b", { inputs: `{"n":${even}}`, output: `"${odd}"`, wb_run_step: even }),
    )
    const n = '{"$getField":"inputs.n"}'
    const where = async (left: string, right: string) => {
      const query = `{"$expr":{"$eq":[${left},${right}]}}`
      const { text } = await opened.acme.post("/calls/stream_query", `{"project_id":"${project}","query":${query}}`)
      return (text.match(/(?<="id":")./g) ?? []).join(" ")
    }
    for (const to of ["int", "double"]) {
      const converted = `{"$convert":{"input":${n},"to":"${to}"}}`
      expect(await where(converted, `{"$literal":${odd}}`)).toBe("a")
      expect(await where(`{"$literal":"${even}"}`, converted)).toBe("b")
    }
    for (const other of ["output", "wb_run_step"]) {
      expect(await where(n, `{"$getField":"${other}"}`)).toBe(other === "output" ? "a" : "a b")
    }
    expect(await where('{"$getField":"wb_run_step"}', `{"$literal":"${odd}"}`)).toBe("a")
  })

  test("every column of a call is a field", async () => {
    const named = {
      trace_id: "t9",
      op_name: "named",
      display_name: "shown",
      parent_id: "p",
      thread_id: "th",
      turn_id: "tu",
      exception: "boom",
      wb_user_id: "u",
      wb_run_id: "e/p/r",
      wb_run_step: 5,
      wb_run_step_end: 6,
    }
    const project = await projectWith(
      ended("a", {
        ...named,
        started_at: "2026-01-02 03:04:05.250000",
        ended_at: "2026-01-02 03:04:07.500000",
        inputs: '{"i":{"a.b":[true]}}',
        output: '[{"o":7}]',
        attributes: '{"k":"v"}',
        summary: '{"s":{"x":"y"}}',
      }),
      ended("b"),
    )
    const found = (field: string, value: unknown) =>
      idsOf(project, { query: { $expr: { $eq: [{ $getField: field }, { $literal: value }] } } })
    const fields = Object.entries({
      ...named,
      id: "a",
      started_at: 1_767_323_045.25,
      ended_at: 1_767_323_047.5,
      "inputs.i.a\\.b.0": true,
      "output.0.o": 7,
      "attributes.k": "v",
      "attributes_dump.k": "v",
      "summary.s.x": "y",
      "summary_dump.s.x": "y",
    })
    for (const [field, value] of fields) expect([field, await found(field, value)]).toEqual([field, "a"])
    for (const field of ["deleted_at", "expire_at"]) expect([field, await found(field, null)]).toEqual([field, "b a"])
  })

  test("a malformed query: 422 with its place", async () => {
    const { status, body } = await opened.acme.post("/calls/stream_query", {
      project_id: opened.acme.newProject(),
      query: { $expr: { $eq: [{ $getField: "id" }, { $nope: 1 }] } },
    })
    expect(status).toBe(422)
    expect((body as { detail: unknown[] }).detail[0]).toMatchObject({ loc: ["body", "query", "$expr", "$eq", 1] })
  })

  test("refs as lists", async () => {
    const ref = "weave:///acme/p/object/data:1"
    const project = await projectWith(ended("a", { inputs: `{"x":["${ref}"]}` }), ended("b"))
    const query = { $expr: { $contains: { input: { $getField: "input_refs" }, substr: { $literal: ref } } } }
    expect(await idsOf(project, { query })).toBe("a")
  })
})

describe("calls 3.7: order and pages", () => {
  const at = (second: number) => `2026-01-02 03:04:0${second}.000000`
  let project: string
  beforeAll(async () => {
    project = await projectWith(
      ended("c", { started_at: at(1), inputs: '{"k":10}' }),
      ended("a", { started_at: at(2), inputs: '{"k":"9"}' }),
      ended("d", { started_at: at(2), inputs: '{"k":"text"}' }),
      ended("b", { started_at: at(3), inputs: '{"k":null}' }),
      ended("e", { started_at: at(0), inputs: '{"k":"abc"}' }),
    )
  })

  test.each([
    [{}, "e c a d b"],
    [{ sort_by: null }, "e c a d b"],
    [{ sort_by: [] }, "a b c d e"],
    [{ sort_by: [{ field: "started_at", direction: "desc" }] }, "b a d c e"],
    [{ sort_by: [{ field: "started_at", direction: "desc" }], limit: 2 }, "b a"],
    [{ sort_by: [{ field: "started_at", direction: "desc" }], limit: 2, offset: 1 }, "a d"],
    [{ limit: 2, offset: 3 }, "d b"],
    [{ limit: 10, offset: 4 }, "b"],
    [{ offset: 3 }, "d b"],
    [{ offset: 9 }, ""],
    [{ limit: 0 }, ""],
    [{ sort_by: [{ field: "id", direction: "desc" }] }, "e d c b a"],
    [{ sort_by: [{ field: "inputs.k", direction: "asc" }] }, "a c e d b"],
    [{ sort_by: [{ field: "inputs.k", direction: "desc" }] }, "c a d e b"],
    [{ sort_by: [{ field: "inputs.k" }] }, "a c e d b"],
    [
      {
        sort_by: [
          { field: "started_at", direction: "asc" },
          { field: "id", direction: "desc" },
        ],
      },
      "e c d a b",
    ],
  ])("%j", async (request, expected) => {
    expect(await idsOf(project, request)).toBe(expected)
  })

  test("a negative limit or offset is 400, an unknown field 422", async () => {
    for (const request of [{ limit: -1 }, { offset: -1 }]) {
      expect((await opened.acme.post("/calls/stream_query", { project_id: project, ...request })).status).toBe(400)
    }
    const upwards = { project_id: project, sort_by: [{ field: "id", direction: "up" }] }
    expect((await opened.acme.post("/calls/stream_query", upwards)).status).toBe(422)
    const answer = await opened.acme.post("/calls/stream_query", {
      project_id: project,
      sort_by: [{ field: "nowhere", direction: "asc" }],
    })
    expect(answer.status).toBe(422)
    expect(answer.body).toMatchObject({ reason: "Field nowhere is not allowed" })
  })

  test("the newest page stays right when calls were started again at other times, deleted, or filtered away", async () => {
    const calls = Array.from({ length: 600 }, (_, index) =>
      ended(`n${String(index).padStart(3, "0")}`, { started_at: `2026-02-01 00:00:00.${100_000 + index}` }),
    )
    const many = await projectWith(...calls)
    const later = calls.slice(550).map(({ id }) => ({ ...ended(id), started_at: "2026-01-01 00:00:00.000000" }))
    await storeCalls(opened.app, many, later)
    await storeCalls(opened.app, many, [{ id: "n549", deleted_at: "2026-03-01 00:00:00" }])
    await storeCalls(opened.app, many, [{ ...ended("n000"), op_name: "rare" }])
    const newest = { sort_by: [{ field: "started_at", direction: "desc" }] }
    expect(await idsOf(many, { ...newest, limit: 3 })).toBe("n548 n547 n546")
    expect(await idsOf(many, { ...newest, limit: 2, filter: { op_names: ["rare"] } })).toBe("n000")
    expect(await idsOf(many, { limit: 2 })).toBe("n550 n551")
    const whole = (await idsOf(many, newest)).split(" ")
    expect(whole).toHaveLength(599)
    for (const offset of [0, 50, 100, 547, 598]) {
      expect((await idsOf(many, { ...newest, limit: 7, offset })).split(" ")).toEqual(whole.slice(offset, offset + 7))
    }
  })
})

describe("calls 3.8: columns", () => {
  test("unselected payloads are {} and null, other columns left out; a path brings the whole column; summary brings what it needs", async () => {
    const project = await projectWith(
      ended("a", { inputs: '{"x":{"y":1}}', output: "5", attributes: '{"k":1}', thread_id: "th" }),
    )
    const only = async (...columns: string[]) => (await stream(project, { columns }))[0]
    const narrow = await only("id")
    expect(callRecord.strict().parse(narrow)).toMatchObject({
      id: "a",
      op_name: "op",
      trace_id: "t1",
      started_at: "2026-01-02T03:04:05.000000Z",
      inputs: {},
      attributes: {},
      summary: {},
      output: null,
    })
    // Columns that were not selected are absent, not null: a null end would say that the call runs.
    for (const name of ["ended_at", "exception", "display_name", "thread_id", "turn_id", "wb_user_id", "wb_run_step"]) {
      expect(narrow).not.toHaveProperty(name)
    }
    expect(await only("ended_at", "thread_id", "exception")).toMatchObject({
      ended_at: "2026-01-02T03:04:06.500000Z",
      thread_id: "th",
      exception: null,
    })
    expect(await only("inputs.x.y")).toMatchObject({ inputs: { x: { y: 1 } }, attributes: {} })
    expect(await only("inputs_dump")).toMatchObject({ inputs: { x: { y: 1 } } })
    expect(await only("summary")).toMatchObject({
      summary: { weave: { status: "success", latency_ms: 1500 } },
      ended_at: "2026-01-02T03:04:06.500000Z",
    })
    expect((await stream(project, { columns: ["id"], include_costs: true }))[0]).toMatchObject({
      summary: { weave: { status: "success", latency_ms: 1500 } },
      ended_at: "2026-01-02T03:04:06.500000Z",
      inputs: {},
    })
    expect(await only()).toMatchObject({ inputs: { x: { y: 1 } }, thread_id: "th" })
    const unknown = await opened.acme.post("/calls/stream_query", { project_id: project, columns: ["nowhere"] })
    expect(unknown.status).toBe(422)
  })
})

describe("calls 3.10: /calls/query_stats", () => {
  test("counts, capped counts, and bytes of whole traces", async () => {
    const project = await projectWith(
      ended("a", { inputs: '{"x":1}' }),
      ended("b", { parent_id: "a", inputs: '{"x":2}' }),
      ended("c", { trace_id: "t2", inputs: '{"x":3}' }),
    )
    const stats = async (request: object = {}) => {
      const { body } = await opened.acme.post("/calls/query_stats", { project_id: project, ...request })
      return callsQueryStatsAnswer.strict().parse(body)
    }
    expect(await stats()).toEqual({ count: 3, has_more: false, total_storage_size_bytes: null })
    expect(await stats({ limit: 2 })).toEqual({ count: 2, has_more: true, total_storage_size_bytes: null })
    expect(await stats({ limit: 3 })).toEqual({ count: 3, has_more: false, total_storage_size_bytes: null })
    const negative = await opened.acme.post("/calls/query_stats", { project_id: project, limit: -1 })
    expect(negative.status).toBe(400)
    const expression = { $eq: [{ $getField: "inputs.x" }, { $literal: 2 }] }
    expect(await stats({ query: { $expr: expression } })).toMatchObject({ count: 1 })
    // Each call: 7 bytes of inputs, 2 of attributes, 4 of output, 2 of summary.
    expect(await stats({ include_total_storage_size: true })).toMatchObject({ total_storage_size_bytes: 45 })
    expect(await stats({ include_total_storage_size: true, filter: { call_ids: ["a"] } })).toMatchObject({
      total_storage_size_bytes: 30,
    })
  })
})

describe("calls 3.4: the stream", () => {
  test("many calls of many sizes come once each, in order", async () => {
    const project = opened.acme.newProject()
    const calls = Array.from({ length: 3000 }, (_, index) =>
      ended(`i${String(index).padStart(5, "0")}`, {
        started_at: `2026-01-02 03:04:05.${String(index).padStart(6, "0")}`,
        inputs: JSON.stringify({ text: "x".repeat(index % 500 === 0 ? 300_000 : index % 50) }),
      }),
    )
    await storeCalls(opened.app, project, calls)
    expect(await idsOf(project)).toBe(calls.map(({ id }) => id).join(" "))
    const { body } = await opened.acme.post("/calls/query", { project_id: project, limit: 2000 })
    expect((body as { calls: Line[] }).calls).toHaveLength(2000)
  })

  test("nothing at all: an empty body, and an empty list", async () => {
    const project = await projectWith({ id: "orphan", ended_at: `${start}.1` })
    expect((await opened.acme.post("/calls/stream_query", { project_id: project })).text).toBe("")
    expect((await opened.acme.post("/calls/query", { project_id: project })).text).toBe('{"calls":[]}')
  })

  test("the media type follows Accept", async () => {
    const project = await projectWith(ended("a"))
    const typeFor = async (accept: string) =>
      (await opened.acme.post("/calls/stream_query", { project_id: project }, { accept })).headers["content-type"]
    expect(await typeFor("application/x-ndjson")).toContain("application/x-ndjson")
    expect(await typeFor("*/*")).toContain("application/jsonl")
    expect(await typeFor("text/html")).toContain("application/jsonl")
  })
})
