/** Annotation queues and their items: evaluation-store-objects 2.6 and 6. */
import { setTimeout as sleep } from "node:timers/promises"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { filledQueue, newQueue, newSpec, QueueUser, storedCalls } from "../support/annotation-queues.ts"
import { completedCall, uuid } from "../support/completed-call.ts"
import { type EvaluationApp, type EvaluationCaller, openEvaluationApp } from "../support/evaluation-app.ts"

let opened: EvaluationApp
let colleague: EvaluationCaller
beforeAll(async () => {
  opened = await openEvaluationApp()
  colleague = await opened.addColleague("colleague")
})
afterAll(() => opened.close())

const absent = "0190a1b2-0000-7000-8000-000000000009"

describe("objects 6.1: queues", () => {
  test("one is made, read, and shown in the reference's fields alone", async () => {
    const project = opened.acme.newProject()
    const tone = await newSpec(opened.acme, project, "tone", { type: "string" })
    const id = await newQueue(opened.acme, project, {
      name: "triage",
      description: "read all of it",
      scorer_refs: [tone],
      wb_user_id: "somebody",
    })
    expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-/)
    const queue = await new QueueUser(opened.acme, project, id).read()
    expect(queue).toEqual({
      id,
      project_id: project,
      name: "triage",
      description: "read all of it",
      scorer_refs: [tone],
      created_at: expect.stringMatching(/^20\d\d-.*Z$/),
      created_by: expect.not.stringMatching("somebody"),
      updated_at: queue.created_at,
      deleted_at: null,
    })
  })

  test("a spec that is not there, or in another project, is refused by name, and nothing is made or changed", async () => {
    const project = opened.acme.newProject()
    const tone = await newSpec(opened.acme, project, "tone", { type: "string" })
    const gone = await newSpec(opened.acme, project, "gone", { type: "string" })
    const queue = new QueueUser(opened.acme, project, await newQueue(opened.acme, project, { scorer_refs: [gone] }))
    await opened.acme.post("/obj/delete", { project_id: project, object_id: "gone" })
    const foreign = await newSpec(opened.rival, opened.rival.newProject(), "tone", { type: "string" })
    const elsewhere = await newSpec(opened.acme, opened.acme.newProject(), "tone", { type: "string" })
    const refused: [string, number][] = [
      [elsewhere, 400],
      [`weave:///${project}/object/absent:latest`, 404],
      [`weave:///${project}/object/tone:v7`, 404],
      [`weave:///${project}/scorer/absent:latest`, 404],
      [gone, 404],
      [foreign, 404],
      [`weave:///${project}/call/${absent}`, 400],
      ["tone", 400],
    ]
    for (const [ref, status] of refused) {
      const body = { project_id: project, name: "refused", scorer_refs: [tone, ref] }
      for (const answer of [
        await opened.acme.post("/annotation_queues", body),
        ...(ref === gone ? [] : [await opened.acme.put(queue.url, body)]),
      ]) {
        expect([ref, answer.status]).toEqual([ref, status])
        expect((answer.body as { reason: string }).reason).toContain(`scorer_refs "${ref}"`)
      }
    }
    const names = (await opened.acme.lines("/annotation_queues/query", { project_id: project })) as { name: string }[]
    expect(names.map(({ name }) => name)).toEqual(["reviews"])
    expect(await queue.read()).toMatchObject({ name: "reviews", scorer_refs: [gone] })
    const unmade = opened.acme.newProject()
    const first = { project_id: unmade, name: "q", scorer_refs: [`weave:///${unmade}/object/tone:latest`] }
    expect((await opened.acme.post("/annotation_queues", first)).status).toBe(404)
    expect((await opened.acme.post("/annotation_queues/query", { project_id: unmade })).status).toBe(403)
  })

  test("a queue keeps a spec that was deleted since, and its other settings can still be changed", async () => {
    const project = opened.acme.newProject()
    const tone = await newSpec(opened.acme, project, "tone", { type: "string" })
    const queue = new QueueUser(opened.acme, project, await newQueue(opened.acme, project, { scorer_refs: [tone] }))
    await opened.acme.post("/obj/delete", { project_id: project, object_id: "tone" })
    const changed = await opened.acme.put(queue.url, { ...(await queue.read()), name: "renamed" })
    expect(changed).toMatchObject({ status: 200, body: { queue: { name: "renamed", scorer_refs: [tone] } } })
  })

  test("a scorer may be named in each way that the API writes it", async () => {
    const project = opened.acme.newProject()
    const tone = await newSpec(opened.acme, project, "tone", { type: "string" })
    const forms = [tone, tone.replace("/object/", "/scorer/"), `weave:///${project}/object/tone:latest`]
    const id = await newQueue(opened.acme, project, { scorer_refs: forms })
    expect(await new QueueUser(opened.acme, project, id).read()).toMatchObject({ scorer_refs: forms })
  })

  test("description is empty unless given; names need not differ", async () => {
    const project = opened.acme.newProject()
    const ids = [await newQueue(opened.acme, project), await newQueue(opened.acme, project, { description: null })]
    expect(ids[0]).not.toBe(ids[1])
    expect(await new QueueUser(opened.acme, project, ids[1] ?? "").read()).toMatchObject({ description: "" })
  })

  test("required fields: 422", async () => {
    const project_id = opened.acme.newProject()
    for (const body of [
      { name: "n", scorer_refs: [] },
      { project_id, scorer_refs: [] },
      { project_id, name: "n" },
    ]) {
      expect(await opened.acme.post("/annotation_queues", body)).toMatchObject({
        status: 422,
        body: { detail: [{ type: "missing" }] },
      })
    }
    expect(
      (await opened.acme.post("/annotation_queues", { project_id, name: "n\u0000", scorer_refs: [] })).status,
    ).toBe(400)
  })
})

describe("objects 6.2: POST /annotation_queues/query", () => {
  test("JSON Lines of live queues, the newest first", async () => {
    const project_id = opened.acme.newProject()
    const made: string[] = []
    for (const name of ["b", "c", "a"]) {
      made.push(await newQueue(opened.acme, project_id, { name }))
      // Two that are made in one millisecond have no order.
      await sleep(2)
    }
    const [first, second, third] = made
    const ids = async (fields: object) =>
      (await opened.acme.lines("/annotation_queues/query", { project_id, ...fields })).map(
        (queue) => (queue as { id: string }).id,
      )
    expect(await ids({})).toEqual([third, second, first])
    expect(await ids({ sort_by: [{ field: "name", direction: "asc" }] })).toEqual([third, first, second])
    expect(await ids({ sort_by: [{ field: "created_at" }] })).toEqual([first, second, third])
    expect(await ids({ sort_by: [{ field: "id", direction: "desc" }] })).toEqual([third, second, first])
    expect(await ids({ sort_by: [{ field: "nothing", direction: "asc" }] })).toEqual([third, second, first])
    expect(await ids({ limit: 1, offset: 1 })).toEqual([second])
    await opened.acme.put(`/annotation_queues/${first}`, { project_id, description: "changed" })
    expect(await ids({ sort_by: [{ field: "updated_at", direction: "desc" }] })).toEqual([first, third, second])
    const answer = await opened.acme.post("/annotation_queues/query", { project_id })
    expect(answer.headers["content-type"]).toBe("application/jsonl")
    await opened.acme.delete(`/annotation_queues/${second}?project_id=${project_id}`)
    expect(await ids({})).toEqual([third, first])
  })

  test("name is part of it, whatever the case; % and _ stand for themselves", async () => {
    const project_id = opened.acme.newProject()
    for (const name of [
      "Quality 100%",
      "quality 1000",
      "tone_of_voice",
      "toneXofXvoice",
      "back\\slash",
      "École ЖАБА",
    ]) {
      await newQueue(opened.acme, project_id, { name })
    }
    const names = async (name: string) =>
      (await opened.acme.lines("/annotation_queues/query", { project_id, name, sort_by: [{ field: "name" }] })).map(
        (queue) => (queue as { name: string }).name,
      )
    expect(await names("QUALITY")).toHaveLength(2)
    expect(await names("100%")).toEqual(["Quality 100%"])
    expect(await names("tone_")).toEqual(["tone_of_voice"])
    expect(await names("k\\s")).toEqual(["back\\slash"])
    expect(await names("éCOLE жаба")).toEqual(["École ЖАБА"])
    expect(await names("none")).toEqual([])
  })

  test("objects 1: a negative limit or offset is 400", async () => {
    const project_id = opened.acme.newProject()
    await newQueue(opened.acme, project_id)
    for (const range of [{ limit: -1 }, { offset: -1 }]) {
      expect(await opened.acme.post("/annotation_queues/query", { project_id, ...range })).toMatchObject({
        status: 400,
        body: { error_type: "InvalidRequest" },
      })
    }
  })
})

describe("objects 2.6: PUT /annotation_queues/{queue_id}", () => {
  test("null and absent leave alone; what is given is set, and only that moves updated_at", async () => {
    const user = await filledQueue(opened.acme, 0, { description: "old" })
    const tone = await newSpec(opened.acme, user.project, "tone", { type: "string" })
    await opened.acme.put(user.url, { project_id: user.project, scorer_refs: [tone] })
    const before = await user.read()
    const put = (fields: object) => opened.acme.put(user.url, { project_id: user.project, ...fields })
    expect((await put({ name: null, description: null, scorer_refs: null })).body).toEqual({ queue: before })
    const renamed = (await put({ name: "new", description: null, scorer_refs: null })).body as { queue: typeof before }
    expect(renamed.queue).toEqual({ ...before, name: "new", updated_at: expect.any(String) })
    expect(renamed.queue.updated_at > before.updated_at).toBe(true)
    const cleared = { project_id: user.project, name: "n".repeat(10_000), description: "", scorer_refs: [] }
    expect((await colleague.put(user.url, cleared)).body).toMatchObject({
      queue: { ...cleared, created_by: before.created_by, created_at: before.created_at },
    })
    expect(await opened.acme.put(user.url, { name: "x" })).toMatchObject({
      status: 422,
      body: { detail: [{ loc: ["body", "project_id"], type: "missing" }] },
    })
  })

  test("a missing or deleted queue is 404", async () => {
    const user = await filledQueue(opened.acme, 0)
    const body = { project_id: user.project, name: "x" }
    const gone = { status: 404, body: { error_type: "NotFoundError" } }
    expect(await opened.acme.put(`/annotation_queues/${absent}`, body)).toMatchObject(gone)
    expect(await opened.acme.put("/annotation_queues/no-uuid", body)).toMatchObject(gone)
    expect(await opened.acme.get(`/annotation_queues/${absent}${user.inProject}`)).toMatchObject(gone)
    await opened.acme.delete(`${user.url}${user.inProject}`)
    expect(await opened.acme.put(user.url, body)).toMatchObject(gone)
    expect(await opened.acme.put(user.url, { project_id: user.project })).toMatchObject(gone)
  })
})

describe("objects 6.2: DELETE /annotation_queues/{queue_id}", () => {
  test("marks the queue; a second one is 404; items stay counted", async () => {
    const user = await filledQueue(opened.acme, 2)
    const deleted = await opened.acme.delete(`${user.url}${user.inProject}`)
    expect(deleted).toMatchObject({ status: 200, body: { queue: { id: user.queue } } })
    const { queue } = deleted.body as { queue: { deleted_at: string; updated_at: string } }
    expect(queue.deleted_at).toMatch(/Z$/)
    expect(queue.updated_at).toBe(queue.deleted_at)
    for (const again of [
      opened.acme.delete(`${user.url}${user.inProject}`),
      opened.acme.get(user.url + user.inProject),
    ]) {
      expect(await again).toMatchObject({ status: 404, body: { error_type: "NotFoundError" } })
    }
    const stats = await opened.acme.post("/annotation_queues/stats", {
      project_id: user.project,
      queue_ids: [user.queue],
    })
    expect(stats.body).toEqual({ stats: [{ queue_id: user.queue, total_items: 2, completed_items: 0 }] })
  })
})

describe("objects 6.2: adding calls", () => {
  test("duplicates are counted, unknown calls are not, calls are copied as they were", async () => {
    const project = opened.acme.newProject()
    await storedCalls(opened.acme, project, 3, (n) => ({ trace: 7, opName: `op-${n}` }))
    const user = new QueueUser(opened.acme, project, await newQueue(opened.acme, project))
    expect(await user.add([uuid(2), uuid(1), uuid(2), absent])).toEqual({ added_count: 2, duplicates: 0 })
    expect(await user.add([uuid(1), uuid(3)], ["output.text"])).toEqual({ added_count: 1, duplicates: 1 })
    const items = await user.items()
    expect(items.map((item) => [item.call_id, item.call_op_name, item.display_fields])).toEqual([
      [uuid(2), "op-2", ["inputs"]],
      [uuid(1), "op-1", ["inputs"]],
      [uuid(3), "op-3", ["output.text"]],
    ])
    expect(items[0]).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      project_id: project,
      queue_id: user.queue,
      call_id: uuid(2),
      call_started_at: "2026-01-01T00:00:02.000000Z",
      call_ended_at: "2026-03-01T00:00:01.000000Z",
      call_op_name: "op-2",
      call_trace_id: uuid(7),
      display_fields: ["inputs"],
      added_by: items[0]?.created_by,
      annotation_state: "unstarted",
      annotator_user_id: null,
      created_at: expect.any(String),
      created_by: expect.any(String),
      updated_at: items[0]?.created_at,
      deleted_at: null,
      position_in_queue: null,
    })
  })

  test("a missing queue is 404, an empty list adds nothing, and both lists are required", async () => {
    const user = await filledQueue(opened.acme, 1)
    expect(await user.add([])).toEqual({ added_count: 0, duplicates: 0 })
    const other = new QueueUser(opened.acme, user.project, absent)
    expect((await other.post("/items", { call_ids: [uuid(1)], display_fields: [] })).status).toBe(404)
    expect((await other.post("/items/query")).status).toBe(404)
    expect((await user.post("/items", { call_ids: [uuid(1)] })).status).toBe(422)
    expect((await user.post("/items", { display_fields: [] })).status).toBe(422)
  })

  test("an item shows its call as it was when the item was added", async () => {
    const project = opened.acme.newProject()
    const began = "2026-03-01T00:00:00Z"
    const start = { project_id: project, id: uuid(1), trace_id: uuid(7), started_at: began, attributes: {}, inputs: {} }
    await opened.acme.post("/call/start", { start: { ...start, op_name: "before" } })
    const user = new QueueUser(opened.acme, project, await newQueue(opened.acme, project))
    await user.add([uuid(1)])
    const [item] = await user.items()
    expect(item).toMatchObject({ call_started_at: "2026-03-01T00:00:00.000000Z", call_ended_at: null })
    const batch = [completedCall(project, { id: 1, trace: 8, opName: "after", startedAt: "2026-04-01T00:00:00Z" })]
    expect((await opened.acme.post(`/v2/${project}/calls/complete`, { batch })).status).toBe(200)
    expect(await user.items()).toEqual([item])
  })

  test("more than one batch of them keeps its order", async () => {
    const user = await filledQueue(opened.acme, 2500)
    const items = await user.items()
    expect(items.map(({ call_id }) => call_id)).toEqual(Array.from({ length: 2500 }, (_, index) => uuid(index + 1)))
  })
})

describe("objects 6.3: items", () => {
  test("filters, sorts, pages; the position is counted before the states are looked at", async () => {
    const project = opened.acme.newProject()
    const calls = await storedCalls(opened.acme, project, 6, (n) => ({
      opName: n % 2 === 0 ? "even" : "odd",
      trace: n,
    }))
    const user = new QueueUser(opened.acme, project, await newQueue(opened.acme, project))
    await user.add(calls)
    const ids = await user.itemIds()
    await user.moved(ids[1] ?? "", "completed")
    await user.moved(ids[3] ?? "", "skipped")
    const shown = async (fields: Record<string, unknown>) =>
      (await user.items(fields)).map(({ call_id, position_in_queue }) => [
        calls.indexOf(call_id) + 1,
        position_in_queue,
      ])
    expect(await shown({ filter: { call_op_name: "even" }, include_position: true })).toEqual([
      [2, 1],
      [4, 2],
      [6, 3],
    ])
    expect(
      await shown({
        filter: { call_op_name: "even", annotation_states: ["skipped", "unstarted"] },
        include_position: true,
      }),
    ).toEqual([
      [4, 2],
      [6, 3],
    ])
    expect(
      await shown({
        sort_by: [{ field: "call_started_at", direction: "desc" }],
        include_position: true,
        limit: 2,
        offset: 1,
      }),
    ).toEqual([
      [5, 2],
      [4, 3],
    ])
    expect(await shown({ filter: { annotation_states: ["completed"] } })).toEqual([[2, null]])
    expect(await shown({ filter: { call_id: uuid(5) } })).toEqual([[5, null]])
    expect(await shown({ filter: { call_trace_id: uuid(6) } })).toEqual([[6, null]])
    expect(await shown({ filter: { id: ids[0] } })).toEqual([[1, null]])
    expect(await shown({ filter: { id: "none" } })).toEqual([])
    expect(await shown({ filter: { added_by: "nobody" } })).toEqual([])
    const all = await user.items()
    expect(await shown({ filter: { added_by: all[0]?.added_by, call_op_name: "even" }, limit: 1 })).toEqual([[2, null]])
    const sorted = async (field: string, direction?: string) =>
      (await shown({ sort_by: [{ field, ...(direction === undefined ? {} : { direction }) }] }))
        .map(([n]) => n)
        .join("")
    // Ties are in the order of ids, which is random for ids made in the same millisecond.
    const [even = "", odd = ""] = ["even", "odd"].map((name) =>
      all
        .filter(({ call_op_name }) => call_op_name === name)
        .toSorted((a, b) => (a.id < b.id ? -1 : 1))
        .map(({ call_id }) => calls.indexOf(call_id) + 1)
        .join(""),
    )
    expect(await sorted("call_op_name")).toBe(even + odd)
    expect(await sorted("call_op_name", "desc")).toBe(odd + even)
    expect(await sorted("created_at", "desc")).toBe("654321")
    const times = (await user.items({ sort_by: [{ field: "updated_at" }] })).map(({ updated_at }) => updated_at)
    expect(times).toEqual(times.toSorted())
    expect(await sorted("annotation_state", "desc")).toBe("123456")
    expect(await shown({ filter: { annotation_states: [] }, limit: 1 })).toEqual([[1, null]])
    expect((await user.post("/items/query", { filter: { annotation_states: ["done"] } })).status).toBe(422)
    expect((await user.post("/items/query", { limit: -1 })).status).toBe(400)
  })

  test("an item that is taken out is gone from lists and counts, and its call may be added again", async () => {
    const user = await filledQueue(opened.acme, 2)
    const [first = ""] = await user.itemIds()
    const url = `${user.url}/items/${first}${user.inProject}`
    expect(await opened.acme.delete(url)).toMatchObject({
      status: 200,
      body: { item: { id: first, deleted_at: expect.stringMatching(/Z$/) } },
    })
    expect(await opened.acme.delete(url)).toMatchObject({ status: 404, body: { error_type: "NotFoundError" } })
    expect(await user.itemIds()).toHaveLength(1)
    expect(await user.nextCall()).toBe(uuid(2))
    expect(await user.add([uuid(1)])).toEqual({ added_count: 1, duplicates: 0 })
  })
})

describe("objects 6.2: POST /annotation_queues/stats", () => {
  test("an item that anybody completed or skipped counts, one in progress does not", async () => {
    const user = await filledQueue(opened.acme, 4)
    const ids = await user.itemIds()
    await user.moved(ids[0] ?? "", "completed")
    await user.moved(ids[1] ?? "", "skipped")
    await user.moved(ids[2] ?? "", "in_progress")
    await user.as(colleague).moved(ids[0] ?? "", "completed")
    await user.as(colleague).moved(ids[1] ?? "", "in_progress")
    const stats = async (queue_ids: string[]) =>
      (await opened.acme.post("/annotation_queues/stats", { project_id: user.project, queue_ids })).body
    expect(await stats([absent, user.queue, "no-uuid"])).toEqual({
      stats: [
        { queue_id: absent, total_items: 0, completed_items: 0 },
        { queue_id: user.queue, total_items: 4, completed_items: 2 },
        { queue_id: "no-uuid", total_items: 0, completed_items: 0 },
      ],
    })
    expect(await stats([])).toEqual({ stats: [] })
  })
})

describe("security 5.3: another tenant's queue", () => {
  test("every route refuses: 403 for the project, 404 for the queue under an own project", async () => {
    const user = await filledQueue(opened.acme, 1)
    const [item = ""] = await user.itemIds()
    const own = opened.rival.newProject()
    await newQueue(opened.rival, own)
    const routes = opened.app.routes.filter(({ path }) => path.startsWith("/annotation_queues/:queue_id"))
    expect(routes.length).toBeGreaterThanOrEqual(12)
    const body = { call_ids: [], display_fields: [], annotation_state: "completed", name: "x", value: 1 }
    for (const { method, path } of routes) {
      for (const [project_id, status] of [
        [user.project, 403],
        [own, 404],
      ] as const) {
        const url = path.replace(":queue_id", user.queue).replace(":item_id", item).replace(":field", "tone")
        const answer = await opened.app.server.inject({
          method,
          url: `${url}?project_id=${encodeURIComponent(project_id)}`,
          headers: { authorization: `Bearer ${opened.rival.key}`, "content-type": "application/json" },
          ...(method === "GET" || method === "DELETE" ? {} : { payload: JSON.stringify({ project_id, ...body }) }),
        })
        expect([method, path, answer.statusCode]).toEqual([method, path, status])
      }
    }
    expect(await user.items()).toMatchObject([{ id: item, annotation_state: "unstarted" }])
  })
})
