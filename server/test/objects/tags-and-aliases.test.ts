/** Tags and aliases through the public surface: evaluation-store-objects 2.7, 2.8 and 4. */
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

async function publish(project_id: string, object_id: string, val: unknown): Promise<string> {
  const answer = await acme.post("/obj/create", { obj: { project_id, object_id, val } })
  expect(answer.status).toBe(200)
  return (answer.body as { digest: string }).digest
}

const path = (objectId: string) => `/objs/${encodeURIComponent(objectId)}`
const addTags = (project_id: string, objectId: string, digest: string, tags: unknown) =>
  acme.put(`${path(objectId)}/versions/${encodeURIComponent(digest)}/tags`, { project_id, tags })
const removeTags = (project_id: string, objectId: string, digest: string, tags: unknown) =>
  acme.post(`${path(objectId)}/versions/${digest}/tags/remove`, { project_id, tags })
const setAliases = (project_id: string, objectId: string, digest: string, aliases: unknown) =>
  acme.put(`${path(objectId)}/aliases`, { project_id, digest, aliases })
const removeAliases = (project_id: string, objectId: string, aliases: unknown) =>
  acme.post(`${path(objectId)}/aliases/remove`, { project_id, aliases })

async function labels(project_id: string, object_id: string, digest: string) {
  const answer = await acme.post("/obj/read", { project_id, object_id, digest, include_tags_and_aliases: true })
  const { tags, aliases, version_index } = objectRead.parse(answer.body).obj
  return { tags, aliases, version_index }
}

async function listed(project_id: string, filter: object) {
  const answer = await acme.post("/objs/query", { project_id, filter, include_tags_and_aliases: true })
  return objectList.parse(answer.body).objs
}

const allTags = async (project: string) => (await acme.get(`/tags?project_id=${encodeURIComponent(project)}`)).body
const allAliases = async (project: string) =>
  (await acme.get(`/aliases?project_id=${encodeURIComponent(project)}`)).body

describe("objects 2.7: tags", () => {
  test("are added once, shown sorted, filtered by, listed and removed", async () => {
    const project = acme.newProject()
    const first = await publish(project, "m", 1)
    const second = await publish(project, "m", 2)
    const added = await addTags(project, "m", first, ["prod", "émigré 東京", "a-b_c 1", "prod"])
    expect([added.status, added.body]).toEqual([200, {}])
    expect((await addTags(project, "m", first, ["prod"])).status).toBe(200)
    expect((await addTags(project, "m", first, [])).status).toBe(200)
    expect((await addTags(project, "m", second, ["other"])).status).toBe(200)
    expect(await labels(project, "m", first)).toMatchObject({ tags: ["a-b_c 1", "prod", "émigré 東京"], aliases: [] })
    expect(await labels(project, "m", second)).toMatchObject({ tags: ["other"], aliases: ["latest"] })
    expect((await listed(project, { tags: ["prod", "none"] })).map((one) => one.digest)).toEqual([first])
    expect(await allTags(project)).toEqual({ tags: ["a-b_c 1", "other", "prod", "émigré 東京"] })
    expect((await removeTags(project, "m", first, ["prod", "absent", "not: a tag"])).body).toEqual({})
    expect(await labels(project, "m", first)).toMatchObject({ tags: ["a-b_c 1", "émigré 東京"] })
    expect(await labels(project, "m", second)).toMatchObject({ tags: ["other"] })
  })

  test.each([
    [""],
    [" a"],
    ["a "],
    ["a  b"],
    ["a\tb"],
    ["a\n"],
    ["a:b"],
    ["a/b"],
    ["é€"],
    ["x".repeat(257)],
    ["\0"],
    ["\ud800"],
  ])("the tag %j is 422 that names it, and nothing is written", async (tag) => {
    const project = acme.newProject()
    const digest = await publish(project, "m", 1)
    const answer = await addTags(project, "m", digest, ["fine", tag])
    expect([answer.status, answer.body]).toEqual([
      422,
      { detail: [{ loc: ["body", "tags", 1], msg: expect.stringContaining("the tag "), type: "value_error" }] },
    ])
    expect(await allTags(project)).toEqual({ tags: [] })
  })

  test("256 characters are a tag, also such that take two UTF-16 units", async () => {
    const project = acme.newProject()
    const digest = await publish(project, "m", 1)
    expect((await addTags(project, "m", digest, ["x".repeat(256), "𝒳".repeat(256)])).status).toBe(200)
    expect((await addTags(project, "m", digest, ["𝒳".repeat(257)])).status).toBe(422)
  })

  test("only the content digest names the version; unknown and deleted ones are 404", async () => {
    const project = acme.newProject()
    const digest = await publish(project, "m", 1)
    await setAliases(project, "m", digest, ["prod"])
    for (const name of ["latest", "v0", "prod", "x".repeat(43), digest.slice(1)]) {
      const answer = await addTags(project, "m", name, ["a"])
      expect([name, answer.status, answer.body]).toEqual([
        name,
        404,
        { reason: expect.stringContaining(`m:${name} not found`), error_type: "NotFoundError" },
      ])
    }
    expect((await addTags(project, "nobody", digest, ["a"])).status).toBe(404)
    expect((await addTags(project, "m", digest, ["a"])).status).toBe(200)
    await acme.post("/obj/delete", { project_id: project, object_id: "m", digests: [digest] })
    expect((await addTags(project, "m", digest, ["a"])).status).toBe(404)
    expect((await removeTags(project, "m", digest, ["a"])).status).toBe(200)
    expect(await allTags(project)).toEqual({ tags: [] })
  })

  test("10,000 tags on one version", async () => {
    const project = acme.newProject()
    const digest = await publish(project, "m", 1)
    const tags = Array.from({ length: 10_000 }, (_, index) => `tag ${String(index).padStart(5, "0")}`)
    expect((await addTags(project, "m", digest, tags)).status).toBe(200)
    expect((await labels(project, "m", digest)).tags).toEqual(tags)
    expect(await allTags(project)).toEqual({ tags })
    expect((await listed(project, { tags }))[0]?.tags).toHaveLength(10_000)
    expect((await removeTags(project, "m", digest, tags.slice(1))).status).toBe(200)
    expect((await labels(project, "m", digest)).tags).toEqual(["tag 00000"])
  })

  test("lists of up to 10,000 are filters; more are 422", async () => {
    const project = acme.newProject()
    const digest = await publish(project, "m", 1)
    await addTags(project, "m", digest, ["wanted"])
    await setAliases(project, "m", digest, ["named"])
    const names = (last: string) => [...Array.from({ length: 9_999 }, (_, index) => `n${index}`), last]
    for (const filter of [
      { tags: names("wanted") },
      { aliases: names("named") },
      { object_ids: names("m") },
      { exclude_base_object_classes: names("x") },
    ]) {
      expect((await listed(project, filter)).map((one) => one.digest)).toEqual([digest])
    }
    expect(await listed(project, { base_object_classes: names("x") })).toEqual([])
    expect(await listed(project, { leaf_object_classes: names("x") })).toEqual([])
    const refused = await acme.post("/objs/query", { project_id: project, filter: { tags: [...names("x"), "y"] } })
    expect(refused.status).toBe(422)
  })

  test("a version that comes back after its deletion has none of its labels", async () => {
    const project = acme.newProject()
    const digest = await publish(project, "m", 1)
    await addTags(project, "m", digest, ["a"])
    await setAliases(project, "m", digest, ["b"])
    await acme.post("/obj/delete", { project_id: project, object_id: "m", digests: null })
    await publish(project, "m", 1)
    expect(await labels(project, "m", digest)).toMatchObject({ tags: [], aliases: ["latest"] })
  })

  test("a name of 128 characters outside of ASCII works in the path", async () => {
    const project = acme.newProject()
    const name = "𝒳".repeat(128)
    const digest = await publish(project, name, 1)
    expect((await addTags(project, name, digest, ["a"])).status).toBe(200)
    expect((await setAliases(project, name, digest, ["b"])).status).toBe(200)
    expect(await labels(project, name, "b")).toMatchObject({ tags: ["a"] })
  })
})

describe("objects 2.8: aliases", () => {
  test("name one version of an object, and move", async () => {
    const project = acme.newProject()
    const [first, second] = [await publish(project, "m", 1), await publish(project, "m", 2)]
    const other = await publish(project, "n", 3)
    expect((await setAliases(project, "m", first, ["prod", "my best ☃", "prod"])).body).toEqual({})
    expect((await setAliases(project, "n", other, ["prod"])).status).toBe(200)
    expect(await labels(project, "m", "prod")).toEqual({ tags: [], aliases: ["my best ☃", "prod"], version_index: 0 })
    expect((await setAliases(project, "m", second, ["prod"])).status).toBe(200)
    expect(await labels(project, "m", "prod")).toMatchObject({ aliases: ["latest", "prod"], version_index: 1 })
    expect(await labels(project, "m", first)).toMatchObject({ aliases: ["my best ☃"] })
    expect((await listed(project, { aliases: ["prod"] })).map((one) => one.digest)).toEqual([second, other])
    expect(await allAliases(project)).toEqual({ aliases: ["my best ☃", "prod"] })
    expect((await removeAliases(project, "m", ["prod", "absent"])).body).toEqual({})
    expect((await acme.post("/obj/read", { project_id: project, object_id: "m", digest: "prod" })).status).toBe(404)
    expect(await labels(project, "n", "prod")).toMatchObject({ aliases: ["latest", "prod"] })
  })

  test.each([
    [""],
    ["  "],
    ["a/b"],
    ["a:b"],
    ["latest"],
    ["v0"],
    ["v123456789012"],
    ["v٣"],
    ["x".repeat(129)],
    ["A".repeat(43)],
    ["0".repeat(64)],
    ["a\0b"],
    ["\udc00"],
  ])("the alias %j is refused, also when it is to be removed", async (alias) => {
    const project = acme.newProject()
    const digest = await publish(project, "m", 1)
    for (const answer of [
      await setAliases(project, "m", digest, ["fine", alias]),
      await removeAliases(project, "m", ["fine", alias]),
    ]) {
      expect([answer.status, answer.body]).toEqual([
        422,
        { detail: [{ loc: ["body", "aliases", 1], msg: expect.stringContaining("the alias "), type: "value_error" }] },
      ])
    }
    expect(await allAliases(project)).toEqual({ aliases: [] })
  })

  test.each([["v"], ["v1a"], ["Latest"], ["A".repeat(42)], ["𝒳".repeat(128)], ["100% ?#é"]])(
    "the alias %j names a version",
    async (alias) => {
      const project = acme.newProject()
      const digest = await publish(project, "m", 1)
      expect((await setAliases(project, "m", digest, [alias])).status).toBe(200)
      await publish(project, "m", 2)
      expect(await labels(project, "m", alias)).toMatchObject({ version_index: 0, aliases: [alias] })
    },
  )

  test("only the digest of a live version may get one", async () => {
    const project = acme.newProject()
    const digest = await publish(project, "m", 1)
    for (const name of ["latest", "v0", "x".repeat(43)]) {
      expect((await setAliases(project, "m", name, ["a"])).status).toBe(404)
    }
    expect((await setAliases(project, "nobody", digest, ["a"])).status).toBe(404)
    await acme.post("/obj/delete", { project_id: project, object_id: "m", digests: ["v0"] })
    expect((await setAliases(project, "m", digest, ["a"])).status).toBe(404)
    expect((await removeAliases(project, "m", ["a"])).status).toBe(200)
  })

  test("moved at once by many, all are answered 200 and one version has it", async () => {
    const project = acme.newProject()
    const digests: string[] = []
    for (let index = 0; index < 8; index++) digests.push(await publish(project, "m", index))
    const moves = await Promise.all(
      digests.flatMap((digest, index) => [
        setAliases(project, "m", digest, index % 2 === 0 ? ["a", "b"] : ["b", "a"]),
        setAliases(project, "m", digest, ["a"]),
      ]),
    )
    expect(new Set(moves.map((answer) => answer.status))).toEqual(new Set([200]))
    const found = await listed(project, { aliases: ["a"] })
    expect(found).toHaveLength(1)
    expect(await labels(project, "m", "a")).toMatchObject({ version_index: found[0]?.version_index })
    expect((await listed(project, {})).flatMap((one) => one.aliases).filter((one) => one === "b")).toHaveLength(1)
  })

  test("objects 3.2, 9: resolve in refs, in deletions and in the refs of calls", async () => {
    const project = acme.newProject()
    const digest = await publish(project, "m", { score: 7 })
    await publish(project, "m", { score: 8 })
    await setAliases(project, "m", digest, ["my best ☃"])
    const ref = `weave:///${project}/object/m:my best ☃`
    const read = await acme.post("/refs/read_batch", { refs: [ref, `${ref}/key/score`] })
    expect(read.body).toEqual({ vals: [{ score: 7 }, 7] })
    const call = { project_id: project, op_name: "f", started_at: "2026-01-01T00:00:00Z", attributes: {} }
    await acme.post("/call/start", { start: { ...call, inputs: { model: ref } } })
    const expanded = await acme.lines("/calls/stream_query", { project_id: project, expand_columns: ["inputs.model"] })
    expect(expanded).toMatchObject([{ inputs: { model: { score: 7, _ref: ref } } }])
    const named = { project_id: project, object_id: "m", digests: ["my best ☃"] }
    expect((await acme.post("/obj/delete", named)).body).toMatchObject({ num_deleted: 1 })
    expect((await acme.post("/refs/read_batch", { refs: [ref] })).status).toBe(404)
    expect(await allAliases(project)).toEqual({ aliases: [] })
  })
})

describe("security 5.3: labels of another team", () => {
  test("can be neither seen nor changed", async () => {
    const project = acme.newProject()
    const digest = await publish(project, "m", 1)
    await addTags(project, "m", digest, ["a"])
    await setAliases(project, "m", digest, ["b"])
    const { rival } = opened
    const named = encodeURIComponent(project)
    const body = { project_id: project, tags: ["a"], aliases: ["b"], digest }
    const answers = [
      await rival.put(`/objs/m/versions/${digest}/tags`, body),
      await rival.post(`/objs/m/versions/${digest}/tags/remove`, body),
      await rival.put("/objs/m/aliases", body),
      await rival.post("/objs/m/aliases/remove", body),
      await rival.get(`/tags?project_id=${named}`),
      await rival.get(`/aliases?project_id=${named}`),
    ]
    for (const answer of answers) expect([answer.status, answer.body]).toEqual([403, { detail: "Project not found" }])
    expect(await labels(project, "m", "b")).toMatchObject({ tags: ["a"], aliases: ["latest", "b"] })
  })

  test("a body or query without a field is 422 with its place", async () => {
    const missing = await acme.get("/tags")
    expect([missing.status, missing.body]).toEqual([
      422,
      { detail: [{ loc: ["query", "project_id"], msg: "Field required", type: "missing" }] },
    ])
    expect((await addTags(acme.newProject(), "m", "x", "a")).status).toBe(422)
    expect((await addTags(acme.newProject(), "m", "x", ["a"])).status).toBe(403)
    expect((await addTags(acme.newProject(), "m\0", "x", ["a"])).status).toBe(403)
  })
})
