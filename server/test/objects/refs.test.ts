/** Reading the values that refs name: evaluation-store-objects 9 and 12. */
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { type EvaluationApp, type EvaluationCaller, openEvaluationApp } from "../support/evaluation-app.ts"

let opened: EvaluationApp
let acme: EvaluationCaller
beforeAll(async () => {
  opened = await openEvaluationApp()
  acme = opened.acme
})
afterAll(() => opened.close())

/** Publishes an object whose value is the JSON text `val`; returns the version's ref. */
async function publish(project: string, name: string, val: string, caller = acme): Promise<string> {
  const answer = await caller.post(
    "/obj/create",
    `{"obj":{"project_id":"${project}","object_id":"${name}","val":${val}}}`,
  )
  expect(answer.status).toBe(200)
  return `weave:///${project}/object/${name}:${(answer.body as { digest: string }).digest}`
}

const readBatch = (refs: unknown, caller = acme) => caller.post("/refs/read_batch", { refs })

async function values(...refs: string[]): Promise<unknown[]> {
  const answer = await readBatch(refs)
  expect([answer.status, answer.text]).toEqual([200, answer.text])
  return (answer.body as { vals: unknown[] }).vals
}

describe("objects 9: values", () => {
  test("law 3: come as they were spelled, in the order of the refs", async () => {
    const project = acme.newProject()
    const first = await publish(project, "a", '{"b": 1.0, "a":12345678901234567890123}')
    const second = await publish(project, "b", "[1e5]")
    const answer = await readBatch([second, first, `${first}/attr/b`, second, `${second}/index/0`])
    expect(answer.text).toBe('{"vals":[[1e5],{"b": 1.0, "a":12345678901234567890123},1.0,[1e5],1e5]}')
    expect(await values()).toEqual([])
  })

  test("parts by attr, key and index; a missing part is null", async () => {
    const project = acme.newProject()
    const ref = await publish(project, "x", '{"a":{"b c/é":[10,{"d":null}]},"s":"text","0":7}')
    const path = `${ref}/attr/a/key/${encodeURIComponent("b c/é")}`
    expect(
      await values(
        path,
        `${path}/index/0`,
        `${path}/index/-1`,
        `${path}/index/1/key/d`,
        `${path}/index/5`,
        `${ref}/key/none/attr/more`,
        `${ref}/key/s/index/0`,
        `${ref}/index/0`,
        `${ref}/attr/__proto__`,
        `${ref}/`,
      ),
    ).toEqual([
      [10, { d: null }],
      10,
      { d: null },
      null,
      null,
      null,
      null,
      null,
      null,
      { a: { "b c/é": [10, { d: null }] }, s: "text", "0": 7 },
    ])
  })

  test("latest and vN are resolved as in obj/read, ops are objects", async () => {
    const project = acme.newProject()
    await publish(project, "x", "1")
    await publish(project, "x", "2")
    const base = `weave:///${project}`
    expect(await values(`${base}/object/x:latest`, `${base}/object/x:v0`, `${base}/op/x:v1`)).toEqual([2, 1, 2])
  })

  test("objects 3.1: an op and an object of one name are each found by refs of their kind, whichever came last", async () => {
    const project = acme.newProject()
    await publish(project, "x", '{"weave_type":{"type":"Op"},"n":1}')
    await publish(project, "x", '{"n":2}')
    const n = (kind: string, version: string) => `weave:///${project}/${kind}/x:${version}/attr/n`
    expect(await values(n("op", "latest"), n("op", "v0"), n("object", "latest"), n("object", "v0"))).toEqual([
      1, 1, 2, 2,
    ])
    await publish(project, "x", '{"weave_type":{"type":"Op"},"n":1}')
    expect(await values(n("object", "latest"), n("object", "v0"), n("op", "latest"))).toEqual([2, 2, 1])
  })

  test("a path leads to the last of equal members, from the end of a list, and nowhere else than it says", async () => {
    const project = acme.newProject()
    const ref = await publish(project, "x", '{ "a":{"b":[1,2]}, "a":{"c":[ 3 ,[4,"5"] ]}, "é":{"":true} }')
    const at = (path: string) => `${ref}/${path}`
    expect(
      await values(
        at("attr/a/key/b"),
        at("attr/a/key/c"),
        at("attr/a/key/c/index/0"),
        at("attr/a/key/c/index/-1/index/-2"),
        at("attr/a/key/c/index/+1/index/1"),
        at("attr/a/key/c/index/-3"),
        at("attr/a/key/c/index/0/index/0"),
        at("attr/a/id/c"),
        at(`key/${encodeURIComponent("é")}/key/`),
      ),
    ).toEqual([null, [3, [4, "5"]], 3, 4, "5", null, null, null, true])
  })

  test("law 8: a thousand parts of a large value are found in one walk through it", async () => {
    const project = acme.newProject()
    const [count, levels] = [1_600_000, 6]
    const list = `[${"0,".repeat(count - 1)}7]`
    const value = `${'{"in":'.repeat(levels)}{"list":${list}}${"}".repeat(levels)}`
    const elements = `${await publish(project, "large", value)}${"/attr/in".repeat(levels)}/attr/list/index`
    const refs = Array.from({ length: 999 }, (_, index) => `${elements}/${index * 1000}`)
    const found = await values(...refs, `${elements}/${count - 1}`)
    expect(found).toEqual([...Array.from({ length: 999 }, () => 0), 7])
  })

  test("a deleted object is null, an unknown one 404 with what is missing", async () => {
    const project = acme.newProject()
    const [kept, gone] = [await publish(project, "kept", "1"), await publish(project, "gone", "2")]
    await acme.post("/obj/delete", { project_id: project, object_id: "gone" })
    expect(await values(gone, kept, `${gone}/attr/a`)).toEqual([null, 1, null])
    const missing = "y".repeat(43)
    const answer = await readBatch([kept, `weave:///${project}/object/kept:${missing}`])
    expect([answer.status, answer.body]).toEqual([
      404,
      {
        reason: `Ref objects not found: kept:${missing}`,
        error_type: "RefObjectsNotFoundError",
        missing_object_digests: [missing],
      },
    ])
  })

  test("each ref names its own project, and one that is not the caller's refuses all", async () => {
    const [one, other, theirs] = [acme.newProject(), acme.newProject(), opened.rival.newProject()]
    const refs = [await publish(one, "x", "1"), await publish(other, "x", "2"), await publish(one, "y", "3")]
    expect(await values(...refs)).toEqual([1, 2, 3])
    const secret = await publish(theirs, "x", "4", opened.rival)
    const answer = await readBatch([...refs, secret])
    expect([answer.status, answer.body]).toEqual([403, { detail: "Project not found" }])
  })

  test("a ref on the way is followed, one at the end is not", async () => {
    const project = acme.newProject()
    const inner = await publish(project, "inner", '{"score":0.50}')
    const middle = await publish(project, "middle", `{"inner":"${inner}/attr/score","whole":"${inner}"}`)
    const outer = await publish(project, "outer", `["${middle}"]`)
    expect(await values(`${outer}/index/0`, `${outer}/index/0/attr/whole/attr/score`)).toEqual([middle, 0.5])
    expect(await values(`${outer}/index/0/attr/whole`)).toEqual([inner])
    const own = `weave:///${project}/object/circle:latest`
    await publish(project, "circle", `"${own}"`)
    expect(await values(`${own}/attr/a`)).toEqual([null])
  })

  test("rows of a dataset by their digest", async () => {
    const project = acme.newProject()
    const created = await acme.post(
      "/table/create",
      `{"table":{"project_id":"${project}","rows":[{"q":1.0,"l":[1]},{"q":2}]}}`,
    )
    const { digest, row_digests } = created.body as { digest: string; row_digests: string[] }
    const dataset = await publish(project, "data", `{"rows":"weave:///${project}/table/${digest}"}`)
    const row = (at: number) => `${dataset}/attr/rows/id/${row_digests[at]}`
    const answer = await readBatch([row(1), row(0), `${row(0)}/key/l/index/0`, `${dataset}/attr/rows/id/none`])
    expect(answer.text).toBe('{"vals":[{"q":2},{"q":1.0,"l":[1]},1,null]}')
    expect(await values(`${dataset}/attr/rows`, `${dataset}/attr/rows/index/0`)).toEqual([
      `weave:///${project}/table/${digest}`,
      null,
    ])
  })

  test("a thousand at once, and no more", async () => {
    const project = acme.newProject()
    const rows = JSON.stringify(Array.from({ length: 500 }, (_, n) => ({ n })))
    const created = await acme.post("/table/create", `{"table":{"project_id":"${project}","rows":${rows}}}`)
    const { digest, row_digests } = created.body as { digest: string; row_digests: string[] }
    const dataset = await publish(project, "data", `{"rows":"weave:///${project}/table/${digest}"}`)
    const refs = [...row_digests, ...row_digests].map((row) => `${dataset}/attr/rows/id/${row}/attr/n`)
    expect(await values(...refs)).toEqual(Array.from({ length: 1000 }, (_, n) => n % 500))
    const more = await readBatch([...refs, dataset])
    expect([more.status, (more.body as { error_type: string }).error_type]).toEqual([400, "ValueError"])
  })
})

describe("objects 12: a text that is no ref of an object is 400", () => {
  test.each([
    "",
    "text",
    "weave:///acme/p",
    "weave:///acme/p/object/name",
    "weave:///acme/p/object/name:a:b",
    "weave:///acme/p/object/:v0",
    "weave:///acme/p/object/name:",
    "weave:///acme/p/object/a/b:v0",
    "weave:///acme/object/name:v0",
    "weave:///acme/p/op/name",
    "weave:///acme/p/table/abc/id/row",
    "weave:///acme/p/object/name:v0/attr",
    "weave:///acme/p/object/name:v0/field/x",
    "weave:///acme/p/object/name:v0/index/x",
    "weave:///acme/p/object/name:v0/attr/%zz",
    "weave:///acme/p/scorer/name:v0",
    "weave:///acme/p/call/0190a",
    "weave:///acme/p/table/abc",
    "wandb-artifact:///acme/p/x:v0",
  ])("%j", async (ref) => {
    const answer = await readBatch([ref])
    expect([answer.status, (answer.body as { error_type: string }).error_type]).toEqual([400, "ValueError"])
  })

  test("an internal ref is InvalidExternalRef", async () => {
    const answer = await readBatch(["weave-trace-internal:///abc/object/x:y"])
    expect([answer.status, (answer.body as { error_type: string }).error_type]).toEqual([400, "InvalidExternalRef"])
  })

  test("refs that are no list of strings are 422", async () => {
    for (const refs of [undefined, "x", [1]]) expect((await readBatch(refs)).status).toBe(422)
  })
})

test("security 5.3: another team's values cannot be read, not even through an own object", async () => {
  const { rival } = opened
  const theirs = rival.newProject()
  const secret = await publish(theirs, "secret", '{"key":"hidden"}', rival)
  const table = await rival.post("/table/create", { table: { project_id: theirs, rows: [{ key: "hidden" }] } })
  const { digest, row_digests } = table.body as { digest: string; row_digests: string[] }
  const direct = await readBatch([secret])
  expect([direct.status, direct.body]).toEqual([403, { detail: "Project not found" }])
  const project = acme.newProject()
  const bridge = await publish(project, "bridge", `{"ref":"${secret}","rows":"weave:///${theirs}/table/${digest}"}`)
  expect(
    await values(`${bridge}/attr/ref/attr/key`, `${bridge}/attr/rows/id/${row_digests[0]}`, `${bridge}/attr/ref`),
  ).toEqual([null, null, secret])
  const own = `{"rows":"weave:///${project}/table/${digest}"}`
  expect(await values(`${await publish(project, "guess", own)}/attr/rows/id/${row_digests[0]}`)).toEqual([null])
})
