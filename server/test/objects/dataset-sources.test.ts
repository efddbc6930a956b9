/** Sources of datasets' rows: evaluation-store-objects 10. */
import { randomUUID } from "node:crypto"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { z } from "zod"
import { datasetSources, sourceDatasets } from "../../src/wire/objects/dataset-source.ts"
import { sendSpans, spanId, traceId } from "../support/agent-spans.ts"
import { type EvaluationApp, type EvaluationCaller, openEvaluationApp } from "../support/evaluation-app.ts"

let opened: EvaluationApp
let acme: EvaluationCaller
beforeAll(async () => {
  opened = await openEvaluationApp()
  acme = opened.acme
})
afterAll(() => opened.close())

interface Source {
  source_kind: string
  source_id: string
  source_trace_id: string
}

/** Stores a call; returns it as a source. */
async function call(project_id: string, more: object = {}): Promise<Source> {
  const [id, trace_id] = [randomUUID(), randomUUID()]
  const start = { project_id, id, trace_id, op_name: "ask", started_at: "2026-01-02T03:04:05.123456Z", ...more }
  const answer = await acme.post("/call/start", { start: { ...start, attributes: {}, inputs: {} } })
  expect(answer.status).toBe(200)
  return { source_kind: "call", source_id: id, source_trace_id: trace_id }
}

const conversation = (source_id: string, source_trace_id = ""): Source => ({
  source_kind: "conversation",
  source_id,
  source_trace_id,
})

const link = (project_id: string, links: unknown, more: object = {}) =>
  acme.post("/dataset_sources/link", {
    project_id,
    dataset_object_id: "cases",
    dataset_digest: "v0",
    links,
    ...more,
  })

async function linked(project: string, links: unknown, more: object = {}) {
  const answer = await link(project, links, more)
  expect([answer.status, answer.text]).toEqual([200, answer.text])
  return (answer.body as { entries: { link_id: string; created: boolean | null }[] }).entries
}

async function sources(project_id: string, more: object = {}) {
  const answer = await acme.post("/dataset_sources/query", { project_id, dataset_object_id: "cases", ...more })
  expect(answer.status).toBe(200)
  return z.object({ links: z.array(datasetSources.shape.links.element.strict()) }).parse(answer.body).links
}

async function memberships(project_id: string, asked: Source[], more: object = {}) {
  const answer = await acme.post("/dataset_sources/source_datasets_query", { project_id, sources: asked, ...more })
  expect(answer.status).toBe(200)
  return sourceDatasets.parse(answer.body).memberships
}

const unlink = (project_id: string, link_ids: string[]) =>
  acme.post("/dataset_sources/link_delete", { project_id, link_ids })

describe("objects 10: linking", () => {
  test("a call is kept with its name, start and trace, whatever trace the request says", async () => {
    const project = acme.newProject()
    const source = await call(project, { display_name: "first question" })
    const unnamed = await call(project)
    const text = JSON.stringify([
      { row_digest: "r1", sources: [{ ...source, source_trace_id: "" }], link_metadata: "METADATA" },
      { row_digest: "r0", sources: [unnamed, conversation("talk")] },
    ]).replace('"METADATA"', '{"score":1.0,"big":12345678901234567890123,"nan":NaN}')
    const head = `{"project_id":"${project}","dataset_object_id":"cases","dataset_digest":"any","links":`
    const answer = await acme.post("/dataset_sources/link", `${head}${text}}`)
    expect(answer.status).toBe(200)
    const { entries } = answer.body as { entries: { link_id: string; created: null }[] }
    expect(entries).toHaveLength(3)
    expect(entries.map(({ created }) => created)).toEqual([null, null, null])
    const shown = await acme.post("/dataset_sources/query", { project_id: project, dataset_object_id: "cases" })
    expect(shown.text).toContain('"link_metadata":{"score":1.0,"big":12345678901234567890123,"nan":null}')
    const links = await sources(project)
    expect(links.map((one) => [one.row_digest, one.source_kind])).toEqual([
      ["r0", "call"],
      ["r0", "conversation"],
      ["r1", "call"],
    ])
    expect(links[2]).toMatchObject({
      id: entries[0]?.link_id,
      source_id: source.source_id,
      source_trace_id: source.source_trace_id,
      source_display_name: "first question",
      source_started_at: "2026-01-02T03:04:05.123456Z",
      deleted_at: null,
    })
    expect(links[0]).toMatchObject({ source_display_name: "ask", link_metadata: null })
    expect(links[1]).toMatchObject({ source_id: "talk", source_trace_id: "", source_display_name: "" })
    expect(await linked(project, [])).toEqual([])
  })

  test("the same link has the same id, and the answer says on request whether it is new", async () => {
    const project = acme.newProject()
    const source = await call(project)
    const links = [{ row_digest: "r", sources: [source, source] }]
    const told = { include_created_status: true }
    const first = await linked(project, links, told)
    expect(first.map(({ created }) => created)).toEqual([true, true])
    expect(new Set(first.map(({ link_id }) => link_id)).size).toBe(1)
    const [before] = await sources(project)
    const again = await linked(project, [{ row_digest: "r", sources: [source], link_metadata: { n: 1 } }], told)
    expect(again).toEqual([{ link_id: first[0]?.link_id, created: false }])
    const after = await sources(project)
    expect(after).toHaveLength(1)
    expect(after[0]).toMatchObject({ link_metadata: { n: 1 }, created_at: before?.created_at })
    expect(Date.parse(after[0]?.updated_at ?? "")).toBeGreaterThanOrEqual(Date.parse(before?.updated_at ?? "x"))
    const elsewhere = await linked(project, links, { dataset_object_id: "other" })
    expect(elsewhere[0]?.link_id).not.toBe(first[0]?.link_id)
  })

  test("a span is known by its trace and its own id", async () => {
    const project = acme.newProject()
    const seen = { id: "1", at: 0.123456, attributes: { "gen_ai.operation.name": "chat" } }
    await sendSpans(acme, project, { ...seen, trace: "a1", name: "in a1" }, { ...seen, trace: "a2", name: "in a2" })
    const span = (trace: string, id = "1") => ({
      source_kind: "span",
      source_id: spanId(id),
      source_trace_id: traceId(trace),
    })
    const entries = await linked(project, [{ row_digest: "a", sources: [span("a1"), span("a2")] }])
    expect(entries[0]?.link_id).not.toBe(entries[1]?.link_id)
    expect((await sources(project)).map((one) => [one.source_trace_id, one.source_display_name])).toEqual([
      [traceId("a1"), "in a1"],
      [traceId("a2"), "in a2"],
    ])
    expect((await sources(project))[0]).toMatchObject({ source_started_at: "2026-03-01T10:00:00.123456Z" })
    for (const bad of [span("a3"), span("a1", "2")]) {
      const answer = await link(project, [{ row_digest: "b", sources: [span("a1"), bad] }])
      expect([answer.status, answer.body]).toMatchObject([
        400,
        { reason: expect.stringContaining(`span ${bad.source_id}`), error_type: "InvalidRequest" },
      ])
    }
    expect(await memberships(project, [span("a2")])).toMatchObject([
      { row_digests: ["a"], source_trace_id: traceId("a2") },
    ])
  })

  test("1000 links at once, 1001 are 413 and none is made", async () => {
    const project = acme.newProject()
    const source = await call(project)
    const rows = (count: number) =>
      Array.from({ length: count }, (_, n) => ({ row_digest: `r${n}`, sources: [source] }))
    const answer = await link(project, rows(1001))
    expect([answer.status, answer.body]).toMatchObject([413, { reason: expect.stringContaining("1001") }])
    expect(await sources(project)).toEqual([])
    expect(await linked(project, rows(1000))).toHaveLength(1000)
    expect(await sources(project, { limit: 5000 })).toHaveLength(1000)
  })

  test("each source of a link keeps a copy of the metadata: too much of it is 413 and none is made", async () => {
    const project = acme.newProject()
    const link_metadata = { note: "x".repeat(1024 * 1024) }
    const talks = (count: number) => Array.from({ length: count }, (_, n) => conversation(`talk ${n}`))
    const answer = await link(project, [{ row_digest: "a", sources: talks(32), link_metadata }])
    expect([answer.status, answer.body]).toMatchObject([413, { reason: expect.stringContaining("link_metadata") }])
    expect((await acme.post("/project/stats", { project_id: project })).status).toBe(403)
    expect(await linked(project, [{ row_digest: "a", sources: talks(2), link_metadata }])).toHaveLength(2)
  })

  test("a call that is not there, deleted or of another project is 400, and nothing is linked", async () => {
    const project = acme.newProject()
    const there = await call(project)
    const gone = await call(project)
    await acme.post("/calls/delete", { project_id: project, call_ids: [gone.source_id] })
    const foreign = await call(acme.newProject())
    for (const bad of [gone, foreign, { ...there, source_id: "nothing" }]) {
      const answer = await link(project, [
        { row_digest: "a", sources: [there] },
        { row_digest: "b", sources: [bad] },
      ])
      expect([answer.status, answer.body]).toEqual([
        400,
        { reason: expect.stringContaining(`call ${bad.source_id}`), error_type: "InvalidRequest" },
      ])
    }
    expect(await sources(project)).toEqual([])
  })

  test("a conversation has no trace, a span needs one", async () => {
    const project = acme.newProject()
    for (const bad of [conversation("talk", "t"), { source_kind: "span", source_id: "s", source_trace_id: "" }]) {
      const answer = await link(project, [{ row_digest: "a", sources: [bad] }])
      expect([answer.status, answer.body]).toMatchObject([400, { error_type: "InvalidRequest" }])
    }
  })

  test.each([
    [{ links: [{ row_digest: "", sources: [] }] }, ["body", "links", 0, "row_digest"]],
    [
      { links: [{ row_digest: "r", sources: [{ source_kind: "x", source_id: "a", source_trace_id: "" }] }] },
      ["body", "links", 0, "sources", 0, "source_kind"],
    ],
    [{ links: [{ row_digest: "r", sources: [], link_metadata: [] }] }, ["body", "links", "link_metadata"]],
    [{ links: [], dataset_object_id: "x".repeat(257) }, ["body", "dataset_object_id"]],
    [{ links: [], dataset_object_id: "\ud800" }, ["body", "dataset_object_id"]],
    [{ links: [{ row_digest: "\0", sources: [] }] }, ["body", "links", 0, "row_digest"]],
    [{ links: null }, ["body", "links"]],
  ])("%j is 422 at its place", async (body, loc) => {
    const answer = await link(acme.newProject(), [], body)
    expect([answer.status, (answer.body as { detail: { loc: unknown }[] }).detail[0]?.loc]).toEqual([422, loc])
  })
})

describe("objects 10: reading and deleting", () => {
  test("by rows, kinds and pages", async () => {
    const project = acme.newProject()
    const source = await call(project)
    await linked(
      project,
      ["c", "a", "b"].map((row_digest) => ({ row_digest, sources: [source, conversation("t")] })),
    )
    const rows = async (more: object) =>
      (await sources(project, more)).map((one) => `${one.row_digest} ${one.source_kind}`)
    expect(await rows({})).toEqual(["a call", "a conversation", "b call", "b conversation", "c call", "c conversation"])
    expect(await rows({ row_digests: ["c", "z"], source_kinds: ["call"] })).toEqual(["c call"])
    expect(await rows({ source_kinds: ["span"] })).toEqual([])
    expect(await rows({ row_digests: [] })).toEqual([])
    expect(await rows({ limit: 2, offset: 1 })).toEqual(["a conversation", "b call"])
    expect(await rows({ dataset_object_id: "other" })).toEqual([])
    const bad = await acme.post("/dataset_sources/query", { project_id: project, dataset_object_id: "x", limit: -1 })
    expect(bad.status).toBe(400)
  })

  test("law 8: links with large metadata are read some at a time, and answered as a stream", async () => {
    const project = acme.newProject()
    const rows = Array.from({ length: 20 }, (_, n) => ({
      row_digest: `r${String(n).padStart(2, "0")}`,
      sources: [conversation("talk")],
      link_metadata: { note: "x".repeat(1024 * 1024), n },
    }))
    await linked(project, rows)
    const answer = await acme.post("/dataset_sources/query", { project_id: project, dataset_object_id: "cases" })
    expect([answer.status, answer.headers["content-length"]]).toEqual([200, undefined])
    const { links } = datasetSources.parse(answer.body)
    expect(links.map((one) => [one.row_digest, one.link_metadata?.["n"]])).toEqual(
      rows.map((row) => [row.row_digest, row.link_metadata.n]),
    )
    expect((await sources(project, { limit: 2, offset: 18 })).map((one) => one.row_digest)).toEqual(["r18", "r19"])
  })

  test("a deleted link is hidden, counted as deleted once, and comes back under its id", async () => {
    const project = acme.newProject()
    const source = await call(project)
    const entries = await linked(project, [{ row_digest: "a", sources: [source, conversation("t")] }])
    const [first, second] = entries.map((one) => one.link_id) as [string, string]
    for (const missing of [randomUUID(), "nothing"]) {
      const answer = await unlink(project, [first, missing])
      expect([answer.status, answer.body]).toMatchObject([400, { error_type: "InvalidRequest" }])
    }
    expect(await sources(project)).toHaveLength(2)
    expect((await unlink(project, [first])).body).toEqual({ entries: [{ link_id: first, deleted: true }] })
    expect((await unlink(project, [second, first])).body).toEqual({
      entries: [
        { link_id: second, deleted: true },
        { link_id: first, deleted: false },
      ],
    })
    expect(await sources(project)).toEqual([])
    expect(await memberships(project, [source])).toEqual([])
    const kept = await sources(project, { include_deleted: true })
    expect(kept.map((one) => one.deleted_at)).toEqual([expect.any(String), expect.any(String)])
    expect(await memberships(project, [source], { include_deleted: true })).toHaveLength(1)
    const again = await linked(project, [{ row_digest: "a", sources: [source] }], { include_created_status: true })
    expect(again).toEqual([{ link_id: first, created: false }])
    expect((await sources(project)).map((one) => [one.id, one.deleted_at])).toEqual([[first, null]])
    expect((await unlink(project, [])).body).toEqual({ entries: [] })
  })

  test("a source lists the datasets that it is in, with the first hundred rows", async () => {
    const project = acme.newProject()
    const source = await call(project)
    const rows = Array.from({ length: 101 }, (_, n) => `r${String(n).padStart(3, "0")}`)
    await linked(
      project,
      rows.toReversed().map((row_digest) => ({ row_digest, sources: [source] })),
    )
    await linked(project, [{ row_digest: "x", sources: [source, conversation("t")] }], { dataset_object_id: "also" })
    const found = await memberships(project, [source, source, conversation("t"), conversation("unknown")])
    expect(found.map((one) => [one.source_kind, one.dataset_object_id, one.row_digests_total_count])).toEqual([
      ["call", "also", 1],
      ["call", "cases", 101],
      ["conversation", "also", 1],
    ])
    expect(found[1]).toMatchObject({ row_digests: rows.slice(0, 100), row_digests_truncated: true })
    expect(found[0]).toMatchObject({ row_digests: ["x"], row_digests_truncated: false })
    expect(await memberships(project, [])).toEqual([])
  })

  test("security 5.3: another team's links are out of reach", async () => {
    const project = acme.newProject()
    const source = await call(project)
    const [entry] = await linked(project, [{ row_digest: "a", sources: [source] }])
    const { rival } = opened
    const links = [{ row_digest: "a", sources: [source] }]
    const body = { project_id: project, dataset_object_id: "cases", dataset_digest: "", links, sources: [source] }
    for (const path of ["link", "link_delete", "query", "source_datasets_query"]) {
      const answer = await rival.post(`/dataset_sources/${path}`, { ...body, link_ids: [entry?.link_id] })
      expect([path, answer.status, answer.body]).toEqual([path, 403, { detail: "Project not found" }])
    }
    const own = rival.newProject()
    await rival.post("/obj/create", { obj: { project_id: own, object_id: "x", val: 1 } })
    expect((await rival.post("/dataset_sources/link", { ...body, project_id: own })).status).toBe(400)
    expect(
      (await rival.post("/dataset_sources/link_delete", { project_id: own, link_ids: [entry?.link_id] })).status,
    ).toBe(400)
    expect(await sources(project)).toHaveLength(1)
  })
})
