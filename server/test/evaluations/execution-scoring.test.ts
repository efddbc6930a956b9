/** Scorers and actions that the server runs over calls: evaluation-store-calls 9. */
import { randomUUID } from "node:crypto"
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest"
import { EngineFailure } from "../../src/engines/engine.ts"
import { jsonAnswer } from "../../src/evaluations/execution/json-answer.ts"
import { completedCall } from "../support/completed-call.ts"
import type { EvaluationCaller } from "../support/evaluation-app.ts"
import { answering, callsOf, type ExecutionApp, openExecutionApp } from "../support/execution-app.ts"
import { judge, publish, structuredModel } from "../support/judges.ts"
import { storesBeforeLastRead } from "../support/read-in-pieces.ts"
import { fullOnceAsked } from "../support/team-room.ts"

let opened: ExecutionApp
let acme: EvaluationCaller
let seen: string[]
beforeAll(async () => {
  opened = await openExecutionApp()
  acme = opened.acme
})
beforeEach(() => {
  seen = []
  opened.fake.handlers.chat = judging(() => '{"score": 1.0, "why": "fine"}')
})
afterAll(() => opened.close())

const judging = (answer: (asked: string) => string) =>
  answering((messages) => {
    const asked = messages.map(({ content }) => content).join("\n")
    seen.push(asked)
    return answer(asked)
  })

async function storeCall(project_id: string, inputs: object, output: unknown): Promise<string> {
  const call = { ...completedCall(project_id, { id: 0 }), id: randomUUID(), trace_id: randomUUID(), inputs, output }
  expect((await acme.post(`/v2/${project_id}/calls/complete`, { batch: [call] })).status).toBe(200)
  return call.id
}

interface Feedback {
  weave_ref: string
  feedback_type: string
  runnable_ref: string
  call_ref: string | null
  payload: Record<string, unknown>
}

const feedbackOf = async (project_id: string) => {
  const { body } = await acme.post("/feedback/query", { project_id })
  return (body as { result: Feedback[] }).result
}

/** Waits until the project has so much feedback, and returns it. */
async function feedback(project: string, count: number): Promise<Feedback[]> {
  await expect.poll(async () => (await feedbackOf(project)).length, { timeout: 60_000 }).toBe(count)
  return feedbackOf(project)
}

const scorerCalls = async (project: string) =>
  (await callsOf(acme, project)).filter(({ op_name }) => op_name.includes(".score:"))

/** Waits until the project's jobs have ended; returns their ends. */
async function ending(project: string) {
  const jobs = () =>
    opened.app.stores.catalog
      .selectFrom("execution_jobs")
      .innerJoin("projects", "projects.id", "execution_jobs.project_id")
      .select(["execution_jobs.status", "error_message"])
      .where("projects.name", "=", project.split("/")[1] ?? "")
      .execute()
  await expect
    .poll(async () => (await jobs()).every(({ status }) => status === "done" || status === "failed"), {
      timeout: 10_000,
    })
    .toBe(true)
  return jobs()
}

const score = (project_id: string, call_ids: string[], scorer_refs: string[]) =>
  acme.post("/calls/score", { project_id, call_ids, scorer_refs })

describe("calls 9: calls/score", () => {
  test("each scorer judges each call: a call of the scorer and feedback on the call", async () => {
    const project = acme.newProject()
    const first = await storeCall(project, { self: "x", question: "one" }, "answer one")
    const second = await storeCall(project, { question: "two" }, { text: "answer", n: 2 })
    const scorer = await publish(acme, project, "judge", judge("Q: {question} A: {output}"))
    const answer = await score(project, [first, second, first], [scorer])
    expect([answer.status, answer.body]).toEqual([200, {}])
    const rows = await feedback(project, 2)
    for (const row of rows) {
      expect(row).toMatchObject({
        feedback_type: "wandb.runnable.judge",
        runnable_ref: scorer,
        payload: { output: { score: 1, why: "fine" } },
      })
    }
    expect(rows.map(({ weave_ref }) => weave_ref.split("/").at(-1) ?? "").toSorted()).toEqual(
      [first, second].toSorted(),
    )
    const calls = await scorerCalls(project)
    expect(calls.map(({ id }) => `weave:///${project}/call/${id}`).toSorted()).toEqual(
      rows.map(({ call_ref }) => call_ref ?? "").toSorted(),
    )
    expect(calls.find(({ inputs }) => inputs["question"] === "one")).toMatchObject({
      inputs: { self: scorer, question: "one", output: "answer one" },
      output: { score: 1, why: "fine" },
      exception: null,
      parent_id: null,
      summary: { usage: { "heddle/tiny": { total_tokens: 7 } } },
    })
    expect(seen.toSorted()).toEqual([
      "Q: one A: answer one\n\nAnswer with one JSON object and nothing else.",
      'Q: two A: {"text":"answer","n":2}\n\nAnswer with one JSON object and nothing else.',
    ])
  })

  test("inference-api 3: a judge that answers JSON is held to an object, one that does not is free", async () => {
    const project = acme.newProject()
    const call = await storeCall(project, { question: "one" }, "x")
    const free = await publish(acme, project, "free", structuredModel({ response_format: "text" }))
    const model = structuredModel({ response_format: "json_object" })
    const outputs: unknown[] = []
    for (const scorer of [judge("{question}", { model }), judge("{question}", { model: free })]) {
      await score(project, [call], [await publish(acme, project, "judge", scorer)])
      await ending(project)
      const asked = opened.fake.calls.findLast(({ method }) => method === "chat")
      outputs.push((asked?.params as { structured_output?: unknown } | undefined)?.structured_output)
    }
    expect(outputs).toEqual([{ kind: "json", schema: { type: "object" }, param: "response_format" }, null])
  })

  test("an answer without JSON is a failed scorer call with the reason, and no feedback", async () => {
    const project = acme.newProject()
    const call = await storeCall(project, { question: "one" }, "x")
    opened.fake.handlers.chat = judging(() => "I would say nine out of ten")
    await score(project, [call], [await publish(acme, project, "judge", judge("{question}"))])
    await expect.poll(async () => (await scorerCalls(project)).length, { timeout: 10_000 }).toBe(1)
    expect(await scorerCalls(project)).toMatchObject([
      { exception: expect.stringContaining("nine out of ten"), output: null, summary: { weave: { status: "error" } } },
    ])
    expect(await feedbackOf(project)).toEqual([])
  })

  test("an engine that fails and a variable that is missing are failed scorer calls too", async () => {
    const project = acme.newProject()
    const call = await storeCall(project, { question: "one" }, "x")
    opened.fake.handlers.chat = () => {
      throw new EngineFailure("invalid", "no room")
    }
    const scorers = [
      await publish(acme, project, "judge", judge("{question}")),
      await publish(acme, project, "asking", judge("{expected}")),
    ]
    await score(project, [call], scorers)
    await expect.poll(async () => (await scorerCalls(project)).length, { timeout: 10_000 }).toBe(2)
    const exceptions = (await scorerCalls(project)).map(({ exception }) => exception)
    expect(exceptions).toEqual(
      expect.arrayContaining([expect.stringContaining("no room"), expect.stringContaining("expected")]),
    )
  })

  test("prompts of messages, published prompts and models, column maps, text answers", async () => {
    const project = acme.newProject()
    const call = await storeCall(project, { question: "one" }, "x")
    const model = await publish(acme, project, "writer", structuredModel({ response_format: "text", temperature: 0.5 }))
    const prompt = await publish(acme, project, "asking", {
      _type: "MessagesPrompt",
      _class_name: "MessagesPrompt",
      _bases: ["Prompt", "Object", "BaseModel"],
      messages: [
        { role: "system", content: "You judge." },
        { role: "user", content: "{asked}: {output}" },
      ],
    })
    const scorer = await publish(acme, project, "writing", judge(prompt, { model, column_map: { asked: "question" } }))
    opened.fake.handlers.chat = judging(() => "well done")
    await score(project, [call], [scorer])
    expect(await feedback(project, 1)).toMatchObject([{ payload: { output: "well done" } }])
    expect(seen).toEqual(["You judge.\none: x"])
  })

  test("code is not run: the answer names the ref and the way out, and nothing is stored", async () => {
    const project = acme.newProject()
    const call = await storeCall(project, { question: "one" }, "x")
    const op = await publish(acme, project, "my_scorer", {
      _type: "CustomWeaveType",
      weave_type: { type: "Op" },
      files: { "obj.py": "x" },
    })
    const own = await publish(acme, project, "Mine", {
      _type: "Mine",
      _class_name: "Mine",
      _bases: ["Scorer", "Object", "BaseModel"],
    })
    const good = await publish(acme, project, "judge", judge("{question}"))
    for (const [ref, status, text] of [
      [op.replace("/object/", "/op/"), 400, "SDK"],
      [own, 400, "Mine"],
      [`weave:///${project}/object/absent:latest`, 404, "absent"],
      ["no ref", 400, "no ref"],
      [`weave:///${project}/call/${call}`, 400, call],
    ] as const) {
      const refused = await score(project, [call], [good, ref])
      expect([ref, refused.status, refused.text]).toEqual([ref, status, expect.stringContaining(text)])
      expect((refused.body as { reason: string }).reason).toContain(ref.split("/").at(-1)?.split(":")[0])
    }
    const unknown = await score(project, [call, "0198c5a0-0000-7000-8000-00000000000a"], [good])
    expect([unknown.status, unknown.text]).toEqual([
      404,
      expect.stringContaining("0198c5a0-0000-7000-8000-00000000000a"),
    ])
    expect(await feedbackOf(project)).toEqual([])
    expect(seen).toEqual([])
  })

  test("an answer that is too large for feedback is a failed scorer call, and the other calls are scored", async () => {
    const project = acme.newProject()
    const large = await storeCall(project, { question: "large" }, "x")
    const small = await storeCall(project, { question: "small" }, "x")
    opened.fake.handlers.chat = judging((asked) =>
      asked.includes("large") ? JSON.stringify({ why: "x".repeat(1_100_000) }) : '{"score": 1}',
    )
    await score(project, [large, small], [await publish(acme, project, "judge", judge("{question}"))])
    expect(await ending(project)).toEqual([{ status: "done", error_message: null }])
    expect((await feedbackOf(project)).map(({ weave_ref }) => weave_ref.split("/").at(-1))).toEqual([small])
    const failed = (await scorerCalls(project)).filter(({ exception }) => exception !== null)
    expect(failed).toMatchObject([
      { inputs: { question: "large" }, output: null, exception: expect.stringContaining("at most 1048576") },
    ])
  })

  test("law 8: large calls are read some at a time", async () => {
    const project = acme.newProject()
    const scorer = await publish(acme, project, "judge", judge("Q: {question}"))
    const calls: string[] = []
    for (let n = 0; n < 24; n++) calls.push(await storeCall(project, { question: `q${n}` }, "x".repeat(1_000_000)))
    const scoring = async () => {
      expect((await score(project, calls, [scorer])).status).toBe(200)
      const scored = await feedback(project, calls.length)
      expect(new Set(scored.map(({ weave_ref }) => weave_ref.split("/").at(-1)))).toEqual(new Set(calls))
    }
    const ofCalls = { table: "feedback", part: "inputs, output" }
    expect(await storesBeforeLastRead(opened.app.stores.traces, ofCalls, scoring)).toBe(true)
  })

  test("a scorer that several refs name judges a call once", async () => {
    const project = acme.newProject()
    const call = await storeCall(project, { question: "one" }, "x")
    const scorer = await publish(acme, project, "judge", judge("{question}"))
    let answers = 0
    opened.fake.handlers.chat = judging(() => `{"score": ${++answers}}`)
    const name = scorer.slice(0, scorer.lastIndexOf(":"))
    expect((await score(project, [call], [scorer, `${name}:latest`, `${name}:v0`])).status).toBe(200)
    expect(await ending(project)).toEqual([{ status: "done", error_message: null }])
    expect(await feedbackOf(project)).toMatchObject([{ runnable_ref: scorer, payload: { output: { score: 1 } } }])
    expect(seen).toHaveLength(1)
  })

  test("another team's calls and scorers: 403", async () => {
    const project = acme.newProject()
    const call = await storeCall(project, { question: "one" }, "x")
    const scorer = await publish(acme, project, "judge", judge("{question}"))
    const theirs = { project_id: project, call_ids: [call], scorer_refs: [scorer] }
    expect((await opened.rival.post("/calls/score", theirs)).status).toBe(403)
    const own = opened.rival.newProject()
    await publish(opened.rival, own, "x", { a: 1 })
    const crossed = await opened.rival.post("/calls/score", { ...theirs, project_id: own, call_ids: [] })
    expect([crossed.status, crossed.body]).toEqual([403, { detail: "Project not found" }])
  })

  test("law 7: work that a stop of the server cut is done by the next start, once", async () => {
    const project = acme.newProject()
    const ids = await Promise.all(Array.from({ length: 12 }, (_, n) => storeCall(project, { question: `q${n}` }, "x")))
    const scorer = await publish(acme, project, "judge", judge("{question}"))
    let asked = 0
    const { promise: half, resolve } = Promise.withResolvers<void>()
    opened.fake.handlers.chat = async (params, call) => {
      asked += 1
      if (asked > 4) {
        resolve()
        await new Promise((done) => call.cancelled.addEventListener("abort", done, { once: true }))
        throw new EngineFailure("cancelled", "cancelled")
      }
      return judging(() => '{"score": 1}')?.(params, call)
    }
    expect((await score(project, ids, [scorer])).status).toBe(200)
    await half
    opened.fake.handlers.chat = judging(() => '{"score": 2}')
    await opened.restart()
    const rows = await feedback(project, 12)
    expect(new Set(rows.map(({ weave_ref }) => weave_ref)).size).toBe(12)
    expect(rows.some(({ payload }) => (payload["output"] as { score: number }).score === 2)).toBe(true)
    expect(
      rows.filter(({ payload }) => (payload["output"] as { score: number }).score === 1).length,
    ).toBeLessThanOrEqual(4)
    expect(await scorerCalls(project)).toHaveLength(12)
    expect((await scorerCalls(project)).every(({ exception }) => exception === null)).toBe(true)
  })
})

describe("calls 9: actions/execute_batch", () => {
  const action = (project: string, name: string, config: object) =>
    publish(acme, project, name, { name, config }, { builtin_object_class: "ActionSpec" })
  const run = (project_id: string, action_ref: string, call_ids: string[]) =>
    acme.post("/actions/execute_batch", { project_id, action_ref, call_ids })

  test("contains_words: feedback on each call when it answers", async () => {
    const project = acme.newProject()
    const yes = await storeCall(project, {}, { text: "a mindful robot" })
    const no = await storeCall(project, {}, "café nothing")
    const ref = await action(project, "words", {
      action_type: "contains_words",
      target_words: ["mindful", "caf\\u00e9!"],
    })
    const answer = await run(project, ref, [yes, no])
    expect([answer.status, answer.body]).toEqual([200, {}])
    const rows = await feedbackOf(project)
    expect(rows.map(({ weave_ref, payload }) => [weave_ref.split("/").at(-1), payload])).toEqual(
      expect.arrayContaining([
        [yes, { output: true }],
        [no, { output: false }],
      ]),
    )
    expect(rows).toMatchObject(
      [1, 2].map(() => ({ feedback_type: "wandb.runnable.words", runnable_ref: ref, call_ref: null })),
    )
  })

  test("llm_judge: an answer that fits the schema is a value, and one that does not is an error", async () => {
    const project = acme.newProject()
    const good = await storeCall(project, { q: 1 }, "good")
    const bad = await storeCall(project, { q: 2 }, "bad")
    const config = {
      action_type: "llm_judge",
      model: "heddle/tiny",
      prompt: "Is it good?",
      response_schema: { type: "boolean" },
    }
    const ref = await action(project, "good", config)
    opened.fake.handlers.chat = judging((asked) =>
      asked.includes('"good"') ? '```json\n{"response": true}\n```' : '{"response": "maybe"}',
    )
    expect((await run(project, ref, [good, bad])).status).toBe(200)
    const payloads = new Map(
      (await feedbackOf(project)).map(({ weave_ref, payload }) => [weave_ref.split("/").at(-1), payload]),
    )
    expect(payloads.get(good)).toEqual({ output: true })
    expect(payloads.get(bad)).toEqual({ output: null, error: expect.stringContaining("maybe") })
    expect(seen[0]).toContain("Is it good?")
  })

  test("an answer that is too large for feedback is an error, and the other calls are judged", async () => {
    const project = acme.newProject()
    const large = await storeCall(project, { q: 1 }, "large")
    const small = await storeCall(project, { q: 2 }, "small")
    const config = {
      action_type: "llm_judge",
      model: "heddle/tiny",
      prompt: "Why?",
      response_schema: { type: "string" },
    }
    const ref = await action(project, "why", config)
    opened.fake.handlers.chat = judging((asked) =>
      JSON.stringify({ response: asked.includes('"large"') ? "x".repeat(1_100_000) : "because" }),
    )
    expect((await run(project, ref, [large, small])).status).toBe(200)
    const rows = await feedbackOf(project)
    const payloads = new Map(rows.map(({ weave_ref, payload }) => [weave_ref.split("/").at(-1), payload]))
    expect(payloads.get(small)).toEqual({ output: "because" })
    expect(payloads.get(large)).toEqual({ output: null, error: expect.stringContaining("at most 1048576") })
  })

  test("a ref that is no action is refused by its name", async () => {
    const project = acme.newProject()
    const call = await storeCall(project, {}, "x")
    const thing = await publish(acme, project, "thing", { a: 1 })
    for (const [ref, status] of [
      [thing, 400],
      [`weave:///${project}/object/absent:v0`, 404],
      ["nothing", 400],
    ] as const) {
      expect([ref, (await run(project, ref, [call])).status]).toEqual([ref, status])
    }
    expect(
      (await opened.rival.post("/actions/execute_batch", { project_id: project, action_ref: thing, call_ids: [] }))
        .status,
    ).toBe(403)
    expect((await publishBad(project)).status).toBe(400)
  })

  const publishBad = (project_id: string) =>
    acme.post("/obj/create", {
      obj: {
        project_id,
        object_id: "bad",
        val: { name: "bad", config: { action_type: "shell" } },
        builtin_object_class: "ActionSpec",
      },
    })
})

test.each([
  ["calls/score", "scorer_refs", judge("{output}"), {}],
  [
    "actions/execute_batch",
    "action_ref",
    {
      name: "good",
      config: {
        action_type: "llm_judge",
        model: "heddle/tiny",
        prompt: "Is it good?",
        response_schema: { type: "object" },
      },
    },
    { builtin_object_class: "ActionSpec" },
  ],
] as const)(
  "law 7: %s of a team that becomes full keeps what was paid, asks no further and fails with the reason",
  async (way, field, object, more) => {
    const project_id = acme.newProject()
    const ref = await publish(acme, project_id, "good", object, more)
    const call_ids = await Promise.all(Array.from({ length: 20 }, (_, n) => storeCall(project_id, {}, n)))
    fullOnceAsked(opened.admin, opened.fake)
    const refs = field === "scorer_refs" ? [ref] : ref
    expect((await acme.post(`/${way}`, { project_id, call_ids, [field]: refs })).status).toBe(200)
    expect(await ending(project_id)).toMatchObject([
      { status: "failed", error_message: expect.stringContaining('the team "acme" stores') },
    ])
    expect(seen.length).toBeLessThan(call_ids.length)
    expect((await feedbackOf(project_id)).map(({ payload }) => payload)).toEqual(
      seen.map(() => ({ output: { score: 1, why: "fine" } })),
    )
  },
)

describe("the JSON of a judge's answer", () => {
  test.each([
    ['{"a": 1.0}', '{"a": 1.0}'],
    ['```json\n{"a": 1}\n```', '{"a": 1}'],
    ['Sure {thing}! {"a": {"b": "}"}} and more', '{"a": {"b": "}"}}'],
  ])("%j", (answer, found) => expect(jsonAnswer(answer)).toBe(found))
  test.each([190, 2_000])(
    "nested in %d levels it cannot be stored, and nothing within it is taken for it",
    (levels) => {
      const deep = `${'{"a":'.repeat(levels)}1${"}".repeat(levels)}`
      expect(() => jsonAnswer(deep)).toThrow(/nested in more than \d+ levels/)
    },
  )
  test.each(["", "7", "[1]", "{a: 1}", '{"a": 1', '{"a": NaN}'])("%j holds none", (answer) => {
    expect(() => jsonAnswer(answer)).toThrow("no JSON object")
  })
})
