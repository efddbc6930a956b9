/** Tables through the public surface: evaluation-store-calls 6. */
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { tableCreated, tableRows } from "../../src/wire/objects/table.ts"
import { type EvaluationApp, type EvaluationCaller, openEvaluationApp } from "../support/evaluation-app.ts"

let opened: EvaluationApp
let acme: EvaluationCaller
beforeAll(async () => {
  opened = await openEvaluationApp()
  acme = opened.acme
})
afterAll(() => opened.close())

/** Creates a table of the rows in the JSON text `rows`. */
async function createTable(project: string, rows: string, caller = acme) {
  const answer = await caller.post("/table/create", `{"table":{"project_id":"${project}","rows":${rows}}}`)
  expect([answer.status, answer.text]).toEqual([200, answer.text])
  return tableCreated.parse(answer.body)
}

async function query(project_id: string, digest: string, more: object = {}) {
  const answer = await acme.post("/table/query", { project_id, digest, ...more })
  expect([answer.status, answer.text]).toEqual([200, answer.text])
  return tableRows.parse(answer.body).rows
}

const update = (project_id: string, base_digest: string, updates: unknown) =>
  acme.post("/table/update", { project_id, base_digest, updates })

const numbered = (count: number) => JSON.stringify(Array.from({ length: count }, (_, n) => ({ n })))

describe("calls 6.1: digests", () => {
  test("the digests of recorded rows and of their table are those of the SDK", async () => {
    const created = await createTable(acme.newProject(), '[{"b":2,"a":1},{"a":3,"b":4},{"a":5,"b":6}]')
    expect(created).toEqual({
      digest: "d2e5de0d792d9f5636b67ab5c8baf8a7749b4703e89c625303b32405e0b17e77",
      row_digests: [
        "2El9nYJ3CnBykmEJWqmPfvUVTXr0mfgDe2yiUClnhaY",
        "sPyqicZSNerizfVt6DyxLHL8qEmPTfTyiXbx9OhVhDM",
        "XfhC9dNA5D4taMvhKT4MKN2uce7F56Krsyv4Q6mvVMA",
      ],
    })
  })

  test("a table without rows has a digest, too", async () => {
    const project = acme.newProject()
    const { digest } = await createTable(project, "[]")
    expect(digest).toBe("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
    expect(await query(project, digest)).toEqual([])
    expect((await acme.post("/table/query_stats", { project_id: project, digest })).body).toEqual({ count: 0 })
  })

  test("objects 13: a digest of the client that differs is 409, and the same one is accepted", async () => {
    const project = acme.newProject()
    const body = (expected_digest: string) => ({
      table: { project_id: project, rows: [{ a: 1, b: 2 }], expected_digest },
    })
    const wrong = await acme.post("/table/create", body("0".repeat(64)))
    expect([wrong.status, (wrong.body as { error_type: string }).error_type]).toEqual([409, "DigestMismatchError"])
    expect(
      (await acme.post("/table/create", body("d0699357b548c1500862b25c845a05df5c22f8d0ad2e9e2e84ebafbafc18fe7d")))
        .status,
    ).toBe(200)
  })

  test("objects 10: refs in rows are hashed in their internal form", async () => {
    const project = acme.newProject()
    await createTable(project, "[]")
    const info = (await acme.post("/service/projects_info", { project_ids: [project] })).body as {
      internal_project_id: string
    }[]
    const external = await createTable(project, `[{"r":"weave:///${project}/object/x:y"},{"a":1}]`)
    const internal = await createTable(
      project,
      `[{"r":"weave-trace-internal:///${info[0]?.internal_project_id}/object/x:y"},{"a":1}]`,
    )
    expect(internal).toEqual(external)
    expect((await query(project, internal.digest)).map((row) => row.val)).toEqual([
      { r: `weave:///${project}/object/x:y` },
      { a: 1 },
    ])
  })
})

describe("calls 6.2: making and reading", () => {
  test("law 3: rows come back as they were spelled, in their order, the same one twice", async () => {
    const project = acme.newProject()
    const rows = [
      String.raw`{"b": 1.0, "a" : 12345678901234567890123, "10":0, "2":1e5}`,
      String.raw`{"s":"\u0000\u2028\ud800 é😀\"\\ ][ }{","t":"it's {x:String}"}`,
      "{}",
      '{\n  "pretty": [\r\n 1,\t2 ]\n}',
      String.raw`{"s":"\u0000\u2028\ud800 é😀\"\\ ][ }{","t":"it's {x:String}"}`,
    ]
    const created = await createTable(project, `[${rows.join(" , ")}]`)
    expect(created.row_digests[1]).toBe(created.row_digests[4])
    const answer = await acme.post("/table/query", { project_id: project, digest: created.digest })
    const expected = rows.map(
      (row, index) => `{"digest":"${created.row_digests[index]}","val":${row},"original_index":${index}}`,
    )
    expect(answer.text).toBe(`{"rows":[${expected.join(",")}]}`)
  })

  test("calls 3.4: as JSON Lines, every row is one line for Python", async () => {
    const project = acme.newProject()
    const { digest } = await createTable(project, '[{"s":"a\u0085b\u2028c\u2029d"},{\n"x":\r1}]')
    const answer = await acme.post("/table/query_stream", { project_id: project, digest })
    expect(answer.headers["content-type"]).toBe("application/jsonl")
    expect(answer.text.split(/[\n\r\u0085\u2028\u2029]/)).toHaveLength(3)
    expect(
      answer.text
        .trimEnd()
        .split("\n")
        .map((line) => (JSON.parse(line) as { val: unknown }).val),
    ).toEqual([{ s: "a\u0085b\u2028c\u2029d" }, { x: 1 }])
  })

  test("the same rows again are the same table", async () => {
    const project = acme.newProject()
    const first = await createTable(project, numbered(3))
    expect(await createTable(project, numbered(3))).toEqual(first)
    expect(await query(project, first.digest)).toHaveLength(3)
    expect((await acme.post("/table/query_stats", { project_id: project, digest: first.digest })).body).toEqual({
      count: 3,
    })
  })

  test("bare NaN and Infinity are hashed as Python does and read as null", async () => {
    const project = acme.newProject()
    const { digest, row_digests } = await createTable(project, '[{"x":NaN,"y":[-Infinity],"z":"NaN"}]')
    expect(row_digests).toEqual(["qVbZV1tXenl1JrEOm8TUyHC4REonyzpzmLr0vKYekeU"])
    expect((await query(project, digest))[0]?.val).toEqual({ x: null, y: [null], z: "NaN" })
  })

  test("pages over chunks", async () => {
    const project = acme.newProject()
    const { digest, row_digests } = await createTable(project, numbered(6000))
    const at = async (more: object) => (await query(project, digest, more)).map((row) => row.original_index)
    expect(await at({})).toEqual(Array.from({ length: 6000 }, (_, n) => n))
    expect(await at({ offset: 1022, limit: 4 })).toEqual([1022, 1023, 1024, 1025])
    expect(await at({ offset: 2047, limit: 2 })).toEqual([2047, 2048])
    expect(await at({ offset: 5998 })).toEqual([5998, 5999])
    expect(await at({ offset: 6000 })).toEqual([])
    expect(await at({ sort_by: [{ field: "n", direction: "desc" }] })).toEqual(
      Array.from({ length: 6000 }, (_, n) => 5999 - n),
    )
    expect(await at({ offset: 2 ** 52, limit: 5 })).toEqual([])
    expect(await at({ limit: 0 })).toEqual([])
    // A table that was made twice has its chunks twice until they are merged.
    await createTable(project, numbered(6000))
    expect(await at({ offset: 3071, limit: 3 })).toEqual([3071, 3072, 3073])
    expect(await at({ offset: 5999, limit: 3 })).toEqual([5999])
    const chosen = [row_digests[2000], row_digests[3], "x".repeat(43)]
    expect(await at({ filter: { row_digests: chosen } })).toEqual([3, 2000])
    expect(await at({ filter: { row_digests: chosen }, offset: 1, limit: 1 })).toEqual([2000])
    expect(await at({ filter: { row_digests: [] }, limit: 1 })).toEqual([0])
    expect((await query(project, digest, { offset: 1500, limit: 1 }))[0]).toEqual({
      digest: row_digests[1500],
      val: { n: 1500 },
      original_index: 1500,
    })
  })

  test("pages read one after the other, as Python takes them: of any size, back and forth, of two tables at once", async () => {
    const project = acme.newProject()
    const { digest } = await createTable(
      project,
      JSON.stringify(Array.from({ length: 2500 }, (_, n) => ({ n: n % 2000 }))),
    )
    const appended = await update(project, digest, [{ append: { row: { n: "end" } } }, { pop: { index: 0 } }])
    const { digest: other } = appended.body as { digest: string }
    const whole = new Map([digest, other].map((one) => [one, query(project, one)]))
    for (const size of [100, 7, 256, 300]) {
      // Small pages are read at the beginning only, since there would be hundreds.
      const end = size < 100 ? 500 : 2600
      for (let offset = 0; offset < end; offset += size) {
        for (const [one, rows] of whole) {
          const page = await query(project, one, { limit: size, offset })
          expect(page).toEqual((await rows).slice(offset, offset + size))
        }
      }
    }
    for (const offset of [2499, 50, 2450, 2500, 799, 2501]) {
      expect(await query(project, digest, { limit: 100, offset })).toEqual(
        (await whole.get(digest))?.slice(offset, offset + 100),
      )
    }
    expect((await query(project, other, { limit: 10, offset: 2490 })).at(-1)?.val).toEqual({ n: "end" })
  })

  test("pages of rows that grow by far, more than the server keeps, and again", async () => {
    const project = acme.newProject()
    const row = (n: number) => ({ n, text: n < 60 ? "" : "x".repeat(1024 * 1024) })
    const digests: string[] = []
    for (let from = 0; from < 100; from += 20) {
      const rows = Array.from({ length: 20 }, (_, n) => row(from + n))
      digests.push(...(await createTable(project, JSON.stringify(rows))).row_digests)
    }
    const joined = await acme.post("/table/create_from_digests", { project_id: project, row_digests: digests })
    const { digest } = joined.body as { digest: string }
    for (const round of [1, 2]) {
      for (let offset = 0; offset < 104; offset += 4) {
        const page = await query(project, digest, { limit: 4, offset })
        const shape = page.map(({ val, original_index }) => {
          const { n, text } = val as { n: number; text: string }
          return [original_index, n, text.length]
        })
        const expected = [0, 1, 2, 3].map((n) => [offset + n, offset + n, offset + n < 60 ? 0 : 1024 * 1024])
        expect([round, offset, shape]).toEqual([round, offset, offset < 100 ? expected : []])
      }
    }
  })

  test("calls 3.7: sorted by a path, missing values last in both directions, then in the table's order", async () => {
    const project = acme.newProject()
    const rows = [
      '{"a":{"b":10}}',
      '{"a":{"b":9.5}}',
      "{}",
      '{"a":{"b":"x"}}',
      '{"a":{"b":null}}',
      '{"a":{"b":10},"c":1}',
    ]
    const { digest } = await createTable(project, `[${rows.join(",")}]`)
    const sorted = async (direction: string, more: object = {}) =>
      (await query(project, digest, { sort_by: [{ field: "a.b", direction }], ...more })).map(
        (row) => row.original_index,
      )
    expect(await sorted("asc")).toEqual([1, 0, 5, 3, 2, 4])
    expect(await sorted("desc")).toEqual([0, 5, 1, 3, 2, 4])
    expect(await sorted("desc", { limit: 2, offset: 1 })).toEqual([5, 1])
    const { digest: keys } = await createTable(project, '[{"a.b":2,"l":[{"x":1}]},{"a.b":1,"l":[{"x":2}]}]')
    const by = async (field: string, direction: string) =>
      (await query(project, keys, { sort_by: [{ field, direction }] })).map((row) => row.original_index)
    expect([await by(String.raw`a\.b`, "asc"), await by("l.0.x", "desc")]).toEqual([
      [1, 0],
      [1, 0],
    ])
  })

  test.each(["", " ", ".a", "a.", "a..b"])("the sort field %j is 400", async (field) => {
    const project = acme.newProject()
    const { digest } = await createTable(project, "[{}]")
    const answer = await acme.post("/table/query", {
      project_id: project,
      digest,
      sort_by: [{ field, direction: "asc" }],
    })
    expect([answer.status, (answer.body as { error_type: string }).error_type]).toEqual([400, "InvalidRequest"])
  })

  test("an unknown table has no rows, no stats", async () => {
    const project = acme.newProject()
    const { digest } = await createTable(project, '[{"x":"é"}]')
    const unknown = "f".repeat(64)
    expect(await query(project, unknown)).toEqual([])
    const stats = await acme.post("/table/query_stats", { project_id: project, digest: unknown })
    expect([stats.status, (stats.body as { error_type: string }).error_type]).toEqual([404, "NotFoundError"])
    const batch = (more: object) => acme.post("/table/query_stats_batch", { project_id: project, ...more })
    expect((await batch({ digests: [unknown, digest] })).body).toEqual({
      tables: [{ digest, count: 1, storage_size_bytes: null }],
    })
    expect((await batch({ digests: [digest], include_storage_size: true })).body).toEqual({
      tables: [{ digest, count: 1, storage_size_bytes: 10 }],
    })
    expect((await batch({})).body).toEqual({ tables: [] })
  })

  test("refusals: rows that are no objects, negative pages, broken bodies", async () => {
    const project = acme.newProject()
    const post = async (path: string, body: unknown) => {
      const answer = await acme.post(path, body)
      return [answer.status, answer.body]
    }
    expect(await post("/table/create", `{"table":{"project_id":"${project}","rows":[{},1]}}`)).toEqual([
      422,
      { detail: [{ loc: ["body", "table", "rows", 1], msg: "Input should be a valid dictionary", type: "dict_type" }] },
    ])
    expect(await post("/table/create", { table: { project_id: project } })).toMatchObject([
      422,
      { detail: [{ loc: ["body", "table", "rows"], type: "missing" }] },
    ])
    expect((await post("/table/create", '{"table":{"rows":[{"a":01}]}}'))[0]).toBe(422)
    expect((await post("/table/query", { project_id: project, digest: "x", limit: -1 }))[0]).toBe(400)
    const large = `[{"x":"${"y".repeat(3.6 * 1024 * 1024)}"}]`
    expect((await post("/table/create", `{"table":{"project_id":"${project}","rows":${large}}}`))[0]).toBe(413)
  })
})

describe("calls 6.2: updates", () => {
  test("in their order, each on what the last one left", async () => {
    const project = acme.newProject()
    const { digest, row_digests } = await createTable(project, numbered(2))
    const answer = await update(project, digest, [
      { append: { row: { n: 2.5 } } },
      { pop: { index: 0 } },
      { insert: { index: 2, row: { n: 3 } } },
      { insert: { index: 0, row: { n: 1 } } },
    ])
    expect(answer.status).toBe(200)
    const { digest: updated, updated_row_digests } = answer.body as { digest: string; updated_row_digests: string[] }
    const rows = await query(project, updated)
    expect(rows.map((row) => row.val)).toEqual([{ n: 1 }, { n: 1 }, { n: 2.5 }, { n: 3 }])
    const [one, , half, three] = rows.map((row) => row.digest)
    expect(updated_row_digests).toEqual([half, row_digests[0], three, one])
    expect((await createTable(project, '[{"n":1},{"n":1},{"n":2.5},{"n":3}]')).digest).toBe(updated)
    expect(await query(project, digest)).toHaveLength(2)
  })

  test("a table of many requests begins empty, and its rows are appended", async () => {
    const project = acme.newProject()
    let { digest } = await createTable(project, "[]")
    for (const rows of [[{ n: 0 }, { n: 1 }], [{ n: 2 }]]) {
      const appended = await update(
        project,
        digest,
        rows.map((row) => ({ append: { row } })),
      )
      digest = (appended.body as { digest: string }).digest
    }
    expect(digest).toBe((await createTable(acme.newProject(), numbered(3))).digest)
    expect((await query(project, digest)).map((row) => row.val)).toEqual([{ n: 0 }, { n: 1 }, { n: 2 }])
  })

  test("an index that is not there is 400, an unknown table 404, an unknown update 422; nothing is made", async () => {
    const project = acme.newProject()
    const { digest } = await createTable(project, numbered(1))
    for (const change of [{ pop: { index: 1 } }, { pop: { index: -1 } }, { insert: { index: 2, row: {} } }]) {
      const answer = await update(project, digest, [change])
      expect([answer.status, answer.body]).toEqual([
        400,
        { reason: expect.stringMatching(/^Index out of range/), error_type: "ValueError" },
      ])
    }
    expect((await update(project, "f".repeat(64), [])).status).toBe(404)
    for (const updates of [[{ move: {} }], [{ append: {} }], [{ append: { row: [] } }], "x"]) {
      expect((await update(project, digest, updates)).status).toBe(422)
    }
  })
})

describe("calls 6.2: tables from digests", () => {
  const fromDigests = (project_id: string, row_digests: unknown, more: object = {}) =>
    acme.post("/table/create_from_digests", { project_id, row_digests, ...more })

  test("join the rows of other tables, in any order", async () => {
    const project = acme.newProject()
    const [left, right] = [await createTable(project, '[{"a":1},{"a":2}]'), await createTable(project, '[{"a":3}]')]
    const joined = await createTable(project, '[{"a":3},{"a":1},{"a":2}]')
    const digests = [...right.row_digests, ...left.row_digests]
    expect((await fromDigests(project, digests, { expected_digest: joined.digest })).body).toEqual({
      digest: joined.digest,
    })
    expect((await query(project, joined.digest)).map((row) => row.val)).toEqual([{ a: 3 }, { a: 1 }, { a: 2 }])
    expect((await fromDigests(project, digests, { expected_digest: "x" })).status).toBe(409)
  })

  test("calls 1.4: the probe is never answered 404, unknown rows are left out of reads", async () => {
    const project = acme.newProject()
    expect((await fromDigests(project, [])).status).toBe(200)
    const answer = await fromDigests(project, ["x".repeat(43)])
    expect(answer.status).toBe(200)
    expect(await query(project, (answer.body as { digest: string }).digest)).toEqual([])
    expect((await fromDigests(project, null)).status).toBe(422)
    expect((await fromDigests("acme", [])).status).toBe(400)
    expect((await fromDigests("nobody/x", [])).status).toBe(403)
  })

  test("a table or a row that comes after its page was read is in the same page then", async () => {
    const project = acme.newProject()
    const { row_digests } = await createTable(acme.newProject(), numbered(40))
    const some = await createTable(project, numbered(20))
    const { digest } = await createTable(acme.newProject(), numbered(40))
    const pages = async () => {
      const read: unknown[] = []
      for (let offset = 0; offset < 40; offset += 5) {
        read.push(...(await query(project, digest, { limit: 5, offset })).map((row) => row.original_index))
      }
      return read
    }
    await createTable(project, "[]")
    expect(await pages()).toEqual([])
    expect((await fromDigests(project, row_digests)).body).toEqual({ digest })
    expect(some.row_digests).toEqual(row_digests.slice(0, 20))
    expect(await pages()).toEqual(Array.from({ length: 20 }, (_, n) => n))
    await createTable(project, numbered(40))
    expect(await pages()).toEqual(Array.from({ length: 40 }, (_, n) => n))
  })
})

test("security 5.3: the same rows in two projects are two tables, and another team's are not there", async () => {
  const { rival } = opened
  const [mine, theirs] = [acme.newProject(), rival.newProject()]
  const { digest } = await createTable(mine, '[{"secret":1}]')
  await createTable(theirs, "[]", rival)
  const read = (project_id: string) => rival.post("/table/query", { project_id, digest })
  expect((await read(mine)).status).toBe(403)
  expect((await read(theirs)).body).toEqual({ rows: [] })
  expect((await rival.post("/table/query_stats", { project_id: theirs, digest })).status).toBe(404)
  expect((await rival.post("/table/update", { project_id: theirs, base_digest: digest, updates: [] })).status).toBe(404)
  const joined = await rival.post("/table/create_from_digests", {
    project_id: theirs,
    row_digests: (await query(mine, digest)).map((row) => row.digest),
  })
  expect(joined.body).toEqual({ digest })
  expect((await read(theirs)).body).toEqual({ rows: [] })
  expect(await query(mine, digest, { limit: 1 })).toHaveLength(1)
  expect((await rival.post("/table/query", { project_id: theirs, digest, limit: 1 })).body).toEqual({ rows: [] })
})

test("law 1: tables are there after a restart", async () => {
  const project = acme.newProject()
  const { digest } = await createTable(project, numbered(5))
  await opened.restart()
  expect((await query(project, digest)).map((row) => row.val)).toEqual([
    { n: 0 },
    { n: 1 },
    { n: 2 },
    { n: 3 },
    { n: 4 },
  ])
})
