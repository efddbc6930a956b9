/** Objects and their versions through the public surface: evaluation-store-objects 3 and 13. */
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { type EvaluationApp, type EvaluationCaller, openEvaluationApp } from "../support/evaluation-app.ts"
import { objectList, objectRead } from "../../src/wire/objects/object.ts"

let opened: EvaluationApp
let acme: EvaluationCaller
beforeAll(async () => {
  opened = await openEvaluationApp()
  acme = opened.acme
})
afterAll(() => opened.close())

interface Version {
  digest: string
  version_index: number
  is_latest: number
  object_id: string
  val: unknown
}

/** Publishes an object whose value is the JSON text `val`; returns its digest. */
async function publish(project: string, name: string, val: string, more = ""): Promise<string> {
  const answer = await acme.post(
    "/obj/create",
    `{"obj":{"project_id":"${project}","object_id":"${name}","val":${val}${more}}}`,
  )
  expect([answer.status, answer.text]).toEqual([200, answer.text])
  const { digest, object_id } = answer.body as { digest: string; object_id: string }
  expect(object_id).toBe(name)
  return digest
}

const create = (project_id: string, object_id: unknown, val: unknown, more: object = {}) =>
  acme.post("/obj/create", { obj: { project_id, object_id, val, ...more } })

const read = (project_id: string, object_id: string, digest: string, more: object = {}) =>
  acme.post("/obj/read", { project_id, object_id, digest, ...more })

async function version(project: string, name: string, digest: string): Promise<Version> {
  const answer = await read(project, name, digest)
  expect(answer.status).toBe(200)
  return objectRead.parse(answer.body).obj
}

async function list(project_id: string, more: object = {}): Promise<Version[]> {
  const answer = await acme.post("/objs/query", { project_id, ...more })
  expect(answer.status).toBe(200)
  return objectList.parse(answer.body).objs
}

const brief = ({ object_id, version_index, is_latest }: Version) =>
  `${object_id}:v${version_index}${is_latest ? " latest" : ""}`

const model = (name: string, base: string) => ({
  _type: name,
  _class_name: name,
  _bases: [base, "Object", "BaseModel"],
})

test("objects 3.1: the key of the request is not published with its object", async () => {
  const project = acme.newProject()
  const digest = await publish(
    project,
    "model",
    JSON.stringify({ client: { options: { apiKey: acme.key } }, prompt: "x" }),
  )
  const stars = "*".repeat(acme.key.length)
  const { val } = await version(project, "model", digest)
  expect(val).toEqual({ client: { options: { apiKey: stars } }, prompt: "x" })
  expect(await publish(project, "model", JSON.stringify(val))).toBe(digest)
})

describe("objects 3.1, 3.2: publishing and reading", () => {
  test("objects 13: the digest is Python's, and the value comes back as it was spelled", async () => {
    const project = acme.newProject()
    const val = String.raw`{"b": 1.0, "a": [12345678901234567890123, 1e5, "é\u0000 ", {"2":0,"1":0}], "_x": null}`
    const digest = await publish(project, "lossless", val)
    expect(digest).toBe("4VXuUSe3X262l3bjPevvIyXyTXi0CzF558WTfE95mP8")
    const answer = await read(project, "lossless", digest)
    expect(answer.text).toContain(`"val":${val}`)
    expect(objectRead.parse(answer.body).obj).toMatchObject({
      project_id: project,
      object_id: "lossless",
      digest,
      version_index: 0,
      is_latest: 1,
      kind: "object",
      base_object_class: null,
      leaf_object_class: null,
      deleted_at: null,
      size_bytes: null,
      tags: null,
      aliases: null,
    })
  })

  test("latest, vN and the digest name a version; anything else is 404", async () => {
    const project = acme.newProject()
    const first = await publish(project, "named", "1")
    const second = await publish(project, "named", "2")
    expect(first).toBe("a4aycY80YOGda4BOY1oYV0etpOqiLx1JwB5S3beHW0s")
    expect(await version(project, "named", "v0")).toMatchObject({ digest: first, is_latest: 0 })
    expect(await version(project, "named", first)).toMatchObject({ version_index: 0 })
    expect(await version(project, "named", "latest")).toMatchObject({ digest: second, version_index: 1, is_latest: 1 })
    for (const digest of ["v2", "v-1", "nothing", "x".repeat(43)]) {
      const missing = await read(project, "named", digest)
      expect([digest, missing.status, missing.body]).toEqual([
        digest,
        404,
        { reason: `Obj named:${digest} not found`, error_type: "NotFoundError" },
      ])
    }
  })

  test("metadata_only leaves the value out, include_tags_and_aliases names the latest", async () => {
    const project = acme.newProject()
    const digest = await publish(project, "meta", '{"x":1}')
    const { obj } = (await read(project, "meta", digest, { metadata_only: true, include_tags_and_aliases: true }))
      .body as {
      obj: Version & { tags: unknown; aliases: unknown }
    }
    expect([obj.val, obj.tags, obj.aliases]).toEqual([{}, [], ["latest"]])
  })

  test("content published again is no new version, but the latest again", async () => {
    const project = acme.newProject()
    const first = await publish(project, "again", '{"a":1,"b":2}')
    await publish(project, "again", '{"a":2}')
    expect(await publish(project, "again", '{"b":2,"a":1}')).toBe(first)
    expect((await list(project)).map(brief)).toEqual(["again:v0 latest", "again:v1"])
    await publish(project, "again", '{"a":3}')
    expect((await list(project)).map(brief)).toEqual(["again:v0", "again:v1", "again:v2 latest"])
  })

  test("versions are numbered by name and kind, under one name at once", async () => {
    const project = acme.newProject()
    const values = Array.from({ length: 12 }, (_, index) => index)
    await Promise.all(values.map((value) => publish(project, "race", String(value))))
    const versions = await list(project, { filter: { object_ids: ["race"] } })
    expect(versions.map((one) => one.version_index).toSorted((a, b) => a - b)).toEqual(values)
    expect(versions.filter((one) => one.is_latest === 1)).toHaveLength(1)
    await publish(project, "other", "0")
    await publish(project, "race", '{"_type":"CustomWeaveType","weave_type":{"type":"Op"},"files":{"obj.py":"x"}}')
    expect((await list(project, { filter: { is_op: true } })).map(brief)).toEqual(["race:v0 latest"])
    expect((await list(project, { filter: { object_ids: ["other"] } })).map(brief)).toEqual(["other:v0 latest"])
  })

  test("classes come from _bases", async () => {
    const project = acme.newProject()
    const classesOf = async (name: string, val: object) => {
      const { base_object_class, leaf_object_class } = (await version(
        project,
        name,
        await publish(project, name, JSON.stringify(val)),
      )) as unknown as Record<string, unknown>
      return [base_object_class, leaf_object_class]
    }
    const bases = (...names: string[]) => ({ _class_name: "Leaf", _bases: names })
    expect(await classesOf("a", bases("Middle", "Model", "Object", "BaseModel"))).toEqual(["Model", "Leaf"])
    expect(await classesOf("b", bases("Object", "BaseModel"))).toEqual(["Leaf", "Leaf"])
    expect(await classesOf("c", bases("BaseObject", "BaseModel"))).toEqual(["Leaf", "Leaf"])
    expect(await classesOf("d", bases("BaseModel"))).toEqual([null, null])
    expect(await classesOf("e", bases("Object"))).toEqual([null, null])
    expect(await classesOf("f", { _bases: ["Object", "BaseModel"] })).toEqual([null, null])
  })

  test("a live name keeps its class", async () => {
    const project = acme.newProject()
    const digest = await publish(project, "bound", JSON.stringify({ ...model("A", "Model"), name: "x" }))
    const clash = await create(project, "bound", { ...model("B", "Dataset"), name: "My data" })
    expect(clash.status).toBe(400)
    expect(clash.body).toMatchObject({
      error_type: "ObjectNameTypeCollision",
      object_id: "bound",
      kind: "object",
      new_base_object_class: "Dataset",
      existing_base_object_classes: ["Model"],
      object_name: "My data",
    })
    const deleted = await acme.post("/obj/delete", { project_id: project, object_id: "bound", digests: [digest] })
    expect([deleted.status, deleted.body]).toEqual([
      200,
      { num_deleted: 1, deleted_versions: [{ digest, base_object_class: "Model", leaf_object_class: "A" }] },
    ])
    await publish(project, "bound", JSON.stringify(model("B", "Dataset")))
    const revived = await create(project, "bound", { ...model("A", "Model"), name: "x" })
    expect([revived.status, revived.body]).toMatchObject([400, { existing_base_object_classes: ["Dataset"] }])
    expect((await list(project)).map(brief)).toEqual(["bound:v1 latest"])
  })

  test("objects 3.1: a value whose class is a ref to another version's is of that class", async () => {
    const project = acme.newProject()
    const ownBase = (name: string, n: number) => ({ _class_name: name, _bases: ["Object", "BaseModel"], n })
    const again = (at: string, n: number) => ownBase(`weave:///${at}/attr/_class_name`, n)
    const first = await publish(project, "edited", JSON.stringify(ownBase("A", 1)))
    const second = await publish(project, "edited", JSON.stringify(again(`${project}/object/edited:${first}`, 2)))
    await publish(project, "edited", JSON.stringify(again(`${project}/object/edited:${second}`, 3)))
    await publish(
      project,
      "derived",
      JSON.stringify(model(`weave:///${project}/object/edited:v0/attr/_class_name`, "M")),
    )
    const classes = (await list(project)).map((one) => {
      const { base_object_class, leaf_object_class } = one as unknown as Record<string, unknown>
      return [one.object_id, base_object_class, leaf_object_class]
    })
    expect(classes).toEqual([
      ["edited", "A", "A"],
      ["edited", "A", "A"],
      ["edited", "A", "A"],
      ["derived", "M", "A"],
    ])
    const stranger = again(`${opened.rival.newProject()}/object/edited:${first}`, 4)
    expect((await create(project, "edited", stranger)).status).toBe(400)
  })

  test("objects 3.1, 13: NaN and Infinity are hashed as Python prints them, and read as null", async () => {
    const project = acme.newProject()
    const digest = await publish(project, "odd", '{"a":[NaN,-Infinity]}')
    expect(digest).toBe("fwLjAAenGjjbYt9dY7amspnUpV06M9fcNLlebamrs3E")
    expect((await version(project, "odd", digest)).val).toEqual({ a: [null, null] })
  })

  test("builtin_object_class completes the value, also under its old name", async () => {
    const project = acme.newProject()
    for (const field of ["builtin_object_class", "set_base_object_class"]) {
      const digest = await publish(project, "spec", '{"field_schema":{"maximum":1.50}}', `,"${field}":"AnnotationSpec"`)
      const answer = await read(project, "spec", digest)
      expect(answer.text).toContain('"field_schema":{"maximum":1.50},"unique_among_creators":false,"op_scope":null')
      expect(answer.body).toMatchObject({
        obj: { base_object_class: "AnnotationSpec", leaf_object_class: "AnnotationSpec" },
      })
    }
    const { val, digest: known } = await version(project, "spec", "latest")
    const whole = await create(project, "spec", val, { builtin_object_class: "AnnotationSpec" })
    expect(whole.body).toEqual({ object_id: "spec", digest: known })
    const refusals = [
      await create(project, "x", [1], { builtin_object_class: "AnnotationSpec" }),
      await create(project, "x", model("A", "Model"), { builtin_object_class: "AnnotationSpec" }),
      await create(project, "x", {}, { builtin_object_class: "Nothing" }),
    ]
    expect(refusals.map((answer) => [answer.status, (answer.body as { error_type: string }).error_type])).toEqual([
      [400, "ValueError"],
      [400, "ValueError"],
      [400, "ValueError"],
    ])
  })
})

describe("objects 3.1: refusals", () => {
  test.each([
    ["1e400", "1e400"],
    ["-1e400", "-1e400"],
    ["400 digits", "9".repeat(400)],
  ])("%s, which no double holds, is no number of a builtin class", async (_what, number) => {
    const project = acme.newProject()
    const val = `{"llm_model_id":"x","default_params":{"temperature":${number}}}`
    const more = '"object_id":"m","builtin_object_class":"LLMStructuredCompletionModel"'
    const answer = await acme.post("/obj/create", `{"obj":{"project_id":"${project}",${more},"val":${val}}}`)
    expect([answer.status, answer.text]).toEqual([400, expect.stringContaining("default_params.temperature")])
  })

  test.each(["", "a/b", "a:b", "a b", "é€", "x".repeat(129)])("object_id %j is 422 InvalidFieldError", async (name) => {
    const answer = await create(acme.newProject(), name, 1)
    expect([answer.status, (answer.body as { error_type: string }).error_type]).toEqual([422, "InvalidFieldError"])
  })

  test.each(["Evaluation.evaluate", "éß中文_-.9", "𝒳".repeat(128)])("object_id %j is a name", async (name) => {
    await publish(acme.newProject(), name, "1")
  })

  test("a body that lacks something and one that is no JSON are 422 with the place", async () => {
    const missing = await acme.post("/obj/create", { obj: { project_id: acme.newProject(), object_id: "x" } })
    expect([missing.status, missing.body]).toEqual([
      422,
      { detail: [{ loc: ["body", "obj", "val"], msg: "Field required", type: "missing" }] },
    ])
    const wrong = await acme.post("/obj/create", { obj: { object_id: 1, val: 1 } })
    expect(wrong.status).toBe(422)
    expect(
      (wrong.body as { detail: { loc: unknown; type: string }[] }).detail.map(({ loc, type }) => [loc, type]),
    ).toEqual([
      [["body", "obj", "project_id"], "missing"],
      [["body", "obj", "object_id"], "invalid_type"],
    ])
    for (const text of ["", "{", '{"obj":{"val":01}}']) {
      const answer = await acme.post("/obj/create", text)
      expect([answer.status, answer.body]).toMatchObject([422, { detail: [{ loc: ["body"], type: "json_invalid" }] }])
    }
    expect((await acme.post("/obj/create", Buffer.from([0x22, 0xff, 0x22]))).status).toBe(400)
  })

  test("calls 1.1: 201 levels are 413, and so is a row of more than 3.5 MiB", async () => {
    const project = acme.newProject()
    const nested = (levels: number) => "[".repeat(levels) + "]".repeat(levels)
    await publish(project, "deep", nested(198))
    const send = (val: string) =>
      acme.post("/obj/create", `{"obj":{"project_id":"${project}","object_id":"x","val":${val}}}`)
    expect((await send(nested(201))).status).toBe(413)
    const large = await send(`"${"x".repeat(3.5 * 1024 * 1024)}"`)
    expect([large.status, (large.body as { error_type: string }).error_type]).toEqual([413, "InsertTooLarge"])
    await publish(project, "fits", `"${"x".repeat(3.5 * 1024 * 1024 - 2)}"`)
  })

  test.each(["/etc/passwd", "../x.py", "a/../../x", "C:\\x", "\\x"])("a file called %s is 400", async (name) => {
    const answer = await create(acme.newProject(), "x", { files: { [name]: "digest" } })
    expect([answer.status, (answer.body as { error_type: string }).error_type]).toEqual([400, "ValueError"])
  })

  test("another digest than the client's is 409, and nothing is stored", async () => {
    const project = acme.newProject()
    await publish(project, "there", "0")
    const answer = await create(project, "x", 1, { expected_digest: "x".repeat(43) })
    expect([answer.status, (answer.body as { error_type: string }).error_type]).toEqual([409, "DigestMismatchError"])
    expect((await list(project)).map(brief)).toEqual(["there:v0 latest"])
    const right = await create(project, "x", 1, {
      expected_digest: "a4aycY80YOGda4BOY1oYV0etpOqiLx1JwB5S3beHW0s",
      wb_user_id: null,
      unknown: 1,
    })
    expect(right.status).toBe(200)
  })

  test("expected_latest: a version that follows another than the latest is 409, and nothing is stored", async () => {
    const project = acme.newProject()
    const first = await create(project, "x", 1, { expected_latest: null })
    const { digest } = first.body as { digest: string }
    const both = await Promise.all([2, 3].map((val) => create(project, "x", val, { expected_latest: digest })))
    expect(both.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 409])
    const refused = both.find(({ status }) => status === 409)?.body
    expect(refused).toMatchObject({ error_type: "conflict", reason: expect.stringContaining(digest) })
    expect((await create(project, "x", 4, { expected_latest: null })).status).toBe(409)
    expect((await create(project, "other", 4, { expected_latest: digest })).status).toBe(409)
    expect((await list(project)).map(brief)).toEqual(["x:v0", "x:v1 latest"])
    const again = both[0]?.status === 200 ? 2 : 3
    expect((await create(project, "x", again, { expected_latest: digest })).status).toBe(200)
  })
})

describe("objects 3.3: lists", () => {
  test("filters, order, pages", async () => {
    const project = acme.newProject()
    await publish(project, "b", JSON.stringify({ ...model("M1", "Model"), n: 1 }))
    await publish(project, "a", JSON.stringify(model("D1", "Dataset")))
    await publish(project, "b", JSON.stringify({ ...model("M2", "Model"), n: 2 }))
    await publish(project, "plain", "1")
    await publish(project, "op", '{"weave_type":{"type":"Op"}}')
    const names = async (more: object) => (await list(project, more)).map(brief)
    const all = ["b:v0", "a:v0 latest", "b:v1 latest", "plain:v0 latest", "op:v0 latest"]
    expect(await names({})).toEqual(all)
    expect(await names({ filter: { base_object_classes: [], object_ids: [], tags: [], aliases: [] } })).toEqual(all)
    expect(await names({ filter: { base_object_classes: ["Model"] } })).toEqual(["b:v0", "b:v1 latest"])
    expect(await names({ filter: { leaf_object_classes: ["M2", "D1"] } })).toEqual(["a:v0 latest", "b:v1 latest"])
    expect(await names({ filter: { exclude_base_object_classes: ["Model"] } })).toEqual([
      "a:v0 latest",
      "plain:v0 latest",
      "op:v0 latest",
    ])
    expect(await names({ filter: { is_op: false, latest_only: true } })).toEqual([
      "a:v0 latest",
      "b:v1 latest",
      "plain:v0 latest",
    ])
    expect(await names({ filter: { aliases: ["latest"], object_ids: ["b"] } })).toEqual(["b:v1 latest"])
    expect(await names({ filter: { tags: ["none"] } })).toEqual([])
    expect(await names({ sort_by: [{ field: "created_at", direction: "desc" }], limit: 2 })).toEqual([
      "op:v0 latest",
      "plain:v0 latest",
    ])
    expect(
      await names({ sort_by: [{ field: "val", direction: "desc" }, { field: "object_id" }], offset: 1, limit: 3 }),
    ).toEqual(["b:v0", "b:v1 latest", "op:v0 latest"])
    expect(await names({ limit: 0 })).toEqual([])
    for (const page of [{ limit: -1 }, { offset: -1 }]) {
      const answer = await acme.post("/objs/query", { project_id: project, ...page })
      expect([answer.status, (answer.body as { error_type: string }).error_type]).toEqual([400, "InvalidRequest"])
    }
  })

  test("sizes and values only when asked for", async () => {
    const project = acme.newProject()
    await publish(project, "sized", '{"x":"é"}')
    const [full] = await list(project, { include_storage_size: true, include_tags_and_aliases: true })
    expect(full).toMatchObject({ size_bytes: 10, val: { x: "é" }, tags: [], aliases: ["latest"] })
    const [short] = await list(project, { metadata_only: true })
    expect(short).toMatchObject({ size_bytes: null, val: {}, tags: null, aliases: null })
  })
})

describe("objects 3.4: deletion", () => {
  const remove = (project_id: string, object_id: string, digests?: string[] | null) =>
    acme.post("/obj/delete", { project_id, object_id, digests })

  test("a deleted version says so, the newest of the rest is the latest, and its number is not used again", async () => {
    const project = acme.newProject()
    const [first, second] = [await publish(project, "x", "1"), await publish(project, "x", "2")]
    const deleted = await remove(project, "x", ["latest"])
    expect([deleted.status, deleted.body]).toEqual([
      200,
      { num_deleted: 1, deleted_versions: [{ digest: second, base_object_class: null, leaf_object_class: null }] },
    ])
    for (const name of [second, "v1"]) {
      const gone = await read(project, "x", name)
      expect([gone.status, gone.body]).toEqual([
        404,
        {
          reason: expect.stringMatching(/^x:v1 was deleted at /),
          error_type: "ObjectDeletedError",
          deleted_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
        },
      ])
    }
    expect((await list(project)).map(brief)).toEqual(["x:v0 latest"])
    expect(await version(project, "x", "latest")).toMatchObject({ digest: first })
    await publish(project, "x", "3")
    expect(await publish(project, "x", "2")).toBe(second)
    expect((await list(project)).map(brief)).toEqual(["x:v0", "x:v2", "x:v1 latest"])
  })

  test("after a deletion the newest of the remaining versions is the latest, whatever its number", async () => {
    const project = acme.newProject()
    for (const val of ["1", "2", "3", "1"]) await publish(project, "x", val)
    expect((await list(project)).map(brief)).toEqual(["x:v0 latest", "x:v1", "x:v2"])
    expect((await remove(project, "x", ["v1", "v1"])).body).toMatchObject({ num_deleted: 1 })
    expect((await list(project)).map(brief)).toEqual(["x:v0 latest", "x:v2"])
    await remove(project, "x", ["v0"])
    expect((await list(project)).map(brief)).toEqual(["x:v2 latest"])
  })

  test("all versions, or none when one of them is missing", async () => {
    const project = acme.newProject()
    const first = await publish(project, "x", "1")
    await publish(project, "x", "2")
    for (const digests of [["v0", "v7"], ["v0", "nothing"], ["nothing"], ["v0", first]]) {
      expect((await remove(project, "x", digests)).status).toBe(404)
    }
    expect(await list(project)).toHaveLength(2)
    expect((await remove(project, "x", null)).body).toMatchObject({ num_deleted: 2 })
    expect(await list(project)).toEqual([])
    expect((await remove(project, "x", null)).status).toBe(404)
    expect((await read(project, "x", "latest")).status).toBe(404)
  })

  test("more than 100 at once are 400", async () => {
    const digests = Array.from({ length: 101 }, (_, index) => `v${index}`)
    const project = acme.newProject()
    await publish(project, "x", "1")
    const answer = await remove(project, "x", digests)
    expect([answer.status, (answer.body as { error_type: string }).error_type]).toEqual([400, "ValueError"])
  })
})

describe("objects 10, 13: refs to projects", () => {
  test("are hashed under the project's internal id, and come back as they were sent", async () => {
    const project = acme.newProject()
    await publish(project, "seed", "1")
    const info = (await acme.post("/service/projects_info", { project_ids: [project] })).body as {
      internal_project_id: string
    }[]
    const id = info[0]?.internal_project_id ?? ""
    const inside = JSON.stringify({ parts: [`weave:///${project}/call/1`], "2": 1, "1": 1.5 })
    const value = (prefix: string, nested: string) => ({
      ref: `${prefix}/object/x:y`,
      deep: [{ ref: `${prefix}/table/abc` }],
      text: `see ${prefix}/object/x:y`,
      nested,
      elsewhere: "weave:///rival/secret/object/x:y",
    })
    const seen = value(`weave:///${project}`, inside)
    const hashed = {
      ...value(
        `weave-trace-internal:///${id}`,
        `{"parts": ["weave-trace-internal:///${id}/call/1"], "2": 1, "1": 1.5}`,
      ),
      text: seen.text,
    }
    // Sent as text in Python's order of keys, because JSON.stringify moves keys that look like numbers.
    const nested = String.raw`{\"parts\": [\"weave:///${project}/call/1\"], \"2\": 1, \"1\": 1.5}`
    const text = JSON.stringify({ ...seen, nested: "NESTED" }).replace("NESTED", nested)
    const digest = await publish(project, "refs", text)
    expect(digest).toBe(await publish(project, "same", JSON.stringify(hashed)))
    const answer = await read(project, "refs", digest)
    expect(answer.text).toContain(`"val":${text}`)
    expect((await read(project, "same", digest)).text).not.toContain("weave-trace-internal")
    expect(await create(project, "refs", seen, { expected_digest: "x".repeat(43) })).toMatchObject({ status: 409 })
  })

  test("refs are found in JSON inside of strings, to eight levels", async () => {
    const project = acme.newProject()
    await publish(project, "seed", "1")
    const within = (ref: string, levels: number): string =>
      levels === 0 ? ref : JSON.stringify([within(ref, levels - 1)])
    const unknown = "weave-trace-internal:///bm9ib2R5/object/x:y"
    expect(await create(project, "x", { a: within(unknown, 8) })).toMatchObject({
      status: 400,
      body: { error_type: "InvalidExternalRef" },
    })
    expect((await create(project, "x", { a: within(unknown, 9) })).status).toBe(200)
    const { internal_project_id: id } = (
      (await acme.post("/service/projects_info", { project_ids: [project] })).body as { internal_project_id: string }[]
    )[0] ?? { internal_project_id: "" }
    const val = (prefix: string) => JSON.stringify({ a: within(`${prefix}/object/x:y`, 8) })
    const external = await publish(project, "external", val(`weave:///${project}`))
    expect(await publish(project, "internal", val(`weave-trace-internal:///${id}`))).toBe(external)
    expect((await version(project, "internal", "latest")).val).toEqual(JSON.parse(val(`weave:///${project}`)))
  })

  test("law 3: a text that begins like a ref, but names no possible project, stays text", async () => {
    const project = acme.newProject()
    for (const name of ["a\\u0000b", "\\ud800"]) {
      const text = `{"a":"weave:///${acme.entity}/${name}/object/x:1"}`
      const answer = await acme.post("/obj/create", `{"obj":{"project_id":"${project}","object_id":"x","val":${text}}}`)
      expect([answer.status, answer.text]).toEqual([200, answer.text])
      const shown = await acme.post("/obj/read", { project_id: project, object_id: "x", digest: "latest" })
      expect(shown.text).toContain(`"val":${text}`)
    }
  })

  test("an internal ref to a project of nobody, or of another team, is 400", async () => {
    const project = acme.newProject()
    const theirs = opened.rival.newProject()
    await opened.rival.post("/obj/create", { obj: { project_id: theirs, object_id: "x", val: 1 } })
    const info = (await opened.rival.post("/service/projects_info", { project_ids: [theirs] })).body as {
      internal_project_id: string
    }[]
    for (const id of [info[0]?.internal_project_id, "nobody", ""]) {
      const answer = await create(project, "x", { a: [`weave-trace-internal:///${id}/object/x:y`] })
      expect([answer.status, (answer.body as { error_type: string }).error_type]).toEqual([400, "InvalidExternalRef"])
    }
  })
})

test("security 5.3: another team's objects are not there, by any name", async () => {
  const project = acme.newProject()
  const digest = await publish(project, "secret", "1")
  const { rival } = opened
  const requests: [string, object][] = [
    ["/obj/read", { project_id: project, object_id: "secret", digest }],
    ["/objs/query", { project_id: project }],
    ["/obj/delete", { project_id: project, object_id: "secret" }],
    ["/obj/create", { obj: { project_id: project, object_id: "secret", val: 2 } }],
  ]
  for (const [path, body] of requests) {
    const answer = await rival.post(path, body)
    expect([path, answer.status, answer.body]).toEqual([path, 403, { detail: "Project not found" }])
  }
  const own = rival.newProject()
  await rival.post("/obj/create", { obj: { project_id: own, object_id: "other", val: 2 } })
  expect((await rival.post("/obj/read", { project_id: own, object_id: "secret", digest })).status).toBe(404)
  expect((await rival.post("/obj/read", { project_id: "rival/nothing", object_id: "secret", digest })).status).toBe(403)
  expect((await version(project, "secret", "latest")).digest).toBe(digest)
})

test("law 1: published objects are there after a restart", async () => {
  const project = acme.newProject()
  const digest = await publish(project, "kept", '{"x":[1.0]}')
  await opened.restart()
  expect((await read(project, "kept", digest)).text).toContain('"val":{"x":[1.0]}')
})

test.each(["a\0b", "\ud800", "' or 1=1 --", "{x:String}", "%00", "v99999999999999999999", "v-0", " latest"])(
  "law 4: %j as any name is an ordinary miss or a 4xx",
  async (name) => {
    const project = acme.newProject()
    const digest = await publish(project, "there", "1")
    const requests: [string, object][] = [
      ["/obj/read", { project_id: project, object_id: name, digest }],
      ["/obj/read", { project_id: project, object_id: "there", digest: name }],
      ["/obj/read", { project_id: `acme/${name}`, object_id: "there", digest }],
      ["/obj/delete", { project_id: project, object_id: "there", digests: [name] }],
      ["/refs/read_batch", { refs: [`weave:///${project}/object/there:${name}`] }],
      ["/table/query_stats", { project_id: project, digest: name }],
      ["/table/update", { project_id: project, base_digest: name, updates: [] }],
      ["/file/content", { project_id: project, digest: name }],
    ]
    for (const [path, body] of requests) {
      const { status } = await acme.post(path, body)
      expect([path, body, status >= 400 && status < 500]).toEqual([path, body, true])
    }
    const tags = await acme.post("/objs/query", {
      project_id: project,
      filter: { tags: [name], aliases: [name], object_ids: [name], base_object_classes: [name] },
    })
    expect([200, 400]).toContain(tags.status)
    // Half of a character is no valid text, so it is 422; any other unknown digest gives no rows.
    const miss = name.isWellFormed() ? { status: 200, body: { rows: [] } } : { status: 422 }
    const rows = { project_id: project, digest: name, filter: { row_digests: [name] } }
    expect(await acme.post("/table/query", rows)).toMatchObject(miss)
    const sorted = { ...rows, sort_by: [{ field: name, direction: "asc" }] }
    expect(await acme.post("/table/query", sorted)).toMatchObject(miss)
  },
)
