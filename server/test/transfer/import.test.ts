/**
 * Importing exported files stores the same rows, in any format, once or twice; and importing files of other programs.
 */
import { parquetWriteBuffer } from "hyparquet-writer"
import { gzipSync } from "node:zlib"
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest"
import { HeddleError } from "../../src/errors.ts"
import { type EvaluationApp, type EvaluationCaller, openEvaluationApp } from "../support/evaluation-app.ts"
import { uuid } from "../support/completed-call.ts"
import { setRoom } from "../support/team-room.ts"

let world: EvaluationApp
let acme: EvaluationCaller
beforeAll(async () => {
  world = await openEvaluationApp()
  acme = world.acme
})
afterAll(() => world.close())

type Format = "jsonl" | "csv" | "parquet"
type What = "calls" | "feedback"

async function exported(what: What, project: string, format: Format): Promise<Buffer> {
  const answer = await world.app.server.inject({
    method: "POST",
    url: `/export/${what}`,
    headers: { authorization: `Bearer ${acme.key}` },
    payload: { project_id: project, format },
  })
  expect(answer.statusCode).toBe(200)
  return answer.rawPayload
}

async function imported(what: What, project: string, format: Format, file: Buffer | string) {
  const url = `/import/${what}?project_id=${encodeURIComponent(project)}&format=${format}`
  const answer = await acme.post(url, file, { "content-type": "application/octet-stream" })
  return { status: answer.status, body: answer.body }
}

/** Calls as JSON text: with every column filled, with nulls, and with values that formats tend to change. */
function oddCalls(project: string): string {
  const full = `{"project_id":"${project}","id":"${uuid(1)}","trace_id":"${uuid(9)}","parent_id":"${uuid(2)}",
    "op_name":"weave:///${project}/op/a:v1","display_name":"a, \\"b\\"\\n=c","thread_id":"","turn_id":"${uuid(1)}",
    "started_at":"2026-01-02T03:04:05.123456Z","ended_at":"2026-01-02T03:04:06.000001Z","exception":"line\\nline",
    "attributes":{"weave":{"n":1.0}, "a" : [1,2]},"inputs":{"n":12345678901234567890.10,"s":"\\u2028\\ud800\\u0000é😀","":""},
    "output":"=1+1","summary":{"usage":{}},"otel_dump":{"k":[null]},"wb_run_id":"r","wb_run_step":9007199254740993,"wb_run_step_end":-1}`
  const bare = `{"project_id":"${project}","id":"${uuid(2)}","trace_id":"${uuid(9)}","op_name":"","started_at":"1999-12-31T23:59:59.999999Z",
    "ended_at":"2026-01-02T03:04:06Z","attributes":{},"inputs":{},"output":null,"summary":{}}`
  return `{"batch":[${full},${bare}]}`
}

async function storedCalls(): Promise<string> {
  const project = acme.newProject()
  expect((await acme.post(`/v2/${project}/calls/complete`, oddCalls(project))).status).toBe(200)
  const running = {
    project_id: project,
    id: uuid(3),
    trace_id: uuid(9),
    op_name: "r",
    started_at: "2026-01-02T03:04:05Z",
  }
  expect((await acme.post("/call/start", { start: { ...running, attributes: {}, inputs: { a: 1 } } })).status).toBe(200)
  return project
}

describe("import: calls", () => {
  test.each(["jsonl", "csv", "parquet"] as const)("%s goes round without a byte lost, also twice", async (format) => {
    const source = await storedCalls()
    const lines = await exported("calls", source, "jsonl")
    expect(lines.toString().split("\n")).toHaveLength(4)
    const file = await exported("calls", source, format)
    const target = acme.newProject()
    for (const _ of [1, 2]) {
      expect(await imported("calls", target, format, file)).toEqual({
        status: 200,
        body: { imported: 3, failed: 0, errors: [] },
      })
      expect((await exported("calls", target, "jsonl")).toString()).toBe(lines.toString())
    }
    expect(await exported("calls", target, "csv")).toEqual(await exported("calls", source, "csv"))
    const query = { project_id: target, columns: ["inputs"], limit: 1 }
    expect((await acme.post("/calls/stream_query", query)).text).toContain("1999-12-31T23:59:59.999999Z")
  })

  test("rows that cannot be stored are reported by number and column, and the others are stored", async () => {
    const project = acme.newProject()
    const call = {
      id: uuid(1),
      trace_id: uuid(2),
      op_name: "o",
      started_at: "2026-01-01T00:00:00Z",
      inputs: {},
      attributes: {},
    }
    const rows = [
      JSON.stringify(call),
      "[1]",
      "{nonsense}",
      JSON.stringify({ ...call, id: uuid(3), started_at: "yesterday" }),
      JSON.stringify({ ...call, id: "seven" }),
      JSON.stringify({ ...call, id: undefined }),
      JSON.stringify({ ...call, id: uuid(4), ended_at: "2026-01-01T00:00:01Z", summary: [] }),
      JSON.stringify({ ...call, id: uuid(5), inputs: { ref: "weave-trace-internal:///x/object/y:z" } }),
      JSON.stringify({ ...call, id: uuid(6), project_id: "rival/secret" }),
    ]
    const { status, body } = await imported("calls", project, "jsonl", rows.join("\r\n"))
    expect(status).toBe(200)
    expect(body).toEqual({
      imported: 2,
      failed: 7,
      errors: [
        { row: 2, column: null, value: null, message: "is not a JSON object" },
        { row: 3, column: null, value: null, message: expect.stringContaining("is not JSON") },
        {
          row: 4,
          column: "started_at",
          value: null,
          message: "Input should be a valid datetime in ISO 8601, from 1900 to 2299",
        },
        { row: 5, column: null, value: null, message: expect.stringContaining('id "seven" is neither a UUID') },
        { row: 6, column: "id", value: null, message: expect.stringMatching(/missing|required/) },
        { row: 7, column: "summary", value: null, message: "Input should be a valid dictionary" },
        { row: 8, column: null, value: null, message: expect.stringContaining("is not a ref that clients may use") },
      ],
    })
    const stored = await acme.lines("/calls/stream_query", { project_id: project })
    expect(stored).toMatchObject([
      { id: uuid(1), project_id: project },
      { id: uuid(6), project_id: project },
    ])
  })

  test("CSV of another program: any order of columns, a byte order mark, unknown columns, short rows", async () => {
    const project = acme.newProject()
    const head = "inputs,extra,op_name,id,trace_id,started_at,attributes,wb_run_step"
    const row = (id: number, step: string) => `"{""a"": 1}",x,op,${uuid(id)},${uuid(9)},2026-01-01T00:00:00Z,{},${step}`
    const file = `\uFEFF${head}\r\n${row(1, "7")}\r\n${row(2, "seven")}\r\nonly,two\r\n${row(3, "-0080")}\r\n`
    expect((await imported("calls", project, "csv", file)).body).toEqual({
      imported: 2,
      failed: 2,
      errors: [
        { row: 2, column: "wb_run_step", value: "seven", message: "is not a number" },
        { row: 3, column: null, value: null, message: "has 2 cells, and the first line names 8 columns" },
      ],
    })
    expect(await acme.lines("/calls/stream_query", { project_id: project })).toMatchObject([
      { inputs: { a: 1 }, wb_run_step: 7 },
      { inputs: { a: 1 }, wb_run_step: -80 },
    ])
  })

  test("CSV of another program: an exception that is an empty text is none", async () => {
    const project = acme.newProject()
    const head = "id,trace_id,op_name,started_at,ended_at,attributes,inputs,summary,exception"
    const row = (id: number, exception: string) =>
      `${uuid(id)},${uuid(9)},op,2026-01-01T00:00:00Z,2026-01-01T00:00:01Z,{},{},{},${exception}`
    await imported("calls", project, "csv", [head, row(1, '""'), row(2, ""), row(3, "boom"), ""].join("\n"))
    const calls = (await acme.lines("/calls/stream_query", { project_id: project })) as { exception: string | null }[]
    expect(calls.map(({ exception }) => exception)).toEqual([null, null, "boom"])
  })

  test.each([
    ["csv", "a,a\n1,2\n", 400, 'the first line of the CSV file has the column "a" twice; it must name every column'],
    ["csv", 'a,b\n"1,2', 400, expect.stringContaining("the body is not CSV")],
    ["parquet", "PAR1 not at all", 400, expect.stringContaining("the body is not a Parquet file that can be read")],
    ["parquet", "", 400, expect.stringContaining("the body is not a Parquet file that can be read")],
  ] as const)("a file that is no %s: 400", async (format, file, status, reason) => {
    const answer = await imported("calls", acme.newProject(), format, file)
    expect([answer.status, answer.body]).toEqual([status, { reason, error_type: "InvalidRequest" }])
  })

  test("Parquet of another program: Snappy and gzip, times in milliseconds, a step as a double", async () => {
    for (const codec of ["SNAPPY", "GZIP"] as const) {
      const project = acme.newProject()
      const file = parquetWriteBuffer({
        codec,
        compressors: { GZIP: gzipSync },
        columnData: [
          { name: "id", data: [uuid(1)] },
          { name: "trace_id", data: [uuid(2)] },
          { name: "op_name", data: ["op"] },
          { name: "started_at", data: [new Date("2026-01-02T03:04:05.678Z")] },
          { name: "inputs", data: [{ a: [1, null] }], type: "JSON" },
          { name: "attributes", data: ["{}"] },
          { name: "wb_run_step", data: [7], type: "DOUBLE" },
        ],
      })
      const answer = await imported("calls", project, "parquet", Buffer.from(file))
      expect(answer.body).toEqual({ imported: 1, failed: 0, errors: [] })
      expect(await acme.lines("/calls/stream_query", { project_id: project })).toMatchObject([
        { started_at: "2026-01-02T03:04:05.678000Z", inputs: { a: [1, null] }, wb_run_step: 7 },
      ])
    }
  })

  test("a file of many parts, of calls whose ids tell no time, is stored whole", async () => {
    const project = acme.newProject()
    const text = "x".repeat(32 * 1024)
    const idOf = (number: number) => `${String(number).padStart(8, "0")}-0000-4000-8000-000000000000`
    const all = Array.from({ length: 80 }, (_, number) => number)
    const row = (number: number) => ({
      id: idOf(number),
      trace_id: uuid(9),
      op_name: "op",
      started_at: "2026-01-02T03:04:05.123456Z",
      ended_at: "2026-01-02T03:04:06.000001Z",
      attributes: {},
      inputs: { text: `${text}'${number}` },
      output: number,
      summary: {},
    })
    const file = all.map((number) => `${JSON.stringify(row(number))}\n`).join("")
    expect(file.length).toBeGreaterThan(4 * 512 * 1024)
    expect(await imported("calls", project, "jsonl", file)).toEqual({
      status: 200,
      body: { imported: 80, failed: 0, errors: [] },
    })
    const calls = (await acme.lines("/calls/stream_query", { project_id: project })) as ReturnType<typeof row>[]
    const shown = calls.map(({ id, started_at, inputs, output }) => ({ id, started_at, inputs, output }))
    const expected = all.map((number) => ({
      id: idOf(number),
      started_at: "2026-01-02T03:04:05.123456Z",
      inputs: { text: `${text}'${number}` },
      output: number,
    }))
    expect(shown.toSorted((one, other) => one.output - other.output)).toEqual(expected)
    // Reading by id uses the call's place, which is stored apart from its row.
    const last = await acme.post("/call/read", { project_id: project, id: idOf(79) })
    expect(last.body).toMatchObject({ call: { id: idOf(79), output: 79 } })
  })

  test("a call that was deleted stays so", async () => {
    const project = await storedCalls()
    const file = await exported("calls", project, "jsonl")
    await acme.post("/calls/delete", { project_id: project, call_ids: [uuid(3)] })
    expect((await imported("calls", project, "jsonl", file)).body).toMatchObject({ imported: 3, failed: 0 })
    const left = await acme.lines("/calls/stream_query", { project_id: project })
    expect(left).toMatchObject([{ id: uuid(2) }, { id: uuid(1) }])
  })

  test("security 5.3: into another team's project: 403", async () => {
    expect((await imported("calls", "rival/secret", "jsonl", "")).status).toBe(403)
  })

  test("only an administrator may say that somebody else made a call", async () => {
    const row = JSON.stringify({
      id: uuid(1),
      trace_id: uuid(2),
      op_name: "o",
      started_at: "2026-01-01T00:00:00Z",
      inputs: {},
      attributes: {},
      wb_user_id: "somebody",
    })
    const project = acme.newProject()
    await imported("calls", project, "jsonl", row)
    const [mine] = (await acme.lines("/calls/stream_query", { project_id: project })) as [{ wb_user_id: string }]
    expect(mine.wb_user_id).toMatch(/^[0-9a-f-]{36}$/)
  })
})

describe("import: feedback", () => {
  test.each(["jsonl", "csv", "parquet"] as const)(
    "%s goes round with its times and payloads, also twice",
    async (format) => {
      const project = acme.newProject()
      const ref = `weave:///${project}/call/${uuid(1)}`
      const note = `{"project_id":"${project}","weave_ref":"${ref}","feedback_type":"note","payload":{"note":"é\\n=1","n":1.0, "big":12345678901234567890}}`
      expect((await acme.post("/feedback/create", note)).status).toBe(200)
      const rated = {
        project_id: project,
        weave_ref: ref,
        feedback_type: "wandb.runnable.judge",
        runnable_ref: `weave:///${project}/object/judge:v1`,
        payload: { output: [1] },
        creator: 'A "B"',
        scorer_tags: ["a,b", "c'"],
        scorer_ratings: { quality: 0.25 },
        scorer_rating_reasons: { quality: "so, so" },
        span_status_code: "OK",
      }
      expect((await acme.post("/feedback/create", rated)).status).toBe(200)
      const lines = (await exported("feedback", project, "jsonl")).toString()
      expect(lines).toContain('"payload":{"note":"é\\n=1","n":1.0, "big":12345678901234567890}')
      const file = await exported("feedback", project, format)
      const target = acme.newProject()
      for (const _ of [1, 2]) {
        expect(await imported("feedback", target, format, file)).toEqual({
          status: 200,
          body: { imported: 2, failed: 0, errors: [] },
        })
        expect((await exported("feedback", target, "jsonl")).toString()).toBe(lines)
      }
    },
  )

  test("moved_from makes the refs of one project name the other", async () => {
    const [from, to] = [acme.newProject(), acme.newProject()]
    const spec = {
      project_id: to,
      object_id: "score",
      val: {
        _type: "AnnotationSpec",
        _class_name: "AnnotationSpec",
        _bases: ["BaseObject", "BaseModel"],
        name: "score",
        field_schema: { type: "number" },
      },
    }
    const { digest } = (await acme.post("/obj/create", { obj: spec })).body as { digest: string }
    const row = JSON.stringify({
      id: uuid(1),
      weave_ref: `weave:///${from}/call/${uuid(1)}`,
      feedback_type: "wandb.annotation.score",
      annotation_ref: `weave:///${from}/object/score:${digest}`,
      payload: { value: 1, other: `weave:///${from}-2/call/x` },
    })
    expect((await imported("feedback", to, "jsonl", row)).body).toMatchObject({ imported: 0, failed: 1 })
    const moved = await acme.post(`/import/feedback?project_id=${to}&moved_from=${from}`, row)
    expect(moved.body).toEqual({ imported: 1, failed: 0, errors: [] })
    const [stored] = (await exported("feedback", to, "jsonl")).toString().split("\n")
    expect(JSON.parse(stored ?? "")).toMatchObject({
      weave_ref: `weave:///${to}/call/${uuid(1)}`,
      annotation_ref: `weave:///${to}/object/score:${digest}`,
      payload: { value: 1, other: `weave:///${from}-2/call/x` },
    })
  })

  test("a row without an id, with a bad ref or time, or with other content than before, is left out", async () => {
    const project = acme.newProject()
    const row = {
      id: uuid(1),
      weave_ref: `weave:///${project}/call/${uuid(1)}`,
      feedback_type: "note",
      payload: { note: "a" },
    }
    const rows = [
      row,
      { ...row, id: null },
      { ...row, id: uuid(2), weave_ref: 7 },
      { ...row, id: uuid(3), created_at: "soon" },
      { ...row, payload: { note: "b" } },
    ]
    const { body } = await imported("feedback", project, "jsonl", rows.map((one) => JSON.stringify(one)).join("\n"))
    expect(body).toEqual({
      imported: 1,
      failed: 4,
      errors: [
        { row: 2, column: "id", value: null, message: "is missing: without one, importing twice would store it twice" },
        { row: 3, column: "weave_ref", value: null, message: expect.stringContaining("expected string") },
        { row: 4, column: "created_at", value: "soon", message: "is not an ISO 8601 time" },
        {
          row: 5,
          column: null,
          value: null,
          message: `feedback ${uuid(1)} exists with other content; leave id out or replace it`,
        },
      ],
    })
  })
})

describe("import: feedback that the server has no room for, whatever it is", () => {
  const noteBytes = 1000
  /** Compressed, so that it comes in pieces, as it does over a network. */
  function notes(project: string, count: number) {
    const row = (number: number) => ({
      id: uuid(number),
      weave_ref: `weave:///${project}/call/${uuid(1)}`,
      feedback_type: "note",
      payload: { note: String(number).padEnd(noteBytes, "x") },
    })
    const file = gzipSync(Array.from({ length: count }, (_, n) => `${JSON.stringify(row(n))}\n`).join(""))
    const headers = { "content-type": "application/octet-stream", "content-encoding": "gzip" }
    return () => acme.post(`/import/feedback?project_id=${project}&format=jsonl`, file, headers)
  }

  const storedOf = async (project_id: string) =>
    ((await acme.post("/feedback/query", { project_id, fields: ["id"] })).body as { result: unknown[] }).result.length

  /** Lets feedback be stored once; then `act` is done ahead of each insert. */
  function afterFirstInsert(act: () => Promise<void>) {
    const { traces } = world.app.stores
    const insert = traces.insert.bind(traces)
    let inserts = 0
    const spy = vi.spyOn(traces, "insert").mockImplementation(async (table, rows) => {
      if (table === "feedback" && inserts++ > 0) await act()
      await insert(table, rows)
    })
    onTestFinished(() => spy.mockRestore())
    return { inserts: () => inserts, end: () => spy.mockRestore() }
  }

  test("too much waits: 429, not a report of bad rows, and no further row is tried", async () => {
    const project = acme.newProject()
    const send = notes(project, 400)
    const store = afterFirstInsert(() =>
      Promise.reject(new HeddleError("rate_limit_exceeded", "too much of yours waits")),
    )
    expect(await send()).toMatchObject({ status: 429, body: { reason: "too much of yours waits" } })
    expect(store.inserts()).toBe(2)
    expect(await storedOf(project)).toBeGreaterThan(0)
    store.end()
    expect((await send()).body).toEqual({ imported: 400, failed: 0, errors: [] })
    expect(await storedOf(project)).toBe(400)
  })

  test("the quota of the team is used up on the way: 403 that names it, and the same file goes in once there is room", async () => {
    const limit = (bytes: number | null) => setRoom(world.admin, bytes)
    onTestFinished(() => limit(null))
    const project = acme.newProject()
    const send = notes(project, 600)
    const store = afterFirstInsert(() => limit(1))
    expect(await send()).toMatchObject({
      status: 403,
      body: { quota: { team: "acme", name: "stored_bytes", limit: 1 } },
    })
    expect(store.inserts()).toBe(2)
    store.end()
    await limit(null)
    expect((await send()).body).toEqual({ imported: 600, failed: 0, errors: [] })
  })
})

describe("import: datasets", () => {
  const rows = [
    '{"q":"90210","n":1,"f":0.5,"flag":true,"any":[1, 2.0],"\\u00e9 key":null}',
    '{"q":"","n":-3,"f":2,"flag":false,"any":"{\\"a\\":1}"}',
    '{"q":"=1+1, \\"quoted\\"\\nline","any":12345678901234567890}',
    '{"q":" spaced ","n":9007199254740991,"any":"\\ud800"}',
    '{"q":"NaN","any":1.0}',
    "{}",
  ]

  async function storedTable(project: string): Promise<string> {
    const body = `{"table":{"project_id":"${project}","rows":[${rows.join(",")}]}}`
    return ((await acme.post("/table/create", body)).body as { digest: string }).digest
  }

  async function file(body: object): Promise<Buffer> {
    const answer = await world.app.server.inject({
      method: "POST",
      url: "/export/dataset",
      headers: { authorization: `Bearer ${acme.key}` },
      payload: body,
    })
    expect(answer.statusCode).toBe(200)
    return answer.rawPayload
  }

  test.each(["jsonl", "csv", "parquet"] as const)("%s goes round: the table has the same digest", async (format) => {
    const source = acme.newProject()
    const table_digest = await storedTable(source)
    const bytes = await file({ project_id: source, table_digest, format })
    if (format === "jsonl") expect(bytes.toString()).toBe(`${rows.join("\n")}\n`)
    const target = acme.newProject()
    for (const version of [0, 0]) {
      const answer = await acme.post(`/import/dataset?project_id=${target}&format=${format}&name=Zip codes`, bytes)
      expect(answer.body).toMatchObject({
        imported: 6,
        failed: 0,
        errors: [],
        table_digest,
        object_id: "zip_codes",
        version_index: version,
      })
    }
    const again = await file({ project_id: target, object_id: "zip_codes", format: "jsonl" })
    expect(
      again
        .toString()
        .split("\n")
        .map((row) => (row === "" ? row : (JSON.parse(row) as unknown))),
    ).toEqual([...rows.map((row) => JSON.parse(row) as unknown), ""])
  })

  test("CSV of another program: rows that end with a return alone, more together than one row may have", async () => {
    const lines = Array.from({ length: 12 }, (_, n) => `"${n}",${"x".repeat(3 * 1024 ** 2)}\r`)
    const url = `/import/dataset?project_id=${acme.newProject()}&format=csv`
    expect((await acme.post(url, `"n",text\r${lines.join("")}`)).body).toMatchObject({ imported: 12, errors: [] })
  })

  test("CSV of another program: a cell that is JSON is read as JSON, any other as text", async () => {
    const project = acme.newProject()
    const csv = 'id,zip,score,tags,note\n1,01234,0.50,"[""a""]",hello world\n2,"","null",,"say ""hi"""\n'
    const { body } = await acme.post(`/import/dataset?project_id=${project}&format=csv`, csv)
    const { table_digest } = body as { table_digest: string }
    expect((await file({ project_id: project, table_digest })).toString().split("\n")).toEqual([
      '{"id":1,"zip":"01234","score":0.50,"tags":["a"],"note":"hello world"}',
      '{"id":2,"zip":"","score":null,"note":"say \\"hi\\""}',
      "",
    ])
  })

  test("calls 1.3: rows in another encoding than UTF-8 are refused by their number, and not stored with other letters", async () => {
    const project = acme.newProject()
    const latin1 = (text: string) => Buffer.from(text, "latin1")
    const csv = latin1('name,city\n"Ann\nLee",Bonn\nJürgen,Köln\n')
    const refused = await acme.post(`/import/dataset?project_id=${project}&format=csv`, csv)
    expect([refused.status, refused.text]).toEqual([
      400,
      expect.stringContaining("line 4 of the CSV file is not UTF-8"),
    ])
    const lines = Buffer.concat([Buffer.from('{"a":"é"}\n\n'), latin1('{"a":"é"}\n')])
    const { body } = await acme.post(`/import/dataset?project_id=${project}&format=jsonl`, lines)
    const errors = [{ row: 2, column: null, value: null, message: "is not UTF-8" }]
    expect(body).toMatchObject({ imported: 0, failed: 1, errors, table_digest: null })
    expect(await imported("feedback", project, "jsonl", latin1('{"id":"é"}'))).toEqual({
      status: 200,
      body: { imported: 0, failed: 1, errors: [{ ...errors[0], row: 1 }] },
    })
  })

  test("Parquet of another program: a day that no calendar has is an error of its row", async () => {
    const day = { name: "day", type: "INT32", converted_type: "DATE", repetition_type: "REQUIRED" } as const
    const written = parquetWriteBuffer({
      schema: [{ name: "schema", num_children: 1 }, day],
      columnData: [{ name: "day", data: [19_000, 2 ** 31 - 1] }],
      statistics: false,
    })
    const { status, body } = await acme.post(
      `/import/dataset?project_id=${acme.newProject()}&format=parquet`,
      Buffer.from(written),
    )
    const message = "has a date more than 100,000,000 days from 1970"
    expect([status, body]).toEqual([
      200,
      expect.objectContaining({ imported: 0, failed: 1, errors: [{ row: 2, column: null, value: null, message }] }),
    ])
  })

  test("a row with an error: nothing is stored, and the report names it", async () => {
    const project = acme.newProject()
    const { body } = await acme.post(`/import/dataset?project_id=${project}&name=d`, '{"a":1}\n7\n')
    expect(body).toEqual({
      imported: 0,
      failed: 1,
      errors: [{ row: 2, column: null, value: null, message: "Input should be a valid dictionary" }],
      table_digest: null,
      object_id: null,
      digest: null,
      version_index: null,
    })
    expect((await acme.post("/obj/read", { project_id: project, object_id: "d", digest: "latest" })).status).toBe(404)
  })

  test.each([
    [{}, 400, "name a dataset by object_id, or a table by table_digest"],
    [{ table_digest: "0".repeat(64) }, 404, `Table ${"0".repeat(64)} not found`],
    [{ object_id: "nothing" }, 404, "Obj nothing:latest not found"],
  ])("an export that is not possible is refused: %j", async (fields, status, reason) => {
    const project = acme.newProject()
    await storedTable(project)
    const answer = await acme.post("/export/dataset", { project_id: project, ...fields })
    expect([answer.status, answer.body]).toEqual([status, expect.objectContaining({ reason })])
  })
})
