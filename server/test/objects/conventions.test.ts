/** Rules for all requests of the evaluation store: evaluation-store-objects 1. */
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { newQueue, QueueUser, storedCalls } from "../support/annotation-queues.ts"
import { type EvaluationApp, type EvaluationCaller, openEvaluationApp } from "../support/evaluation-app.ts"
import { runProject } from "../support/evaluation-runs.ts"
import { createdFeedback, feedbackItem, foundFeedback } from "../support/feedback-items.ts"

let opened: EvaluationApp
let acme: EvaluationCaller
beforeAll(async () => {
  opened = await openEvaluationApp()
  acme = opened.acme
})
afterAll(() => opened.close())

const publish = (project_id: string, object_id: string, val: unknown = 1) =>
  acme.post("/obj/create", { obj: { project_id, object_id, val } })

const price = { prompt_token_cost: 1, completion_token_cost: 2 }
const hour = { start: "2026-01-01T00:00:00Z", end: "2026-01-01T01:00:00Z" }

test("objects 1: fields that no model has are ignored wherever they stand, and nobody writes as somebody else", async () => {
  const { body } = await acme.post("/graphql", { query: "{ viewer { id } }" })
  const user = (body as { data: { viewer: { id: string } } }).data.viewer.id
  const surplus = { surplus: { a: [1] }, wb_user_id: "mallory" }
  const project_id = acme.newProject()
  const { digest } = (await publish(project_id, "seed")).body as { digest: string }
  const [call = ""] = await storedCalls(acme, project_id, 1)
  const { run, prediction, ref } = runProject(acme, project_id)
  const evaluation_run_id = await run()
  const prediction_id = await prediction({ evaluation_run_id })
  const queue = new QueueUser(acme, project_id, await newQueue(acme, project_id))
  await queue.add([call])
  const [item = ""] = await queue.itemIds()
  const v2 = `/v2/${project_id}`
  const idIs = (id: string) => ({ $expr: { $eq: [{ $getField: "id" }, { $literal: id }] } })
  const posts: [string, object][] = [
    ["/obj/create", { obj: { project_id, object_id: "mine", val: 1, ...surplus } }],
    ["/obj/read", { object_id: "mine", digest: "latest" }],
    ["/objs/query", { filter: { object_ids: ["mine"], ...surplus }, sort_by: [{ field: "object_id", ...surplus }] }],
    ["/obj/delete", { object_id: "mine", digests: null }],
    [`/objs/seed/versions/${digest}/tags/remove`, { tags: [] }],
    ["/objs/seed/aliases/remove", { aliases: [] }],
    ["/refs/read_batch", { refs: [] }],
    ["/feedback/create", feedbackItem(project_id, { id: "first" })],
    ["/feedback/batch/create", { batch: [feedbackItem(project_id, surplus)] }],
    ["/feedback/replace", { ...feedbackItem(project_id), feedback_id: "first" }],
    ["/feedback/query", { sort_by: [{ field: "id", ...surplus }] }],
    ["/feedback/purge", { query: idIs("nobody's") }],
    ["/feedback/stats", { ...hour, metrics: [{ json_path: "note", ...surplus }] }],
    ["/feedback/payload_schema", hour],
    ["/feedback/aggregate", { after_ms: 0, before_ms: 1 }],
    ["/annotation_queues", { name: "q", scorer_refs: [] }],
    ["/annotation_queues/query", {}],
    ["/annotation_queues/stats", { queue_ids: [] }],
    [`${queue.url}/items`, { call_ids: [call], display_fields: [] }],
    [`${queue.url}/items/query`, { filter: surplus }],
    [`${queue.url}/items/${item}/progress`, { annotation_state: "completed" }],
    [`${v2}/datasets`, { name: "d", rows: [surplus] }],
    [`${v2}/models`, { name: "m", source_code: "" }],
    [`${v2}/ops`, { name: "o" }],
    [`${v2}/scorers`, { name: "s", op_source_code: "" }],
    [`${v2}/evaluations`, { name: "e", dataset: "d" }],
    [`${v2}/evaluation_runs`, { evaluation: "e", model: "m" }],
    [`${v2}/predictions`, { model: "m", inputs: {}, output: null }],
    [`${v2}/predictions/${prediction_id}/finish`, {}],
    [`${v2}/scores`, { prediction_id, scorer: ref("scorer"), value: 1 }],
    [`${v2}/evaluation_runs/${evaluation_run_id}/finish`, { summary: {} }],
    [`${v2}/eval_results/query`, { evaluation_run_ids: [evaluation_run_id] }],
    ["/cost/create", { costs: { m: { ...price, ...surplus } } }],
    ["/cost/query", {}],
    ["/cost/purge", { query: idIs("nobody's") }],
    ["/service/projects_info", { project_ids: [project_id] }],
    ["/project/stats", {}],
    ["/project/ttl_settings/read", {}],
    ["/project/ttl_settings/update", { retention_days: null }],
    ["/dataset_sources/link", { dataset_object_id: "d", dataset_digest: "v0", links: [] }],
    ["/dataset_sources/query", { dataset_object_id: "d" }],
    ["/dataset_sources/source_datasets_query", { sources: [] }],
  ]
  for (const [url, fields] of posts) {
    const answer = await acme.post(url, { project_id, ...surplus, ...fields })
    expect([url, answer.status, answer.text]).toEqual([url, 200, answer.text])
    expect([url, answer.text.includes("mallory")]).toEqual([url, false])
  }
  const puts: [string, object][] = [
    [`/objs/seed/versions/${digest}/tags`, { tags: ["t"] }],
    ["/objs/seed/aliases", { digest, aliases: ["a"] }],
    [queue.url, { name: "renamed" }],
  ]
  for (const [url, fields] of puts) {
    const answer = await acme.put(url, { project_id, ...surplus, ...fields })
    expect([url, answer.status, answer.text]).toEqual([url, 200, answer.text])
  }
  const versions = (await acme.post("/objs/query", { project_id })).body as { objs: { wb_user_id: string }[] }
  const feedback = await foundFeedback(acme, project_id, { fields: ["wb_user_id"] })
  const predictions = (await acme.get(`${v2}/predictions`)).text.trim().split("\n")
  const scores = (await acme.get(`${v2}/scores`)).text.trim().split("\n")
  const made = [...predictions, ...scores].map((line) => JSON.parse(line) as { wb_user_id: string })
  const users = [...versions.objs, ...feedback.result, ...made].map(({ wb_user_id }) => wb_user_id)
  expect(users.length).toBeGreaterThan(10)
  expect(new Set(users)).toEqual(new Set([user]))
  expect(await queue.items()).toMatchObject([{ annotator_user_id: user, created_by: user }])
})

test("objects 1: ids that the server makes are UUIDs of version 7", async () => {
  const project = acme.newProject()
  const { run, prediction, score } = runProject(acme, project)
  const evaluation_run_id = await run()
  const prediction_id = await prediction({ evaluation_run_id })
  const queue = new QueueUser(acme, project, await newQueue(acme, project))
  await queue.add([evaluation_run_id])
  const costs = (await acme.post("/cost/create", { project_id: project, costs: { m: price } })).body
  const ids = [
    evaluation_run_id,
    prediction_id,
    await score({ prediction_id, evaluation_run_id }),
    queue.queue,
    ...(await queue.itemIds()),
    (await createdFeedback(acme, project)).id,
    (costs as { ids: [string, string][] }).ids[0]?.[0],
  ]
  expect(ids).toHaveLength(7)
  for (const id of ids) expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
})

test("objects 1: lists are JSON Lines, and nothing at all when nothing is in them", async () => {
  const project_id = acme.newProject()
  await publish(project_id, "plain")
  const families = ["datasets", "models", "ops", "scorers", "evaluations", "evaluation_runs", "predictions", "scores"]
  const answers = [
    ...(await Promise.all(families.map((family) => acme.get(`/v2/${project_id}/${family}`)))),
    await acme.post("/annotation_queues/query", { project_id }),
  ]
  const shown = answers.map(({ status, headers, text }) => [status, headers["content-type"], text])
  expect(shown).toEqual(answers.map(() => [200, "application/jsonl", ""]))
})

test.each(["noslash", "acme/p/q", "/p", "acme/", "/", ""])(
  "objects 1: %j is no project id: 400",
  async (project_id) => {
    for (const answer of [
      await acme.post("/objs/query", { project_id }),
      await publish(project_id, "x"),
      await acme.post("/feedback/create", feedbackItem(project_id)),
      await acme.post("/cost/query", { project_id }),
      await acme.post("/annotation_queues/query", { project_id }),
      await acme.get(`/tags?project_id=${encodeURIComponent(project_id)}`),
    ]) {
      expect([answer.status, answer.body]).toMatchObject([400, { error_type: "InvalidRequest" }])
    }
  },
)

describe("objects 1: limits and sorts", () => {
  test("without a limit everything comes", async () => {
    const project_id = acme.newProject()
    const many = Array.from({ length: 1500 }, (_, n) => `m${n}`)
    const costs = Object.fromEntries(many.map((model) => [model, price]))
    expect((await acme.post("/cost/create", { project_id, costs })).status).toBe(200)
    const prices = (await acme.post("/cost/query", { project_id, limit: null })).body as { results: unknown[] }
    expect(prices.results).toHaveLength(1500)
    const batch = many.map((id) => feedbackItem(project_id, { id }))
    expect((await acme.post("/feedback/batch/create", { batch })).status).toBe(200)
    const { result, total_count } = await foundFeedback(acme, project_id, { fields: ["id"] })
    expect([result.length, total_count]).toEqual([1500, 1500])
    for (const name of many.slice(0, 120)) await publish(project_id, name)
    expect((await acme.post("/objs/query", { project_id })).body).toHaveProperty("objs.length", 120)
  })

  test.each(["/objs/query", "/feedback/query", "/cost/query", "/annotation_queues/query"])(
    "%s: a sort has a field and is asc or desc, else 422",
    async (url) => {
      const project_id = acme.newProject()
      await publish(project_id, "x")
      for (const [sort, place] of [
        [{ direction: "asc" }, "field"],
        [{ field: "created_at", direction: "up" }, "direction"],
      ] as const) {
        const answer = await acme.post(url, { project_id, sort_by: [sort] })
        expect([answer.status, answer.body]).toMatchObject([422, { detail: [{ loc: ["body", "sort_by", 0, place] }] }])
      }
    },
  )
})

test("objects 1: X-Weave-Retry-Id is no idempotency key", async () => {
  const project_id = acme.newProject()
  const headers = { "x-weave-retry-id": "0190a1b2-0000-7000-8000-000000000001" }
  for (let again = 0; again < 2; again++) {
    expect((await acme.post("/feedback/create", feedbackItem(project_id), headers)).status).toBe(200)
    const obj = { project_id, object_id: "x", val: again }
    expect((await acme.post("/obj/create", { obj }, headers)).status).toBe(200)
  }
  expect((await foundFeedback(acme, project_id)).total_count).toBe(2)
  expect((await acme.post("/objs/query", { project_id }, headers)).body).toHaveProperty("objs.length", 2)
})
