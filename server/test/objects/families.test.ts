/** `/v2` families of objects through the public surface: evaluation-store-objects 2.1, 2.2 and 7. */
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { type EvaluationApp, type EvaluationCaller, openEvaluationApp } from "../support/evaluation-app.ts"

let opened: EvaluationApp
let acme: EvaluationCaller
beforeAll(async () => {
  opened = await openEvaluationApp()
  acme = opened.acme
})
afterAll(() => opened.close())

const create = (project: string, kind: string, body: unknown) => acme.post(`/v2/${project}/${kind}`, body)

interface Created {
  object_id: string
  digest: string
  version_index: number
}

async function made(project: string, kind: string, body: unknown): Promise<Created> {
  const answer = await create(project, kind, body)
  expect([answer.status, answer.text]).toEqual([200, answer.text])
  return answer.body as Created
}

const at = (project: string, kind: string, objectId: string, version: string) =>
  `/v2/${project}/${kind}/${encodeURIComponent(objectId)}/versions/${encodeURIComponent(version)}`

async function read(project: string, kind: string, objectId: string, version = "latest") {
  const answer = await acme.get(at(project, kind, objectId, version))
  expect([answer.status, answer.text]).toEqual([200, answer.text])
  return answer.body as Record<string, unknown>
}

async function list(project: string, kind: string, query = "") {
  const answer = await acme.get(`/v2/${project}/${kind}${query}`)
  expect([answer.status, answer.headers["content-type"]]).toEqual([200, "application/jsonl"])
  return answer.text.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line) as Record<string, unknown>]))
}

const brief = (one: Record<string, unknown>) => `${String(one["object_id"])}:v${String(one["version_index"])}`

const value = async (project_id: string, object_id: string, digest: string) =>
  ((await acme.post("/obj/read", { project_id, object_id, digest })).body as { obj: { val: unknown } }).obj.val

test.each([
  ["models", { name: "m", source_code: "x", attributes: { client: "KEY" } }],
  ["ops", { name: "o", source_code: "client = KEY" }],
])("objects 3.1: the key of the request is not published with its object, among %s", async (kind, body) => {
  const project = acme.newProject()
  const text = JSON.stringify(body).replaceAll("KEY", acme.key)
  const { object_id } = await made(project, kind, JSON.parse(text))
  const shown = await acme.get(at(project, kind, object_id, "latest"))
  expect(shown.text).toContain("*".repeat(acme.key.length))
  expect(shown.text).not.toContain(acme.key)
})

describe("objects 2.1, 7: datasets", () => {
  test("a dataset is a table under a name, with the SDK's digest", async () => {
    const project = acme.newProject()
    const rows = '[{"n":1.0,"big":12345678901234567890123},{"n":1.0,"big":12345678901234567890123},{}]'
    const body = `{"name":"My Data/Set","description":"two","rows":${rows}}`
    const first = await made(project, "datasets", body)
    expect(first).toEqual({ object_id: "my_data_set", digest: expect.stringMatching(/^\w{43}$/), version_index: 0 })
    expect(await made(project, "datasets", body)).toEqual(first)
    const shown = await read(project, "datasets", "my_data_set", "v0")
    expect(shown).toEqual({
      ...first,
      created_at: expect.stringMatching(/^\d{4}-.*Z$/),
      name: "My Data/Set",
      description: "two",
      rows: expect.stringMatching(new RegExp(`^weave:///${project}/table/[0-9a-f]{64}$`)),
    })
    const digest = String(shown["rows"]).split("/").at(-1)
    const table = await acme.post("/table/query", { project_id: project, digest })
    expect(table.text).toContain('"val":{"n":1.0,"big":12345678901234567890123},"original_index":1')
    const val = { name: "My Data/Set", description: "two", rows: shown["rows"] }
    const bases = { _type: "Dataset", _class_name: "Dataset", _bases: ["Object", "BaseModel"] }
    expect(await value(project, "my_data_set", first.digest)).toEqual({ ...val, ...bases })
    const published = await acme.post("/obj/create", {
      obj: { project_id: project, object_id: "my_data_set", val: { ...bases, ...val } },
    })
    expect(published.body).toEqual({ object_id: "my_data_set", digest: first.digest })
  })

  test("without a name it is called Dataset; rows may be none", async () => {
    const project = acme.newProject()
    expect(await made(project, "datasets", { rows: [], name: null })).toMatchObject({ object_id: "Dataset" })
    expect(await read(project, "datasets", "Dataset")).toMatchObject({ name: "Dataset", description: null })
  })

  test.each([
    ['{"rows":{}}', ["body", "rows"]],
    ['{"rows":[{},1]}', ["body", "rows", 1]],
    ['{"name":"x"}', ["body", "rows"]],
    ['{"rows":[],"name":1}', ["body", "name"]],
  ])("%s is 422 at its place", async (body, loc) => {
    const answer = await create(acme.newProject(), "datasets", body)
    expect([answer.status, (answer.body as { detail: { loc: unknown }[] }).detail[0]?.loc]).toEqual([422, loc])
  })

  test("2.1: the list has every live version in the order of publication, in pages", async () => {
    const project = acme.newProject()
    for (const [name, n] of [
      ["b", 1],
      ["a", 1],
      ["b", 2],
      ["c", 1],
    ] as const) {
      await made(project, "datasets", { name, rows: [{ n }] })
    }
    await made(project, "models", { name: "m", source_code: "x = 1" })
    await acme.post("/obj/create", {
      obj: {
        project_id: project,
        object_id: "nameless",
        // A user's subclass of Dataset.
        val: { _class_name: "Golden", _bases: ["Dataset", "Object", "BaseModel"], rows: "weave:///a/b/table/c" },
      },
    })
    expect((await list(project, "datasets")).map(brief)).toEqual(["b:v0", "a:v0", "b:v1", "c:v0", "nameless:v0"])
    expect((await list(project, "datasets", "?limit=2&offset=1")).map(brief)).toEqual(["a:v0", "b:v1"])
    expect((await list(project, "datasets", "?limit=&offset=3")).map(brief)).toEqual(["c:v0", "nameless:v0"])
    expect((await list(project, "datasets", "?limit=0")).map(brief)).toEqual([])
    expect((await list(project, "datasets")).at(-1)).toMatchObject({ name: "nameless", rows: "weave:///a/b/table/c" })
    const gone = await acme.delete(`/v2/${project}/datasets/b?digests=v0`)
    expect([gone.status, gone.body]).toEqual([200, { num_deleted: 1 }])
    expect((await list(project, "datasets")).map(brief)).toEqual(["a:v0", "b:v1", "c:v0", "nameless:v0"])
    for (const query of ["?limit=-1", "?offset=-1"]) {
      expect((await acme.get(`/v2/${project}/datasets${query}`)).status).toBe(400)
    }
    expect((await acme.get(`/v2/${project}/datasets?limit=x`)).status).toBe(422)
  })

  test("U+2028 and its kin are escaped in the lines", async () => {
    const project = acme.newProject()
    await made(project, "datasets", { name: "x", description: "a\u2028b\u0085c", rows: [] })
    const { text } = await acme.get(`/v2/${project}/datasets`)
    expect(text).toContain("a\\u2028b\\u0085c")
    expect((await list(project, "datasets"))[0]).toMatchObject({ description: "a\u2028b\u0085c" })
  })
})

describe("objects 2.2, 7: models", () => {
  const source = "import weave\n\nclass Model(weave.Model):\n    '''é😀'''\n"

  test("2.2: source code goes to a file, attributes beside the fields and come back as spelled", async () => {
    const project = acme.newProject()
    const body = `{"name":"Sentiment <v>","description":"d","source_code":${JSON.stringify(source)},"attributes": { "t": 1.0, "2": 12345678901234567890123, "1": {"deep":[1e5]} } }`
    const first = await made(project, "models", body)
    expect(first).toEqual({
      object_id: "sentiment_v",
      digest: expect.stringMatching(/^\w{43}$/),
      version_index: 0,
      model_ref: `weave:///${project}/object/sentiment_v:${first.digest}`,
    })
    expect(await made(project, "models", body)).toEqual(first)
    const answer = await acme.get(at(project, "models", "sentiment_v", first.digest))
    expect(answer.text).toContain('"attributes":{"t":1.0,"2":12345678901234567890123,"1":{"deep":[1e5]}}')
    expect(answer.body).toMatchObject({
      name: "Sentiment <v>",
      description: "d",
      source_code: source,
      version_index: 0,
    })
    const val = (await value(project, "sentiment_v", "latest")) as { files: { "obj.py": string } }
    expect(val).toMatchObject({ _type: "Model", _class_name: "Model", _bases: ["Object", "BaseModel"], t: 1 })
    const file = await acme.post("/file/content", { project_id: project, digest: val.files["obj.py"] })
    expect(file.text).toBe(source)
    expect(await made(project, "models", { name: "sentiment_v", source_code: source })).toMatchObject({
      version_index: 1,
    })
    expect(await read(project, "models", "sentiment_v")).toMatchObject({ attributes: null, description: null })
    expect((await list(project, "models")).map(brief)).toEqual(["sentiment_v:v0", "sentiment_v:v1"])
  })

  test.each(["_type", "_class_name", "_bases", "name", "description", "files"])(
    "2.2: the attribute %s is 422, and nothing is stored",
    async (name) => {
      const project = acme.newProject()
      const answer = await create(project, "models", {
        name: "m",
        source_code: source,
        attributes: { x: 1, [name]: 1 },
      })
      expect([answer.status, answer.body]).toEqual([
        422,
        { detail: [{ loc: ["body", "attributes", name], msg: expect.stringContaining(name), type: "value_error" }] },
      ])
      expect((await acme.get(`/v2/${project}/models`)).status).toBe(403)
    },
  )

  test.each([[""], ["   "], ["\t"], ["a:b"], ["x".repeat(129)], ["é€"]])(
    "2.2: the name %j is 422 InvalidFieldError",
    async (name) => {
      const answer = await create(acme.newProject(), "models", { name, source_code: source })
      expect([answer.status, answer.body]).toEqual([
        422,
        { reason: expect.any(String), error_type: "InvalidFieldError" },
      ])
    },
  )

  test("2.2, 3.1: a name of another class is 400", async () => {
    const project = acme.newProject()
    await made(project, "datasets", { name: "taken", rows: [] })
    const answer = await create(project, "models", { name: "Taken", source_code: source })
    expect([answer.status, answer.body]).toMatchObject([
      400,
      { error_type: "ObjectNameTypeCollision", object_id: "taken", existing_base_object_classes: ["Dataset"] },
    ])
  })

  test("law 4: a refused evaluation or scorer leaves no ops of its own behind", async () => {
    const project = acme.newProject()
    const dataset = `weave:///${project}/object/taken:v0`
    await made(project, "datasets", { name: "taken", rows: [] })
    const large = { a: "x".repeat(3.5 * 1024 * 1024) }
    const internal = "weave-trace-internal:///nobody/object/d:v0"
    const answers = [
      await create(project, "evaluations", { name: "Taken", dataset }),
      await create(project, "evaluations", { name: "large", dataset, eval_attributes: large }),
      await create(project, "evaluations", { name: "foreign", dataset: internal }),
      await create(project, "scorers", { name: "Taken", op_source_code: "x = 1" }),
    ]
    expect(answers.map(({ status }) => status)).toEqual([400, 413, 400, 400])
    expect(await list(project, "ops")).toEqual([])
  })

  test.each([
    ["models", { name: "m" }, ["source_code"]],
    ["models", { source_code: "x" }, ["name"]],
    ["models", { name: "m", source_code: "x", attributes: [] }, ["attributes"]],
    ["models", { name: "m", source_code: "\ud800" }, ["source_code"]],
    ["ops", { name: 1 }, ["name"]],
    ["scorers", { name: "s" }, ["op_source_code"]],
    ["scorers", { op_source_code: "x" }, ["name"]],
    ["evaluations", { name: "e" }, ["dataset"]],
    ["evaluations", { dataset: "d" }, ["name"]],
    ["evaluations", { name: "e", dataset: "d", scorers: [1] }, ["scorers", 0]],
    ["evaluations", { name: "e", dataset: "d", trials: 1.5 }, ["trials"]],
  ])("2.2, 7: %s of %j is 422 at %j", async (kind, body, place) => {
    const answer = await create(acme.newProject(), kind, body)
    expect([answer.status, answer.body]).toMatchObject([422, { detail: [{ loc: ["body", ...place] }] }])
  })

  test("a model that the SDK published without a file has no source code", async () => {
    const project = acme.newProject()
    const val = { _class_name: "M", _bases: ["Model", "Object", "BaseModel"], predict: "weave:///a/b/op/p:x", n: 1 }
    await acme.post("/obj/create", { obj: { project_id: project, object_id: "m", val } })
    expect(await read(project, "models", "m")).toMatchObject({
      name: "m",
      source_code: "",
      attributes: { predict: "weave:///a/b/op/p:x", n: 1 },
    })
  })
})

describe("objects 7: ops", () => {
  test("an op is its code; without any it says that there is none", async () => {
    const project = acme.newProject()
    const first = await made(project, "ops", { name: "Double It", source_code: "def f(): ...\n" })
    expect(first).toEqual({ object_id: "double_it", digest: expect.stringMatching(/^\w{43}$/), version_index: 0 })
    expect(await value(project, "double_it", "latest")).toEqual({
      _type: "CustomWeaveType",
      weave_type: { type: "Op" },
      files: { "obj.py": expect.stringMatching(/^\w{43}$/) },
    })
    expect(await read(project, "ops", "double_it", first.digest)).toEqual({
      ...first,
      created_at: expect.any(String),
      code: "def f(): ...\n",
    })
    expect(await made(project, "ops", {})).toMatchObject({ object_id: "Op" })
    expect(await read(project, "ops", "Op")).toMatchObject({ code: expect.stringContaining("NotImplementedError") })
    expect((await list(project, "ops")).map(brief)).toEqual(["double_it:v0", "Op:v0"])
  })

  test("with a limit or offset they come by name, the newest version first", async () => {
    const project = acme.newProject()
    for (const [name, code] of [
      ["b", "1"],
      ["a", "1"],
      ["a", "2"],
    ] as const) {
      await made(project, "ops", { name, source_code: code })
    }
    expect((await list(project, "ops")).map(brief)).toEqual(["b:v0", "a:v0", "a:v1"])
    expect((await list(project, "ops", "?limit=2")).map(brief)).toEqual(["a:v1", "a:v0"])
    expect((await list(project, "ops", "?offset=2")).map(brief)).toEqual(["b:v0"])
  })

  test("an object of the same name is another thing", async () => {
    const project = acme.newProject()
    await made(project, "ops", { name: "same", source_code: "op" })
    const data = await made(project, "datasets", { name: "same", rows: [] })
    expect(await read(project, "ops", "same")).toMatchObject({ code: "op" })
    expect(await read(project, "datasets", "same")).toMatchObject({ digest: data.digest })
    for (const [kind, digest] of [
      ["ops", data.digest],
      ["models", "latest"],
      ["scorers", data.digest],
    ] as const) {
      const answer = await acme.get(at(project, kind, "same", digest))
      expect([kind, answer.status, answer.body]).toMatchObject([kind, 404, { error_type: "NotFoundError" }])
    }
    expect((await acme.delete(`/v2/${project}/models/same`)).status).toBe(404)
    expect((await acme.delete(`/v2/${project}/models/same?digests=${data.digest}`)).status).toBe(404)
    expect((await acme.delete(`/v2/${project}/ops/same`)).body).toEqual({ num_deleted: 1 })
    expect(await read(project, "datasets", "same")).toMatchObject({ digest: data.digest })
  })
})

describe("objects 7: scorers and evaluations", () => {
  test("a scorer publishes the ops that it names by full refs", async () => {
    const project = acme.newProject()
    const first = await made(project, "scorers", { name: "Exact", op_source_code: "def score(): ..." })
    expect(first).toEqual({
      object_id: "exact",
      digest: expect.any(String),
      version_index: 0,
      scorer: `weave:///${project}/object/exact:${first.digest}`,
    })
    const score = await read(project, "ops", "exact_score")
    expect(score["code"]).toBe("def score(): ...")
    expect(await read(project, "ops", "exact_summarize")).toMatchObject({
      code: expect.stringContaining("auto_summarize"),
    })
    const shown = await read(project, "scorers", "exact")
    expect(shown).toEqual({
      object_id: "exact",
      digest: first.digest,
      version_index: 0,
      created_at: expect.any(String),
      name: "Exact",
      description: null,
      score_op: `weave:///${project}/op/exact_score:${String(score["digest"])}`,
    })
    expect((await list(project, "scorers")).map(brief)).toEqual(["exact:v0"])
    expect((await acme.post("/refs/read_batch", { refs: [shown["score_op"]] })).body).toMatchObject({
      vals: [{ weave_type: { type: "Op" } }],
    })
  })

  test("an evaluation publishes its three ops, and its attributes beside the fields", async () => {
    const project = acme.newProject()
    const { digest } = await made(project, "datasets", { name: "d", rows: [{ a: 1 }] })
    const dataset = `weave:///${project}/object/d:${digest}`
    const scorers = ["weave:///x/y/object/s:1"]
    const text = JSON.stringify({ name: "Ev", dataset, scorers, trials: 3, evaluation_name: "run" })
    const first = await made(project, "evaluations", `${text.slice(0, -1)},"eval_attributes":{"t":1.0}}`)
    expect(first).toMatchObject({ evaluation_ref: `weave:///${project}/object/ev:${first.digest}`, version_index: 0 })
    const shown = await read(project, "evaluations", "ev")
    expect(shown).toEqual({
      object_id: "ev",
      digest: first.digest,
      version_index: 0,
      created_at: expect.any(String),
      name: "Ev",
      description: null,
      dataset,
      scorers,
      trials: 3,
      evaluation_name: "run",
      evaluate_op: expect.stringMatching(/\/op\/ev\.evaluate:\w{43}$/),
      predict_and_score_op: expect.stringMatching(/\/op\/ev\.predict_and_score:\w{43}$/),
      summarize_op: expect.stringMatching(/\/op\/ev\.summarize:\w{43}$/),
    })
    const raw = await acme.post("/obj/read", { project_id: project, object_id: "ev", digest: "latest" })
    expect(raw.text).toContain('"t":1.0')
    expect((await list(project, "evaluations"))[0]).toEqual(shown)
    const plain = await made(project, "evaluations", { name: "Plain", dataset, scorers: null })
    expect(await read(project, "evaluations", "plain")).toMatchObject({ scorers: [], trials: 1, digest: plain.digest })
    const clash = await create(project, "evaluations", { name: "x", dataset, eval_attributes: { dataset: 1 } })
    expect([clash.status, clash.body]).toMatchObject([
      422,
      { detail: [{ loc: ["body", "eval_attributes", "dataset"] }] },
    ])
  })
})

describe("objects 7, 3.2, 3.4: versions by name", () => {
  test("read by alias; a deleted one says so; deletion by several names or of all", async () => {
    const project = acme.newProject()
    const digests: string[] = []
    for (let n = 0; n < 5; n++) digests.push((await made(project, "datasets", { name: "d", rows: [{ n }] })).digest)
    await acme.put("/objs/d/aliases", { project_id: project, digest: digests[3], aliases: ["gold one"] })
    expect(await read(project, "datasets", "d", "gold one")).toMatchObject({ version_index: 3 })
    const remove = (query: string) => acme.delete(`/v2/${project}/datasets/d${query}`)
    expect((await remove(`?digests=${digests[0]}&digests=v1`)).body).toEqual({ num_deleted: 2 })
    expect((await remove(`?digests=v2,${encodeURIComponent("gold one")}`)).body).toEqual({ num_deleted: 2 })
    const gone = await acme.get(at(project, "datasets", "d", "v0"))
    expect([gone.status, gone.body]).toMatchObject([
      404,
      { error_type: "ObjectDeletedError", deleted_at: expect.any(String) },
    ])
    expect((await remove("?digests=v4,v0")).status).toBe(404)
    expect((await remove("")).body).toEqual({ num_deleted: 1 })
    expect((await remove("")).status).toBe(404)
    expect((await remove(`?digests=${Array.from({ length: 101 }, (_, n) => `v${n}`).join(",")}`)).status).toBe(400)
    expect((await acme.get(at(project, "datasets", "nothing", "latest"))).status).toBe(404)
  })

  test("security 5.3: another team's are 403", async () => {
    const project = acme.newProject()
    await made(project, "datasets", { name: "d", rows: [] })
    const { rival } = opened
    for (const answer of [
      await rival.get(`/v2/${project}/datasets`),
      await rival.get(at(project, "datasets", "d", "latest")),
      await rival.delete(`/v2/${project}/datasets/d`),
      await rival.post(`/v2/${project}/datasets`, { name: "d", rows: [] }),
      await rival.post(`/v2/${project}/models`, { name: "m", source_code: "" }),
      await rival.post(`/v2/${project}/ops`, {}),
      await rival.post(`/v2/${project}/scorers`, { name: "s", op_source_code: "" }),
      await rival.post(`/v2/${project}/evaluations`, { name: "e", dataset: "d" }),
    ]) {
      expect([answer.status, answer.body]).toEqual([403, { detail: "Project not found" }])
    }
    expect((await list(project, "datasets")).map(brief)).toEqual(["d:v0"])
    expect((await acme.get(`/v2/${acme.newProject()}/models`)).status).toBe(403)
  })

  test("a list longer than one batch is whole", async () => {
    const project = acme.newProject()
    for (let n = 0; n < 70; n++) await made(project, "ops", { name: "o", source_code: `x = ${n}` })
    const all = await list(project, "ops")
    expect(all.map((one) => one["code"])).toEqual(Array.from({ length: 70 }, (_, n) => `x = ${n}`))
  })
})
