/** Every list in a request has a longest length, because each element is work for the catalog or the trace store. */
import { afterAll, beforeAll, expect, test, vi } from "vitest"
import { z } from "zod"
import type { Route } from "../../src/http/route.ts"
import { type EvaluationApp, openEvaluationApp } from "../support/evaluation-app.ts"

let opened: EvaluationApp
beforeAll(async () => (opened = await openEvaluationApp()))
afterAll(() => opened.close())

/**
 * Routes whose lists need no length: lists that no store sees (chat), that have an error of their own below, that are
 * parts of a payload (predictions, scores), or whose bytes are limited (tables, batches of calls).
 */
const elsewhere = `
  /v1/chat/completions /v1/completions /v1/embeddings /v1/messages /v1/messages/count_tokens /v1/responses
  /v1/responses/input_tokens /tokenize /detokenize /v1/tokenize /v1/detokenize
  /completions/create /completions/create_stream
  /v1/preview/training-jobs /v1/preview/sft-training-jobs /v1/preview/models/:model_id/log
  /call/upsert_batch /calls/complete /v2/:entity/:project/calls/complete
  /table/create /table/update /table/create_from_digests /v2/:entity/:project/datasets
  /otel/v1/traces /v1/traces /otel/v1/logs /v1/logs /agents/otel/v1/traces
  /calls/delete /calls/usage /obj/delete /dataset_sources/link_delete /dataset_sources/link
  /v2/:entity/:project/predictions /v2/:entity/:project/scores
  /scoring_rules /scoring_rules/:rule_id
  /files/resolve_url /refs/read_batch /v2/:entity/:project/eval_results/query
`.split(/\s+/)

/** Lists of filters, which are 400 above 1000 by calls 3.5. */
const filterList =
  /\.filter\.(op_names|input_refs|output_refs|parent_ids|trace_ids|call_ids|thread_ids|turn_ids|wb_run_ids)$/

/** Places in a schema where a list may have any length. */
function unbounded(schema: unknown, path: string): string[] {
  if (typeof schema !== "object" || schema === null) return []
  const own = "items" in schema && !("maxItems" in schema) ? [path] : []
  const inner = Object.entries(schema).flatMap(([key, value]) =>
    key === "properties"
      ? Object.entries(value as object).flatMap(([name, one]) => unbounded(one, `${path}.${name}`))
      : unbounded(value, path),
  )
  return [...own, ...inner]
}

function unboundedLists({ schemas, bodyDocument, path }: Route): string[] {
  const body = schemas.body ?? bodyDocument
  if (body === undefined || elsewhere.includes(path)) return []
  return unbounded(z.toJSONSchema(body, { io: "input", unrepresentable: "any" }), path)
}

test("law 8: every list of every body has a longest length in its schema", () => {
  const found = opened.app.routes.flatMap(unboundedLists).filter((list) => !filterList.test(list))
  expect(found).toEqual([])
})

test.each<[string, string, object, string]>([
  ["names of projects", "/service/projects_info", { project_ids: Array(1001).fill("acme/p") }, "project_ids"],
  [
    "calls for a queue",
    "/annotation_queues/q/items",
    { call_ids: Array(10_001).fill("c"), display_fields: [] },
    "call_ids",
  ],
  ["sort keys", "/calls/stream_query", { sort_by: Array.from({ length: 21 }, () => ({ field: "id" })) }, "sort_by"],
  [
    "operands",
    "/calls/stream_query",
    { query: { $expr: { $in: [{ $getField: "id" }, Array.from({ length: 10_001 }, () => ({ $literal: "x" }))] } } },
    "query",
  ],
  ["tags", `/objs/o/versions/${"d".repeat(43)}/tags/remove`, { tags: Array(10_001).fill("t") }, "tags"],
  ["feedback", "/feedback/batch/create", { batch: Array.from({ length: 10_001 }, () => ({})) }, "batch"],
])("law 8: more %s than one request may bring are 422, and the limit is named", async (_, url, body, field) => {
  const answer = await opened.acme.post(url, { project_id: "acme/p", ...body })
  expect(answer.status).toBe(422)
  const { detail } = answer.body as { detail: { loc: string[]; msg: string }[] }
  const issue = detail.find(({ msg }) => msg.startsWith("at most"))
  expect(issue?.loc).toContain(field)
  expect(issue?.msg).toMatch(/^at most \d+ in one request, received \d+ items$/)
})

test.each<[string, object, number]>([
  ["/calls/stream_query", { filter: { call_ids: Array(1001).fill("c") } }, 400],
  ["/calls/usage", { call_ids: Array(1001).fill("c") }, 400],
  ["/calls/delete", { call_ids: Array(1001).fill("c") }, 413],
  ["/obj/delete", { object_id: "o", digests: Array.from({ length: 101 }, (_, n) => `v${n}`) }, 400],
  ["/refs/read_batch", { refs: Array(1001).fill("weave:///acme/p/object/o:latest") }, 400],
  ["/files/resolve_url", { uris: Array(1001).fill("d".repeat(43)) }, 400],
  ["/dataset_sources/link_delete", { link_ids: Array(1001).fill("x") }, 413],
])("law 8: %s refuses a list that is too long by its contract's status", async (url, body, status) => {
  await opened.acme.post("/obj/create", { obj: { project_id: "acme/p", object_id: "o", val: 1 } })
  const answer = await opened.acme.post(url, { project_id: "acme/p", ...body })
  expect([answer.status, answer.text]).toEqual([status, expect.stringMatching(/\b10(00|0)\b/) as unknown])
})

/** Runs `work`; returns the number of statements that the catalog runs meanwhile. */
async function statements(work: () => Promise<unknown>): Promise<number> {
  const ran = vi.spyOn(opened.app.stores.catalog.getExecutor(), "executeQuery")
  await work()
  const count = ran.mock.calls.length
  ran.mockRestore()
  return count
}

test("law 8: a thousand names of projects are one question to the catalog, answered in their order", async () => {
  const made = ["acme/one", "acme/two"]
  for (const project_id of made) {
    await opened.acme.post("/obj/create", { obj: { project_id, object_id: "o", val: 1 } })
  }
  await opened.restart()
  await opened.acme.get("/v1/organization/me")
  const others = Array.from({ length: 990 }, (_, n) => `acme/absent-${n}`)
  const project_ids = [
    "acme/two",
    ...others,
    "rival/one",
    "acme",
    "acme/a/b",
    "acme/\0",
    "acme/\ud800",
    "acme/one",
    "acme/two",
  ]
  let answer: unknown
  const count = await statements(async () => {
    answer = (await opened.acme.post("/service/projects_info", { project_ids })).body
  })
  expect(count).toBe(1)
  expect(answer).toMatchObject([
    { external_project_id: "acme/two" },
    { external_project_id: "acme/one" },
    { external_project_id: "acme/two" },
  ])
})

test("law 8: a thousand refs that name versions by alias are a few questions to the catalog", async () => {
  const project_id = opened.acme.newProject()
  await opened.acme.post("/obj/create", { obj: { project_id, object_id: "o", val: { a: 1 } } })
  const refs = Array.from(
    { length: 1000 },
    (_, n) => `weave:///${project_id}/object/o:${n % 2 === 0 ? "latest" : "v0"}`,
  )
  let answer: unknown
  const count = await statements(async () => {
    answer = (
      await opened.acme.post("/refs/read_batch", { refs: refs.map((ref, n) => (n < 2 ? ref : `${ref}/attr/a`)) })
    ).body
  })
  expect((answer as { vals: unknown[] }).vals.slice(0, 4)).toEqual([{ a: 1 }, { a: 1 }, 1, 1])
  expect((answer as { vals: unknown[] }).vals).toHaveLength(1000)
  expect(count).toBeLessThanOrEqual(11)
})
