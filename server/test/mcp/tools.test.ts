/** Each tool on real data, its refusals, large answers, and two teams. */
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest"
import { FakeEngine } from "../../src/engines/fake-engine.ts"
import { newQueue, newSpec, QueueUser } from "../support/annotation-queues.ts"
import { uuid } from "../support/completed-call.ts"
import { type EvaluationApp, openEvaluationApp } from "../support/evaluation-app.ts"
import { runProject } from "../support/evaluation-runs.ts"
import { evaluation, publish, publishDataset, structuredModel } from "../support/judges.ts"
import { listening, type McpCaller, mcpCaller, scopedKey } from "../support/mcp-client.ts"

let opened: EvaluationApp
let base: string
/** Callers with a key that may train, and with a key of another team. */
let acme: McpCaller
let rival: McpCaller
beforeAll(async () => {
  opened = await openEvaluationApp({}, new FakeEngine())
  base = await listening(opened)
  acme = await mcpCaller(base, await scopedKey(opened.acme, "train"))
  rival = await mcpCaller(base, opened.rival.key)
})
afterAll(() => opened.close())

interface Call {
  call_id: string
  op: string
  status: string
  exception: string | null
  inputs?: unknown
  output?: unknown
  feedback?: { type: string; payload: unknown }[]
}
interface Found {
  calls: Call[]
  count: number
  next_offset: number | null
  note: string | null
  facets?: unknown
}
const idsOf = ({ calls }: Found) => calls.map(({ call_id }) => call_id)

/** Stores calls numbered from 1, the first the oldest, each a trace of its own. */
async function store(project: string, count: number, fields: (n: number) => object): Promise<void> {
  const batch = Array.from({ length: count }, (_, index) => {
    const second = new Date(Date.UTC(2026, 0, 1) + (index + 1) * 1000).toISOString()
    return {
      project_id: project,
      id: uuid(index + 1),
      trace_id: uuid(index + 1),
      parent_id: null,
      op_name: "op",
      started_at: second,
      ended_at: second,
      attributes: {},
      inputs: {},
      output: null,
      summary: {},
      exception: null,
      ...fields(index + 1),
    }
  })
  const { status, text } = await opened.acme.post(`/v2/${project}/calls/complete`, { batch })
  expect([status, text]).toEqual([200, text])
}

/** Stores ten calls of a program, of which two failed and one is slow; returns the project. */
async function program(): Promise<string> {
  const project = opened.acme.newProject()
  await store(project, 10, (n) => ({
    op_name: n % 2 === 0 ? "answer" : `weave:///${project}/op/retrieve:v1`,
    inputs: { question: `what is ${n}?`, user: n > 5 ? "ada" : "grace" },
    output: n === 3 ? null : `it is ${n} café`,
    exception: n === 3 || n === 4 ? "ValueError: no such number" : null,
  }))
  return project
}

describe("finding", () => {
  test("list_projects names the caller's own, page after page", async () => {
    const project = await program()
    const { projects } = await acme.use<{ projects: { project: string }[] }>("list_projects", {
      search: project.split("/")[1],
    })
    expect(projects.map((one) => one.project)).toEqual([project])
    const first = await acme.use<{ projects: object[]; next_after: string }>("list_projects", { limit: 1 })
    expect(first.projects).toHaveLength(1)
    await program()
    const page = await acme.use<{ next_after: string | null }>("list_projects", { limit: 1 })
    expect(page.next_after).not.toBeNull()
    expect(await rival.use("list_projects", {})).toEqual({ projects: [], next_after: null })
  })

  test("search_calls finds failures, what they have in common, texts, functions, values and times", async () => {
    const project = await program()
    const search = (input: object) => acme.use<Found>("search_calls", { project, ...input })
    const failed = await search({
      where: [{ field: "summary.weave.status", operator: "is", value: "error" }],
      facets: ["exception", "inputs.user"],
    })
    expect(failed).toMatchObject({
      count: 2,
      count_is_complete: true,
      next_offset: null,
      note: null,
      calls: [
        { call_id: uuid(4), op: "answer", status: "error", exception: "ValueError: no such number" },
        { call_id: uuid(3), op: "retrieve", inputs: { question: "what is 3?", user: "grace" }, output: null },
      ],
      facets: [
        { field: "exception", values: [{ value: "ValueError: no such number", count: 2 }] },
        { field: "inputs.user", values: [{ value: "grace", count: 2 }] },
      ],
    })
    expect(idsOf(await search({ text: "IS 7 CAFé" }))).toEqual([uuid(7)])
    expect((await search({ op_names: ["retrieve"] })).count).toBe(5)
    expect(
      idsOf(
        await search({
          where: [{ field: "inputs.user", operator: "is_not", value: "ada" }],
          order: "oldest",
          limit: 2,
        }),
      ),
    ).toEqual([uuid(1), uuid(2)])
    expect((await search({ where: [{ field: "inputs.user", operator: "in", value: ["ada", "x"] }] })).count).toBe(5)
    expect((await search({ where: [{ field: "exception", operator: "missing" }] })).count).toBe(8)
    expect((await search({ where: [{ field: "exception", operator: "contains", value: "NUMBER" }] })).count).toBe(2)
    expect(idsOf(await search({ since: "2026-01-01T00:00:09Z", until: "2026-01-01T00:00:09Z" }))).toEqual([uuid(9)])
    expect((await search({ where: [{ field: "summary.weave.latency_ms", operator: ">=", value: 0 }] })).count).toBe(10)
  })

  test("search_calls takes times to the microsecond, as it shows them", async () => {
    const project = opened.acme.newProject()
    await store(project, 2, (n) => ({ started_at: `2026-01-02T00:00:00.12345${n}Z`, ended_at: "2026-01-02T00:00:01Z" }))
    const search = async (times: object) => idsOf(await acme.use<Found>("search_calls", { project, ...times }))
    expect(await search({ until: "2026-01-02T00:00:00.123451Z" })).toEqual([uuid(1)])
    expect(await search({ since: "2026-01-02T02:00:00.123452+02:00" })).toEqual([uuid(2)])
  })

  test("search_calls goes on where a page ended, and leaves payloads out when asked", async () => {
    const project = await program()
    const pages: string[] = []
    for (let offset: number | null = 0; offset !== null;) {
      const page: Found = await acme.use<Found>("search_calls", { project, limit: 4, offset, payloads: false })
      expect(page.calls.every((call) => call.inputs === undefined && call.output === undefined)).toBe(true)
      pages.push(...idsOf(page))
      offset = page.next_offset
    }
    expect(pages).toEqual([10, 9, 8, 7, 6, 5, 4, 3, 2, 1].map(uuid))
  })

  test("get_trace folds calls alike and keeps each that failed", async () => {
    const project = opened.acme.newProject()
    await store(project, 42, (n) => ({
      trace_id: uuid(1),
      parent_id: n === 1 ? null : uuid(1),
      op_name: n === 1 ? "agent" : "embed",
      exception: n === 42 ? "Timeout" : null,
    }))
    const { calls: found } = await acme.use<{ calls: { trace_id: string }[] }>("search_calls", { project, limit: 1 })
    const trace = await acme.use("get_trace", { project, trace_id: found[0]?.trace_id })
    expect(trace).toMatchObject({
      calls: 42,
      failed: 1,
      note: null,
      tree: [
        {
          op: "agent",
          children: [
            { op: "embed", folded: 40, call_id: uuid(2) },
            { op: "embed", status: "error", exception: "Timeout", call_id: uuid(42) },
          ],
        },
      ],
    })
    expect(await acme.refusal("get_trace", { project, trace_id: "none" })).toBe(
      `get_trace: no trace "none" in "${project}"; search_calls finds traces`,
    )
  })

  test("get_trace counts all calls that it hides, also within calls that it folds, and those at the top that it leaves out", async () => {
    const project = opened.acme.newProject()
    // Ten steps, each with a tool that has a reader; the fold takes them for alike, though the first reader has five calls.
    // Seventy failures make the tree too large below the second level.
    const parentOf = (n: number) => (n <= 11 || n === 37 ? 1 : n <= 31 ? n - 10 : n <= 36 ? 22 : 37)
    const opOf = (n: number) => ["agent", "step", "tool", "reader", "line"][Math.ceil((n - 1) / 10)]
    await store(project, 107, (n) => ({
      trace_id: uuid(1),
      parent_id: n === 1 ? null : uuid(parentOf(n)),
      op_name: n > 36 ? "check" : opOf(n),
      exception: n > 37 ? "x".repeat(590) : null,
    }))
    expect(await acme.use("get_trace", { project, trace_id: uuid(1) })).toMatchObject({
      tree: [
        {
          op: "agent",
          children: [
            { op: "step", folded: 10, hidden: 25 },
            { op: "check", hidden: 70 },
          ],
        },
      ],
      note: "Deeper calls are hidden; search_calls with where trace_id is this trace, and get_call, reach them.",
    })

    // Ten steps, each a chain of four; seventy failures make the tree too large below the third level.
    const deep = opened.acme.newProject()
    await store(deep, 113, (n) => ({
      trace_id: uuid(1),
      parent_id: n === 1 ? null : uuid(n <= 11 || n === 42 ? 1 : n <= 41 ? n - 10 : n === 43 ? 42 : 43),
      op_name: n > 41 ? "check" : ["agent", "step", "tool", "reader", "file"][Math.ceil((n - 1) / 10)],
      exception: n > 43 ? "x".repeat(590) : null,
    }))
    expect(await acme.use("get_trace", { project: deep, trace_id: uuid(1) })).toMatchObject({
      tree: [
        {
          children: [
            { op: "step", folded: 10, children: [{ op: "tool", hidden: 20 }] },
            { op: "check", children: [{ op: "check", hidden: 70 }] },
          ],
        },
      ],
    })

    const wide = opened.acme.newProject()
    await store(wide, 60, () => ({ trace_id: uuid(1), exception: "x".repeat(590) }))
    const { tree, note } = await acme.use<{ tree: object[]; note: string }>("get_trace", {
      project: wide,
      trace_id: uuid(1),
    })
    expect(tree.length).toBeGreaterThan(10)
    expect(note).toContain(`Of 60 calls at the top ${60 - tree.length} are left out`)
  })

  test("get_call reads a call, a part of it, and a long text page after page", async () => {
    const project = opened.acme.newProject()
    const long = "0123456789".repeat(9_000)
    await store(project, 1, () => ({
      inputs: { messages: [{ role: "user", content: long }], big: JSON.rawJSON("9007199254740993") } as never,
    }))
    const call = { project, call_id: uuid(1) }
    const whole = await acme.use<{ value: { inputs: { messages: { content: string }[] } }; note: string }>(
      "get_call",
      call,
    )
    expect(whole.note).toBe("Parts are shortened; `path` reads one of them by itself.")
    expect(whole.value.inputs.messages[0]?.content).toContain("more characters]")
    expect(JSON.stringify(whole).length).toBeLessThan(40_000)
    let text = ""
    for (let offset: number | null = 0; offset !== null;) {
      const page: { value: string; next_offset: number | null; total_characters: number } = await acme.use("get_call", {
        ...call,
        path: "inputs.messages.0.content",
        offset,
      })
      expect(page.total_characters).toBe(90_000)
      text += page.value
      offset = page.next_offset
    }
    expect(text).toBe(long)
    expect(await acme.refusal("get_call", { ...call, path: "inputs.question" })).toBe(
      'get_call: path: there is no "question" in "inputs", which has "messages", "big"',
    )
    expect(await acme.refusal("get_call", { ...call, path: "inputs.__proto__" })).toContain('there is no "__proto__"')
    expect(await acme.refusal("get_call", { project, call_id: uuid(2) })).toBe(
      `get_call: no call "${uuid(2)}" in "${project}"; search_calls finds calls`,
    )
  })

  test("numbers keep their spelling", async () => {
    const project = opened.acme.newProject()
    await store(project, 1, () => ({ inputs: { big: JSON.rawJSON("9007199254740993") } }))
    for (const protocol of ["2025-11-25", "2026-07-28"]) {
      const answer = await fetch(`${base}/mcp`, {
        method: "POST",
        headers: {
          authorization: `Bearer ${opened.acme.key}`,
          "content-type": "application/json",
          accept: "application/json, text/event-stream",
          "mcp-protocol-version": protocol,
          ...(protocol === "2025-11-25" ? {} : { "mcp-method": "tools/call", "mcp-name": "get_call" }),
        },
        body: JSON.stringify({
          jsonrpc: "2.0",
          id: 1,
          method: "tools/call",
          params: {
            name: "get_call",
            arguments: { project, call_id: uuid(1) },
            ...(protocol === "2025-11-25"
              ? {}
              : {
                  _meta: {
                    "io.modelcontextprotocol/protocolVersion": protocol,
                    "io.modelcontextprotocol/clientInfo": { name: "t", version: "1" },
                    "io.modelcontextprotocol/clientCapabilities": {},
                  },
                }),
          },
        }),
      })
      const text = await answer.text()
      expect([protocol, answer.status]).toEqual([protocol, 200])
      expect(text).toContain('"structuredContent":{')
      expect(text.split('"big":9007199254740993')).toHaveLength(2)
      expect(text).toContain(String.raw`\"big\":9007199254740993`)
    }
  })

  test("calls of many megabytes: a page ends where it must, and says so", { timeout: 60_000 }, async () => {
    const project = opened.acme.newProject()
    const large = "x".repeat(1_000_000)
    await store(project, 20, () => ({ inputs: { large } }))
    const found: string[] = []
    let pages = 0
    for (let offset: number | null = 0; offset !== null; pages += 1) {
      const page: Found = await acme.use<Found>("search_calls", { project, offset, limit: 20 })
      expect(JSON.stringify(page).length).toBeLessThan(40_000)
      expect(page.note).toContain("get_call reads one call")
      found.push(...idsOf(page))
      offset = page.next_offset
    }
    expect(found).toEqual(Array.from({ length: 20 }, (_, index) => uuid(20 - index)))
    // Calls are read up to some eight megabytes for one answer, so there are several pages.
    expect(pages).toBeGreaterThan(1)
  })

  test("law 8: a call of more values than are parsed for a tool ends its page, and is refused with the way out", async () => {
    const project = opened.acme.newProject()
    await store(project, 2, (n) => ({ inputs: n === 1 ? { many: Array(300_000).fill(1) } : {} }))
    const first = await acme.use<Found>("search_calls", { project })
    expect([idsOf(first), first.next_offset]).toEqual([[uuid(2)], 1])
    const rest = { project, offset: 1 }
    expect(await acme.refusal("search_calls", rest)).toContain("search_calls with payloads: false shows what it is")
    expect(idsOf(await acme.use<Found>("search_calls", { ...rest, payloads: false }))).toEqual([uuid(1)])
    expect(await acme.refusal("get_call", { project, call_id: uuid(1) })).toContain("is larger than a tool reads")
  })
})

describe("labelling", () => {
  test("a queue is found, its item taken, labelled and completed", async () => {
    const project = await program()
    const tone = await newSpec(opened.acme, project, "tone", { type: "string", enum: ["kind", "rude"] })
    const queue_id = await newQueue(opened.acme, project, { name: "tone of voice", scorer_refs: [tone] })
    await new QueueUser(opened.acme, project, queue_id).add([uuid(1), uuid(2)])
    expect(await acme.use("list_queues", { project })).toMatchObject({
      queues: [{ queue_id, name: "tone of voice", fields: ["tone"], total_items: 2 }],
      next_offset: null,
    })
    const item = await acme.use<{ item_id: string; call: Call }>("next_item", { project, queue_id })
    expect(item).toMatchObject({
      fields: [{ field: "tone", ref: tone, value_schema: { type: "string", enum: ["kind", "rude"] } }],
      call: { call_id: uuid(1), inputs: { question: "what is 1?" } },
      leased_by_others: 0,
    })
    expect(await acme.use("next_item", { project, queue_id })).toMatchObject({ item_id: item.item_id })
    const at = { project, queue_id, item_id: item.item_id }
    expect(await acme.refusal("submit_label", { ...at, labels: { mood: "rude" } })).toBe(
      'submit_label: labels: the queue has no field "mood"; it has tone',
    )
    expect(await acme.refusal("submit_label", at)).toBe("submit_label: labels: name at least one, or skip the item")
    expect(await acme.refusal("submit_label", { ...at, labels: { tone: "blue" } })).toContain("(status 4")
    expect(await acme.refusal("submit_label", { ...at, item_id: uuid(99), labels: { tone: "rude" } })).toBe(
      `submit_label: no item "${uuid(99)}" in the queue; next_item hands out items`,
    )
    expect(await acme.refusal("submit_label", { ...at, labels: { tone: "rude" }, note: "n".repeat(1025) })).toContain(
      "submit_label: note: Too big: expected string to have <=1024 characters",
    )
    const done = await acme.use("submit_label", { ...at, labels: { tone: "rude" }, note: "n".repeat(1024) })
    expect(done).toMatchObject({
      item_id: item.item_id,
      state: "completed",
      feedback_ids: [expect.any(String), expect.any(String)],
    })
    const { calls } = await acme.use<Found>("search_calls", {
      project,
      where: [{ field: "feedback.[wandb.annotation.tone].payload.value", operator: "is", value: "rude" }],
    })
    expect(calls.map(({ call_id, feedback }) => [call_id, feedback?.map(({ type }) => type).toSorted()])).toEqual([
      [uuid(1), ["wandb.annotation.tone", "wandb.note.1"]],
    ])
    const second = await acme.use<{ item_id: string }>("next_item", { project, queue_id })
    expect(await acme.use("submit_label", { ...at, item_id: second.item_id, skip: true })).toMatchObject({
      state: "skipped",
      feedback_ids: [],
    })
  })

  test("objects 6.2: a queue that names its spec as a scorer is labelled, and one ref that cannot be read costs one field", async () => {
    const project = await program()
    const tone = await newSpec(opened.acme, project, "tone", { type: "string" })
    const elsewhere = opened.acme.newProject()
    const judged = await publish(opened.acme, elsewhere, "judge", structuredModel({}))
    const scorer_refs = [tone.replace("/object/", "/scorer/"), judged]
    const queue_id = await newQueue(opened.acme, project, { scorer_refs })
    await new QueueUser(opened.acme, project, queue_id).add([uuid(1)])
    expect((await opened.acme.delete(`/v1/projects/${elsewhere}`)).status).toBe(200)
    expect(await acme.use("list_queues", { project })).toMatchObject({ queues: [{ fields: ["tone", "judge"] }] })
    const taken = await acme.use<{ item_id: string; fields: object[] }>("next_item", { project, queue_id })
    expect(taken.fields).toMatchObject([
      { field: "tone", ref: tone, value_schema: { type: "string" } },
      { field: "judge", ref: judged, problem: expect.stringContaining("(status 4") },
    ])
    expect(taken.fields[0]).not.toHaveProperty("problem")
    const given = { project, queue_id, item_id: taken.item_id, labels: { tone: "rude" } }
    expect(await acme.use("submit_label", given)).toMatchObject({ state: "completed" })
  })

  test("add_feedback stores a value or a note on a call that is there", async () => {
    const project = await program()
    const call = { project, call_id: uuid(2) }
    expect(await acme.use("add_feedback", { ...call, type: "right", value: false, note: "off by one" })).toEqual({
      feedback_ids: [expect.any(String), expect.any(String)],
    })
    const found = await acme.use<Found>("search_calls", {
      project,
      where: [{ field: "feedback.[right].payload.value", operator: "is", value: false }],
    })
    expect(idsOf(found)).toEqual([uuid(2)])
    expect(await acme.refusal("add_feedback", call)).toBe("add_feedback: give a note, or type and value")
    expect(await acme.refusal("add_feedback", { ...call, type: "right" })).toBe(
      "add_feedback: type and value go together: one is missing",
    )
    expect(await acme.refusal("add_feedback", { project, call_id: uuid(77), note: "n" })).toContain(
      `no call "${uuid(77)}"`,
    )
  })
})

describe("evaluations", () => {
  test("runs are listed and compared, with the rows that changed most first", async () => {
    const runs = runProject(opened.acme)
    const made: string[] = []
    for (const right of [
      [1, 0],
      [1, 1],
    ]) {
      const run = await runs.run()
      for (const [row, value] of right.entries()) {
        const prediction = await runs.prediction({
          evaluation_run_id: run,
          inputs: { q: row },
          output: `answer ${row}`,
        })
        await runs.score({ evaluation_run_id: run, prediction_id: prediction, scorer: runs.ref("exact"), value })
        await runs.post(`predictions/${prediction}/finish`)
      }
      made.push(run)
    }
    const listed = await acme.use<{ evaluations: { evaluation_call_id: string }[] }>("list_evaluations", {
      project: runs.name,
    })
    expect(listed.evaluations.map((one) => one.evaluation_call_id).toSorted()).toEqual(made.toSorted())
    const compared = await acme.use("compare_evaluations", {
      project: runs.name,
      evaluation_call_ids: made,
      changed_most: "exact",
      rows: 1,
    })
    expect(compared).toMatchObject({
      total_rows: 2,
      next_offset: 1,
      evaluations: [
        { evaluation_call_id: made[0], scorer_stats: [{ scorer_key: "exact", numeric_mean: 0.5 }] },
        { evaluation_call_id: made[1], scorer_stats: [{ scorer_key: "exact", numeric_mean: 1 }] },
      ],
      rows: [{ evaluations: [{ trials: [{ scores: { exact: 0 } }] }, { trials: [{ scores: { exact: 1 } }] }] }],
    })
    expect(
      await acme.use("compare_evaluations", { project: runs.name, evaluation_call_ids: made, rows: 0 }),
    ).toMatchObject({
      rows: [],
      next_offset: null,
    })
  })

  test("evaluate_model lets the server run one", async () => {
    const project = opened.acme.newProject()
    const dataset = await publishDataset(opened.acme, project, [{ question: "4+5=" }])
    const model_ref = await publish(
      opened.acme,
      project,
      "answerer",
      structuredModel({ messages_template: [{ role: "user", content: "{question}" }] }),
    )
    const evaluation_ref = await publish(opened.acme, project, "sums", evaluation(dataset, []))
    const { evaluation_call_id } = await acme.use<{ evaluation_call_id: string }>("evaluate_model", {
      project,
      evaluation_ref,
      model_ref,
    })
    const status = async () => {
      const { evaluations } = await acme.use<{ evaluations: { evaluation_call_id: string; status: string }[] }>(
        "list_evaluations",
        { project },
      )
      return evaluations.find((one) => one.evaluation_call_id === evaluation_call_id)?.status
    }
    await vi.waitUntil(async () => (await status()) === "success", { timeout: 30_000, interval: 50 })
    expect(await acme.refusal("evaluate_model", { project, evaluation_ref: "nonsense", model_ref })).toContain(
      "nonsense",
    )
  })
})

describe("training", () => {
  test("from failures to a trained step: model, dry run, job, status, answer", { timeout: 60_000 }, async () => {
    const project = opened.acme.newProject()
    await store(project, 3, (n) => ({
      op_name: "answer",
      inputs: { messages: [{ role: "user", content: `${n}+1=` }] },
      output: String(n + 1),
    }))
    for (const n of [1, 2]) await acme.use("add_feedback", { project, call_id: uuid(n), type: "right", value: true })
    const made = await acme.use<{ model_id: string; chat_name: string }>("create_model", { project, name: "adder" })
    expect(made.chat_name).toBe(`wandb-artifact:///${project}/adder`)
    const job = {
      model_id: made.model_id,
      source: { kind: "calls", project, op_names: ["answer"] },
      target: { kind: "sft", score: [{ field: "feedback.[right].payload.value" }], min_score: 1 },
    }
    expect(await acme.use("dry_run_training", job)).toMatchObject({
      kind: "sft",
      rows: 2,
      read: 3,
      drops: [{ cause: "no_score", count: 1 }],
    })
    const started = await acme.use<{ job_id: string }>("start_training", job)
    expect(started).toMatchObject({ model_id: made.model_id, summary: { rows: 2 } })
    const status = () => acme.use<{ job: { status: string } }>("job_status", { job_id: started.job_id })
    await vi.waitUntil(async () => !["queued", "running"].includes((await status()).job.status), {
      timeout: 30_000,
      interval: 50,
    })
    expect(await status()).toMatchObject({
      job: { job_id: started.job_id, status: "succeeded", output_step: 1, project },
    })
    const { jobs } = await acme.use<{ jobs: { job_id: string }[] }>("list_jobs", { project, status: ["succeeded"] })
    expect(jobs.map(({ job_id }) => job_id)).toEqual([started.job_id])
    expect(await acme.use("list_models", { project })).toMatchObject({
      models: [{ model_id: made.model_id, latest_step: 1, chat_name: made.chat_name, project }],
      base_models: ["heddle/tiny"],
    })
    const asked = await acme.use("chat", { model: `${made.chat_name}:step1`, prompt: "4+1=", max_tokens: 3 })
    expect(asked).toMatchObject({ text: "abc", finish_reason: "stop", model: `${made.chat_name}:step1` })
    expect(await acme.use("cancel_job", { job_id: started.job_id })).toMatchObject({ job: { status: "succeeded" } })
  })

  test("a wrong request is refused with the way out", async () => {
    const project = await program()
    const { model_id } = await acme.use<{ model_id: string }>("create_model", { project, name: "m" })
    const target = { kind: "sft" }
    expect(
      await acme.refusal("start_training", { model_id, source: { kind: "calls", project, text: "nowhere" }, target }),
    ).toMatch(/matches nothing|no call/i)
    expect(await acme.refusal("start_training", { model_id, source: { kind: "video", project }, target })).toContain(
      "source.kind",
    )
    expect(await acme.refusal("chat", { model: "no/such", prompt: "p" })).toContain("no/such")
    expect(await acme.refusal("chat", { model: "heddle/tiny" })).toBe("chat: give either prompt or messages")
    expect(await acme.refusal("create_model", { project: "acme", name: "m" })).toBe(
      'create_model: project: "acme" is not of the form entity/project',
    )
    expect(await acme.refusal("job_status", { job_id: ".." })).toBe('job_status: job_id: ".." is no name or id')
  })
})

describe("bad arguments", () => {
  test.each([
    ["search_calls", {}, "search_calls: project: Field required"],
    ["search_calls", { project: "a/b", limt: 3 }, 'search_calls: arguments: Unrecognized key: "limt"'],
    [
      "search_calls",
      { project: "a/b", limit: 51 },
      "search_calls: limit: Too big: expected number to be <=50, received 51",
    ],
    [
      "search_calls",
      { project: "acme/p", where: [{ field: "inputs.a", operator: "in", value: 1 }] },
      'search_calls: where: "inputs.a" with the operator "in" takes a list of values',
    ],
    [
      "search_calls",
      { project: "acme" },
      'search_calls: project_id "acme" is not of the form entity/project (status 400)',
    ],
    [
      "compare_evaluations",
      { project: "acme/p/q", evaluation_call_ids: ["x"] },
      /compare_evaluations: .+ \(status 4\d\d\)/,
    ],
    ["list_projects", { after: "nothing" }, 'list_projects: after: "nothing" is no project of yours (status 404)'],
  ])("%s %j", async (tool, input, expected) => {
    const said = await acme.refusal(tool, input)
    if (typeof expected === "string") expect(said).toBe(expected)
    else expect(said).toMatch(expected)
  })
})

describe("security 5.3: two teams", () => {
  test("every tool that names something answers for another team's thing as for a missing one", async () => {
    const project = await program()
    const queue_id = await newQueue(opened.acme, project)
    await new QueueUser(opened.acme, project, queue_id).add([uuid(1)])
    const { model_id, chat_name } = await acme.use<{ model_id: string; chat_name: string }>("create_model", {
      project,
      name: "secret",
    })
    const source = (of: string) => ({ kind: "calls", project: of })
    const asks = (of: string, ids: Record<"call" | "queue" | "model" | "chat", string>): [string, object][] => [
      ["search_calls", { project: of }],
      ["get_trace", { project: of, trace_id: ids.call }],
      ["get_call", { project: of, call_id: ids.call }],
      ["list_evaluations", { project: of }],
      ["compare_evaluations", { project: of, evaluation_call_ids: [ids.call] }],
      [
        "evaluate_model",
        { project: of, evaluation_ref: `weave:///${of}/object/e:v0`, model_ref: `weave:///${of}/object/m:v0` },
      ],
      ["list_queues", { project: of }],
      ["next_item", { project: of, queue_id: ids.queue }],
      ["submit_label", { project: of, queue_id: ids.queue, item_id: ids.call, labels: { a: 1 } }],
      ["add_feedback", { project: of, call_id: ids.call, note: "n" }],
      ["dry_run_training", { model_id: ids.model, source: source(of), target: { kind: "sft" } }],
      ["start_training", { model_id: ids.model, source: source(of), target: { kind: "sft" } }],
      ["create_model", { project: of, name: "taken" }],
      ["chat", { model: ids.chat, prompt: "p" }],
      ["job_status", { job_id: ids.model }],
      ["cancel_job", { job_id: ids.model }],
    ]
    const nowhere = { call: uuid(1), queue: uuid(2), model: uuid(3), chat: "wandb-artifact:///none/nowhere/secret" }
    const theirs = { call: uuid(1), queue: queue_id, model: model_id, chat: chat_name }
    const known = asks(project, theirs)
    for (const [index, [tool, input]] of asks("none/nowhere", nowhere).entries()) {
      const names = (text: string) =>
        text
          .replaceAll(/entity "(?:acme|none)"/g, 'entity "of them"')
          .replaceAll(project, "none/nowhere")
          .replaceAll(queue_id, nowhere.queue)
          .replaceAll(model_id, nowhere.model)
      const there = names(await rival.refusal(tool, known[index]?.[1]))
      expect([tool, there]).toEqual([tool, names(await rival.refusal(tool, input))])
      expect(there).not.toContain("what is 1?")
    }
    for (const tool of ["list_models", "list_jobs"]) {
      expect(JSON.stringify(await rival.use(tool, { project }))).not.toContain("secret")
    }
  })
})
