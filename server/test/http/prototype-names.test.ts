/** Names that every JavaScript object inherits, lone surrogates, and paths of many parts are no 5xx (law 4). */
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { type EvaluationApp, openEvaluationApp } from "../support/evaluation-app.ts"

let opened: EvaluationApp
let project: string
beforeAll(async () => {
  opened = await openEvaluationApp()
  project = opened.acme.newProject()
  await opened.acme.post("/obj/create", { obj: { project_id: project, object_id: "o", val: { a: 1 } } })
})
afterAll(() => opened.close())

const inherited = ["__proto__", "constructor", "hasOwnProperty", "toString", "valueOf", "__defineGetter__"]

describe("law 4: names that every object inherits are names like any other", () => {
  const table = () => `{"project_id":"${project}","rows":[{"a":1}]}`
  const feedback = (more = "") =>
    `{"project_id":"${project}","weave_ref":"weave:///${project}/call/1","feedback_type":"custom","payload":{"a":1}${more}}`
  const bodies: [string, (member: string) => string][] = [
    ["/obj/create", (member) => `{${member},"obj":{"project_id":"${project}","object_id":"o","val":1}}`],
    ["/obj/create", (member) => `{"obj":{${member},"project_id":"${project}","object_id":"o","val":{${member}}}}`],
    ["/table/create", (member) => `{${member},"table":${table()}}`],
    ["/table/create", (member) => `{"table":{"project_id":"${project}","rows":[{${member}}]}}`],
    ["/feedback/create", (member) => feedback(`,${member}`)],
    ["/feedback/batch/create", (member) => `{${member},"batch":[${feedback(`,${member}`)}]}`],
  ]
  test.each(inherited)("%s is a member like any other", async (name) => {
    for (const value of ["{}", "1", "null", '[{"a":1}]']) {
      for (const [url, body] of bodies) {
        const { status, text } = await opened.acme.post(url, body(`${JSON.stringify(name)}:${value}`))
        expect([url, name, value, status, status === 200 ? "" : text]).toEqual([url, name, value, 200, ""])
      }
    }
  })

  test.each(inherited)("a body in the coding %s is 415", async (name) => {
    const answer = await opened.acme.post("/obj/create", "{}", { "content-encoding": name })
    expect([answer.status, answer.text]).toEqual([415, expect.stringContaining("gzip, x-gzip, deflate") as unknown])
  })

  test.each(inherited)("a query that compares with the text %s is answered", async (name) => {
    const asked = { $eq: [{ $convert: { input: { $getField: "inputs.a" }, to: "bool" } }, { $literal: name }] }
    const answer = await opened.acme.post("/calls/query_stats", { project_id: project, query: { $expr: asked } })
    expect([answer.status, answer.body]).toMatchObject([200, { count: 0 }])
  })

  test.each(inherited)("the reaction %s is no emoji", async (name) => {
    const body = {
      project_id: project,
      weave_ref: `weave:///${project}/call/1`,
      feedback_type: "wandb.reaction.1",
      payload: { emoji: name },
    }
    expect((await opened.acme.post("/feedback/create", body)).status).toBe(400)
  })

  test.each(inherited)("statistics of the payload's field %s are told", async (name) => {
    await opened.acme.post("/feedback/create", feedback(`,"payload":{${JSON.stringify(name)}:2}`))
    const answer = await opened.acme.post("/feedback/stats", {
      project_id: project,
      start: "2020-01-01T00:00:00Z",
      end: "2020-01-02T00:00:00Z",
      metrics: [{ json_path: name, aggregations: ["count"] }],
    })
    expect([answer.status, answer.text]).toEqual([200, expect.stringContaining(`"${name}":{"count":0}`) as unknown])
  })
})

describe("law 4: keys that are not well-formed Unicode are refused, and named", () => {
  const lone = "\ud800"
  test.each<[string, () => object]>([
    ["/call/update", () => ({ project_id: project, call_id: lone, display_name: "x" })],
    ["/table/create_from_digests", () => ({ project_id: project, row_digests: [lone] })],
    ["/table/create_from_digests", () => ({ project_id: project, row_digests: [], expected_digest: lone })],
    ["/table/update", () => ({ project_id: project, base_digest: lone, updates: [] })],
    ["/table/query", () => ({ project_id: project, digest: lone })],
  ])("%s: 422", async (url, body) => {
    const answer = await opened.acme.post(url, body())
    expect([answer.status, answer.text]).toEqual([422, expect.stringContaining("not well-formed Unicode") as unknown])
  })
})

describe("law 4: a field may have 50 parts, 10 of them indexes", () => {
  const path = (parts: number, part: string) => ["inputs", ...Array<string>(parts).fill(part)].join(".")
  const queries: [string, (field: string) => object][] = [
    ["/calls/query", (field) => ({ query: { $expr: { $eq: [{ $getField: field }, { $literal: 1 }] } } })],
    ["/calls/query", (field) => ({ sort_by: [{ field, direction: "asc" }] })],
    ["/calls/query_stats", (field) => ({ query: { $expr: { $gt: [{ $getField: field }, { $literal: 1 }] } } })],
    [
      "/feedback/query",
      (field) => ({ query: { $expr: { $eq: [{ $getField: field.replace("inputs", "payload") }, { $literal: 1 }] } } }),
    ],
    ["/feedback/query", (field) => ({ fields: [field.replace("inputs", "payload")] })],
    ["/export/calls", (field) => ({ query: { $expr: { $eq: [{ $getField: field }, { $literal: 1 }] } } })],
  ]
  test.each(queries)("%s", async (url, body) => {
    const answer = async (parts: number, part: string) => {
      const { status, text } = await opened.acme.post(url, { project_id: project, ...body(path(parts, part)) })
      return [status, status === 200 ? "" : text]
    }
    for (const [part, most] of [
      ["0", 10],
      ["a", 49],
    ] as const) {
      expect(await answer(most, part)).toEqual([200, ""])
      for (const parts of [most + 2, 200, 20_000]) {
        expect(await answer(parts, part)).toEqual([400, expect.stringMatching(/it may have (10|50)\b/) as unknown])
      }
    }
  })
})
