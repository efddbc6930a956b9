/**
 * Rules that score new calls as they come: the calls that they find, the feedback that they write, and their failures.
 */
import { appendFile, readdir } from "node:fs/promises"
import { createServer, type Server, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { randomUUIDv7 } from "node:crypto"
import path from "node:path"
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest"
import { untilCancelled } from "../../src/engines/fake-engine.ts"
import { HeddleError } from "../../src/errors.ts"
import { defaultLimits } from "../../src/limits.ts"
import type { EvaluationCaller } from "../support/evaluation-app.ts"
import { answering, type ExecutionApp, openExecutionApp } from "../support/execution-app.ts"
import { judge, publish } from "../support/judges.ts"
import { callerOf } from "../support/test-app.ts"
import { storesBeforeLastRead } from "../support/read-in-pieces.ts"
import { fullOnceAsked, setRoom } from "../support/team-room.ts"

const functions: [what: string, scorer: object, output: unknown, score: unknown][] = [
  ["contains any of the words", { kind: "contains", words: ["No", "yes"] }, "oh yes", true],
  ["contains, whatever the case", { kind: "contains", words: "NO", ignore_case: true }, "no", true],
  ["contains, in JSON", { kind: "contains", words: '"a":1' }, { a: 1 }, true],
  ["contains a word that is not there", { kind: "contains", words: "x" }, null, false],
  ["equals", { kind: "equals", value: { a: [1, "x"] } }, { a: [1, "x"] }, true],
  ["equals something else", { kind: "equals", value: "1" }, 1, false],
  ["equals a field", { kind: "equals", value: 2, field: "output.list.1" }, { list: [1, 2] }, true],
  ["regex", { kind: "regex", pattern: "^a+b$" }, "aaab", true],
  ["regex that backtracks elsewhere", { kind: "regex", pattern: "^(a+)+$" }, `${"a".repeat(5000)}b`, false],
  ["length of a text in characters", { kind: "length" }, "äö🎉", 3],
  ["length within bounds", { kind: "length", min: 2, max: 3 }, "four", false],
  ["length of a list", { kind: "length", field: "output.rows" }, { rows: [1, 2, 3] }, 3],
  ["value of a field", { kind: "value", field: "output.score" }, { score: 0.25 }, 0.25],
  ["JSON that satisfies", { kind: "json_schema", schema: { type: "object", required: ["a"] } }, '{"a": 1}', true],
  ["JSON that does not", { kind: "json_schema", schema: { type: "object", required: ["a"] } }, { b: 1 }, false],
  ["no JSON", { kind: "json_schema", schema: { type: "object" } }, "a: 1", false],
]

let opened: ExecutionApp
let acme: EvaluationCaller
let judgeService: Server
let answerOfService: (response: ServerResponse) => void
/** Prompts that the judge, a model of this server, was asked. */
let asked: string[]
let answerOfJudge: (question: string) => string
beforeAll(async () => {
  judgeService = createServer((request, response) => {
    request.resume().on("end", () => answerOfService(response))
  })
  await new Promise<void>((resolve) => judgeService.listen(0, "127.0.0.1", resolve))
  const limits = { ...defaultLimits, scoring_attempts: 3, scoring_retry_ms: 20, scoring_rules: functions.length }
  opened = await openExecutionApp({ limits, fetchAllow: ["127.0.0.1"] })
  acme = opened.acme
})
beforeEach(() => {
  asked = []
  answerOfJudge = () => '{"reason": "fine", "score": 0.5}'
  opened.fake.handlers.chat = answering((messages) => {
    const question = messages.map(({ content }) => content).join("\n")
    asked.push(question)
    return answerOfJudge(question)
  })
})
const isoTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/

afterAll(async () => {
  await opened.close()
  judgeService.close()
})

interface Rule {
  id: string
  name: string
  rule_ref: string
  state: string
  stopped_reason: string | null
  source: string
  active: boolean
  counters: Record<string, number>
  lag_seconds: number
  today: { judge_calls: number; tokens: number; judge_calls_left: number | null; tokens_left: number | null }
  errors: { call_id: string; message: string }[]
}

async function makeRule(project_id: string, name: string, scorer: object, more: object = {}): Promise<Rule> {
  const { status, body, text } = await acme.post("/scoring_rules", { project_id, name, scorer, ...more })
  expect([status, text]).toEqual([200, text])
  return (body as { rule: Rule }).rule
}

async function refused(project_id: string, scorer: object, more: object = {}): Promise<[number, string]> {
  const { status, text } = await acme.post("/scoring_rules", { project_id, name: "bad", scorer, ...more })
  return [status, text]
}

async function ruleOf(project: string, id: string): Promise<Rule> {
  const { status, body } = await acme.get(`/scoring_rules/${id}?project_id=${encodeURIComponent(project)}`)
  expect(status).toBe(200)
  return (body as { rule: Rule }).rule
}

/** Waits until the rule has these counters; returns the rule. */
async function counted(project: string, { id }: Rule, counters: Record<string, number>): Promise<Rule> {
  await expect
    .poll(async () => (await ruleOf(project, id)).counters, { timeout: 60_000, interval: 100 })
    .toMatchObject(counters)
  return ruleOf(project, id)
}

const newCall = (project_id: string, more: object = {}) => ({
  project_id,
  id: randomUUIDv7(),
  trace_id: randomUUIDv7(),
  op_name: "chat",
  started_at: "2026-03-01T00:00:00Z",
  ended_at: "2026-03-01T00:00:01Z",
  attributes: {},
  inputs: { question: "why" },
  output: "because",
  summary: {},
  ...more,
})

async function storeCalls(project: string, ...calls: object[]): Promise<string[]> {
  const batch = calls.map((more) => newCall(project, more))
  expect((await acme.post(`/v2/${project}/calls/complete`, { batch })).status).toBe(200)
  return batch.map(({ id }) => id)
}

interface Feedback {
  id: string
  weave_ref: string
  feedback_type: string
  runnable_ref: string
  trigger_ref: string
  call_ref: string | null
  payload: { output: unknown }
}

async function feedbackOf(project_id: string): Promise<Feedback[]> {
  const { status, body } = await acme.post("/feedback/query", { project_id })
  expect(status).toBe(200)
  return (body as { result: Feedback[] }).result
}

/** The score of each call that the scorer `name` gave, by the call's id. */
async function scoresOf(project: string, name: string): Promise<Record<string, unknown>> {
  const rows = (await feedbackOf(project)).filter(({ feedback_type }) => feedback_type === `wandb.runnable.${name}`)
  return Object.fromEntries(rows.map(({ weave_ref, payload }) => [weave_ref.split("/").at(-1), payload.output]))
}

describe("a rule", () => {
  test("scores calls that end after it was made, those alone that it asks for, each once", async () => {
    const project = acme.newProject()
    await storeCalls(project, {}, {})
    const rule = await makeRule(
      project,
      "polite",
      { kind: "contains", words: ["please"] },
      {
        filter: { op_names: ["chat"] },
        query: { $expr: { $eq: [{ $getField: "inputs.question" }, { $literal: "why" }] } },
      },
    )
    const [yes = "", no = "", ..._others] = await storeCalls(
      project,
      { output: "if you please" },
      { output: "no" },
      { op_name: "other", output: "please" },
      { inputs: { question: "how" }, output: "please" },
    )
    await counted(project, rule, { seen: 4, matched: 2, sampled: 2, scored: 2, failed: 0, waiting: 0 })
    expect(await scoresOf(project, "polite")).toEqual({ [yes]: true, [no]: false })
    const rows = await feedbackOf(project)
    expect(rows).toHaveLength(2)
    for (const row of rows)
      expect(row).toMatchObject({ runnable_ref: rule.rule_ref, trigger_ref: rule.rule_ref, call_ref: null })
    expect(rule.rule_ref).toMatch(new RegExp(`^weave:///${project}/object/polite:`))
  })

  test("waits for the end of a call, whichever of its parts comes first, and whatever its id is", async () => {
    const project = acme.newProject()
    const rule = await makeRule(project, "long", { kind: "length" })
    const parts = (id: string) => {
      const { ended_at, output, summary, ...start } = newCall(project, { id, output: "four" })
      const end = { project_id: project, id, ended_at, output, summary }
      return [
        { mode: "start", req: { start } },
        { mode: "end", req: { end } },
      ] as const
    }
    const send = async (item: object) =>
      expect((await acme.post("/call/upsert_batch", { batch: [item] })).status).toBe(200)
    const ids = [randomUUIDv7(), "b7ad6b7169203331", randomUUIDv7(), "b7ad6b7169203332"]
    for (const [at, id] of ids.entries()) {
      const [start, end] = parts(id)
      await send(at < 2 ? start : end)
    }
    const [other = ""] = await storeCalls(project, { output: "five5" })
    await counted(project, rule, { seen: 1, scored: 1 })
    for (const [at, id] of ids.entries()) {
      const [start, end] = parts(id)
      await send(at < 2 ? end : start)
    }
    await counted(project, rule, { seen: 5, scored: 5, waiting: 0 })
    expect(await scoresOf(project, "long")).toEqual({ ...Object.fromEntries(ids.map((id) => [id, 4])), [other]: 5 })
  })

  test("holds large answers against a schema, many of them at once, each with the time of a check", async () => {
    const project = acme.newProject()
    const pairs = { type: "array", items: { type: "array" }, uniqueItems: true }
    const schema = { type: "object", properties: { pairs } }
    const rule = await makeRule(project, "unique", { kind: "json_schema", schema })
    // One is held against it in a fraction of the time of a check, which all of them exceed together.
    const different = Array.from({ length: 3000 }, (_, n) => [n])
    const answer = (list: number[][]) => ({ output: { pairs: list, note: "x".repeat(700_000) } })
    const calls = Array.from({ length: 28 }, (_, n) => answer(n === 5 ? [...different, [0]] : different))
    let ids: string[] = []
    const scoring = async () => {
      ids = await storeCalls(project, ...calls)
      expect(await counted(project, rule, { scored: 28, failed: 0, waiting: 0 })).toMatchObject({ state: "active" })
    }
    const scored = { table: "feedback", part: "inputs, output" }
    expect(await storesBeforeLastRead(opened.app.stores.traces, scored, scoring)).toBe(true)
    const scores = await scoresOf(project, "unique")
    expect(ids.map((id) => scores[id])).toEqual(calls.map((_, n) => n !== 5))
  })

  test("law 3: gives the value of a field as it was spelled", async () => {
    const project = acme.newProject()
    const rule = await makeRule(project, "exact", { kind: "value", field: "output.list.1" })
    const list = '[0, {"n":9007199254740993,"f":1.0} ]'
    const batch = JSON.stringify({ batch: [newCall(project, { output: { list: "LIST" } })] }).replace('"LIST"', list)
    expect((await acme.post(`/v2/${project}/calls/complete`, batch)).status).toBe(200)
    await storeCalls(project, { output: { list: [0, null] } }, { output: { list: { "1": true } } })
    await counted(project, rule, { scored: 2, failed: 1 })
    const { text } = await acme.post("/feedback/query", { project_id: project })
    expect(text).toContain('"payload":{"output":{"n":9007199254740993,"f":1.0}}')
    expect(text).toContain('"payload":{"output":true}')
  })

  test("law 3: holds whole numbers past 2^53 against its filter and its scorer as they were spelled", async () => {
    const project = acme.newProject()
    const [odd, even] = [JSON.rawJSON("9007199254740993"), JSON.rawJSON("9007199254740992")]
    const query = { $expr: { $eq: [{ $getField: "inputs.user" }, { $literal: odd }] } }
    const scorer = { kind: "equals", value: { id: odd, n: JSON.rawJSON("1.0") } }
    const rule = await makeRule(project, "exact", scorer, { query })
    expect((await makeRule(project, "exact", scorer, { query })).id).toBe(rule.id)
    const [same = "", other = "", _elsewhere] = await storeCalls(
      project,
      { inputs: { user: odd }, output: { n: 1, id: odd } },
      { inputs: { user: odd }, output: { n: 1, id: even } },
      { inputs: { user: even }, output: { n: 1, id: odd } },
    )
    await counted(project, rule, { seen: 3, matched: 2, scored: 2 })
    expect(await scoresOf(project, "exact")).toEqual({ [same]: true, [other]: false })
    const changed = await acme.put(`/scoring_rules/${rule.id}`, { project_id: project, active: false })
    expect(changed.text.split("9007199254740993")).toHaveLength(3)
  })

  test("takes a share of the calls by their ids: the same ones as another rule with that share", async () => {
    const project = acme.newProject()
    const half = await makeRule(project, "half", { kind: "length" }, { sampling_rate: 0.5 })
    const again = await makeRule(project, "again", { kind: "length" }, { sampling_rate: 0.5 })
    const none = await makeRule(project, "none", { kind: "length" }, { sampling_rate: 0 })
    await storeCalls(project, ...Array.from({ length: 200 }, () => ({})))
    await counted(project, none, { seen: 200, matched: 200, sampled: 0, scored: 0 })
    const { sampled = 0 } = (await ruleOf(project, half.id)).counters
    expect(sampled).toBeGreaterThan(60)
    expect(sampled).toBeLessThan(140)
    await counted(project, half, { scored: sampled })
    await counted(project, again, { sampled, scored: sampled })
    const [first, second] = [await scoresOf(project, "half"), await scoresOf(project, "again")]
    expect(Object.keys(first).toSorted()).toEqual(Object.keys(second).toSorted())
  })

  test("that is paused scores nothing, and does not score calls of that time later", async () => {
    const project = acme.newProject()
    const rule = await makeRule(project, "pausing", { kind: "length" })
    const change = async (more: object) => {
      const { status, body } = await acme.put(`/scoring_rules/${rule.id}`, { project_id: project, ...more })
      expect(status).toBe(200)
      return (body as { rule: Rule }).rule
    }
    const times = { created_at: expect.stringMatching(isoTime), updated_at: expect.stringMatching(isoTime) }
    expect(await change({ active: false })).toMatchObject({ state: "paused", active: false, ...times })
    await storeCalls(project, {})
    // A score by a second rule shows that the server has looked at the calls.
    const other = await makeRule(project, "other", { kind: "length" })
    await storeCalls(project, {})
    await counted(project, other, { scored: 1 })
    expect(await change({ active: true, sampling_rate: 1 })).toMatchObject({ state: "active" })
    await storeCalls(project, {})
    await counted(project, rule, { seen: 1, scored: 1 })
  })

  test("goes on after the trace store had too much to do for a while", async () => {
    const project = acme.newProject()
    const { traces } = opened.app.stores
    const rule = await makeRule(project, "patient", { kind: "length" }, { filter: { op_names: ["busy"] } })
    const read = traces.rows.bind(traces)
    let refusals = 0
    const rows = vi.spyOn(traces, "rows").mockImplementation(async (sql, parameters, ...more) => {
      if (refusals === 4 || !JSON.stringify(parameters ?? {}).includes('"busy"')) return read(sql, parameters, ...more)
      refusals += 1
      throw new HeddleError("store_overloaded", "the trace store has too much to do")
    })
    try {
      await storeCalls(project, { op_name: "busy" })
      expect(await counted(project, rule, { seen: 1, scored: 1 })).toMatchObject({ state: "active" })
      expect(refusals).toBe(4)
    } finally {
      rows.mockRestore()
    }
  })

  test("that was mended in the middle of a turn goes on: what the turn says is of the rule as it was", async () => {
    const project = acme.newProject()
    const { traces } = opened.app.stores
    const schema = { $ref: "#/$defs/nowhere" }
    const rule = await makeRule(project, "mended", { kind: "json_schema", schema })
    const id = randomUUIDv7()
    const read = traces.rows.bind(traces)
    const answers: number[] = []
    let mended: Promise<unknown> | null = null
    const rows = vi.spyOn(traces, "rows").mockImplementation(async (sql, parameters, ...more) => {
      if (sql.includes("inputs, output") && JSON.stringify(parameters ?? {}).includes(id)) {
        const scorer = { kind: "json_schema", schema: { type: "array" } }
        mended ??= acme
          .put(`/scoring_rules/${rule.id}`, { project_id: project, scorer })
          .then(({ status }) => answers.push(status))
        await mended
      }
      return read(sql, parameters, ...more)
    })
    try {
      await storeCalls(project, { id, output: [] })
      await expect.poll(() => answers, { timeout: 15_000 }).toEqual([200])
      expect(await counted(project, rule, { scored: 1, waiting: 0 })).toMatchObject({ state: "active" })
      expect(await scoresOf(project, "mended")).toEqual({ [id]: true })
    } finally {
      rows.mockRestore()
    }
  })

  test("goes on over lines of the journal that a damaged disk left", async () => {
    const project = acme.newProject()
    const rule = await makeRule(project, "undamaged", { kind: "length" })
    await storeCalls(project, {})
    await counted(project, rule, { scored: 1 })
    const folder = path.join(opened.config.dataDir, "arrived-calls")
    const last =
      (await readdir(folder))
        .filter((name) => name.endsWith(".log"))
        .toSorted()
        .at(-1) ?? ""
    const half = `${Date.now()},0198c5a0-0000-7000`
    await appendFile(path.join(folder, last), `${half}${Date.now()},${randomUUIDv7()},${randomUUIDv7()}\n${half},x\n`)
    await opened.restart()
    await storeCalls(project, {})
    await counted(project, rule, { scored: 2, failed: 0 })
  })

  test("that is deleted is gone with what waited for it; its scores stay", async () => {
    const project = acme.newProject()
    const rule = await makeRule(project, "short-lived", { kind: "length" })
    await storeCalls(project, {})
    await counted(project, rule, { scored: 1 })
    const at = `/scoring_rules/${rule.id}?project_id=${encodeURIComponent(project)}`
    expect((await acme.delete(at)).status).toBe(200)
    const gone = await acme.get(at)
    expect([gone.status, gone.body]).toMatchObject([404, { reason: `Scoring rule ${rule.id} not found` }])
    expect((await acme.delete(at)).status).toBe(404)
    expect(await feedbackOf(project)).toHaveLength(1)
  })

  test("made again is the one that is there; another one of its name is refused", async () => {
    const project = acme.newProject()
    const scorer = { kind: "length", min: 1 }
    const first = await makeRule(project, "twice", scorer)
    expect((await makeRule(project, "twice", scorer)).id).toBe(first.id)
    const other = await acme.post("/scoring_rules", { project_id: project, name: "twice", scorer: { kind: "length" } })
    expect([other.status, other.text]).toEqual([409, expect.stringContaining(first.id)])
    const { body } = await acme.post("/scoring_rules/query", { project_id: project })
    expect((body as { rules: Rule[] }).rules.map(({ name }) => name)).toEqual(["twice"])
  })
})

describe("changes at one time", () => {
  test("of a rule each change what they name, and nothing else", async () => {
    const project = acme.newProject()
    const { id } = await makeRule(project, "busy", { kind: "length" })
    const changes = [{ active: false }, { daily_budget: { judge_calls: 7 } }, { sampling_rate: 0.25 }]
    const answers = await Promise.all(
      changes.map((change) => acme.put(`/scoring_rules/${id}`, { project_id: project, ...change })),
    )
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200])
    expect(await ruleOf(project, id)).toMatchObject({
      active: false,
      daily_budget: { judge_calls: 7 },
      sampling_rate: 0.25,
    })
  })

  test("of a monitor leave it as its newest version has it, though an earlier one takes longer to check", async () => {
    const project = acme.newProject()
    const scorers = await Promise.all(
      Array.from({ length: 40 }, (_, at) => publish(acme, project, `tone${at}`, judge("{output}"))),
    )
    const latest = async () => {
      const { body } = await acme.post("/obj/read", { project_id: project, object_id: "watch", digest: "latest" })
      return (body as { obj?: { digest: string } }).obj?.digest
    }
    const earlier = publish(acme, project, "watch", monitor(scorers))
    await expect.poll(latest, { interval: 1 }).toBeDefined()
    const newest = await publish(acme, project, "watch", monitor([]))
    await earlier
    const { rules } = (await acme.post("/scoring_rules/query", { project_id: project })).body as { rules: Rule[] }
    expect(rules.map(({ rule_ref }) => rule_ref)).toEqual([newest])
  })
})

describe("functions", () => {
  test("each score the call that is theirs; one rule more than a project may have is refused", async () => {
    const project = acme.newProject()
    for (const [at, [, scorer]] of functions.entries())
      await makeRule(project, `f${at}`, scorer, { filter: { op_names: [`op${at}`] } })
    expect(await refused(project, { kind: "length" })).toEqual([403, expect.stringContaining("16 scoring rules")])
    const ids = await storeCalls(project, ...functions.map(([, , output], at) => ({ op_name: `op${at}`, output })))
    await expect.poll(async () => (await feedbackOf(project)).length, { timeout: 15_000, interval: 200 }).toBe(16)
    const found = await feedbackOf(project)
    const scores = functions.map(([what], at) => {
      const row = found.find(({ feedback_type }) => feedback_type === `wandb.runnable.f${at}`)
      return [what, row?.weave_ref, row?.payload.output]
    })
    expect(scores).toEqual(
      functions.map(([what, , , score], at) => [what, `weave:///${project}/call/${ids[at]}`, score]),
    )
  })

  test("a call without the field is counted as failed, with the reason, and the others are scored", async () => {
    const project = acme.newProject()
    const rule = await makeRule(project, "field", { kind: "value", field: "output.score" })
    const [without = ""] = await storeCalls(
      project,
      { output: "text" },
      { output: { score: 1 } },
      { output: { score: 2 } },
    )
    const { errors } = await counted(project, rule, { scored: 2, failed: 1, waiting: 0 })
    expect(errors).toMatchObject([{ call_id: without, message: "the call has no output.score" }])
  })
})

const monitor = (scorers: string[], more: object = {}) => ({
  _type: "Monitor",
  _class_name: "Monitor",
  _bases: ["Object", "BaseModel"],
  name: "watch",
  description: null,
  sampling_rate: 1,
  scorers,
  op_names: [],
  query: null,
  is_traced: true,
  active: true,
  scorer_debounce_config: null,
  ...more,
})

const judgeScorer = { kind: "judge", model: "heddle/tiny", prompt: "Q: {question} A: {output}", min: 0, max: 1 }

describe("judges", () => {
  test("are asked about each call, charged to the project, and answer with a number and why", async () => {
    const project = acme.newProject()
    const rule = await makeRule(project, "helpful", judgeScorer)
    const [call = ""] = await storeCalls(project, {})
    const { today } = await counted(project, rule, { scored: 1 })
    expect(await scoresOf(project, "helpful")).toEqual({ [call]: { score: 0.5, reason: "fine" } })
    expect(asked).toEqual([
      'Q: why A: because\n\nAnswer with one JSON object: {"reason": why, in a sentence, "score": a number (0 to 1)}.',
    ])
    expect(today).toMatchObject({ judge_calls: 1, tokens: 7, judge_calls_left: 999, tokens_left: null })
    const chat = opened.fake.calls.findLast(({ method }) => method === "chat")?.params as { structured_output: object }
    expect(chat.structured_output).toMatchObject({ kind: "json", schema: { required: ["score"] } })
    const usage = await acme.get(
      `/v1/organization/usage/completions?start_time=0&bucket_width=1d&limit=31&project_ids=${encodeURIComponent(project)}`,
    )
    expect(usage.status).toBe(200)
  })

  test("that are published score as the SDK's own do, under their names", async () => {
    const project = acme.newProject()
    answerOfJudge = () => '{"tone": "warm"}'
    const scorer = await publish(acme, project, "tone", judge("{question} {output}"))
    const rule = await makeRule(project, "published", { kind: "published", scorer_refs: [scorer] })
    const [call = ""] = await storeCalls(project, {})
    await counted(project, rule, { scored: 1 })
    expect(await feedbackOf(project)).toMatchObject([
      {
        weave_ref: `weave:///${project}/call/${call}`,
        feedback_type: "wandb.runnable.tone",
        runnable_ref: scorer,
        trigger_ref: rule.rule_ref,
        payload: { output: { tone: "warm" } },
      },
    ])
  })

  test("of one name, such as two versions of a judge, each give their score", async () => {
    const project = acme.newProject()
    answerOfJudge = (question) => (question.startsWith("new") ? '{"tone": "warm"}' : '{"tone": "cold"}')
    const scorer_refs = [
      await publish(acme, project, "tone", judge("old {output}")),
      await publish(acme, project, "tone", judge("new {output}")),
    ]
    const rule = await makeRule(project, "both", { kind: "published", scorer_refs })
    await storeCalls(project, {})
    await counted(project, rule, { scored: 1, waiting: 0 })
    expect(asked).toHaveLength(2)
    const scores = (await feedbackOf(project)).map(({ runnable_ref, payload }) => [runnable_ref, payload.output])
    expect(Object.fromEntries(scores)).toEqual({
      [scorer_refs[0] ?? ""]: { tone: "cold" },
      [scorer_refs[1] ?? ""]: { tone: "warm" },
    })
  })

  test.each([
    ["no number", '{"score": "high"}', 'no number under "score"'],
    ["no JSON", "nine out of ten", "holds no JSON object"],
    ["a number out of bounds", '{"score": 7}', "is not within 0 and 1"],
  ])("that answer %s have failed with a reason, and are not asked again", async (_what, said, reason) => {
    const project = acme.newProject()
    answerOfJudge = () => said
    const rule = await makeRule(project, "odd", judgeScorer)
    const [call] = await storeCalls(project, {})
    const { errors, today } = await counted(project, rule, { scored: 0, failed: 1, waiting: 0 })
    expect(errors).toMatchObject([{ call_id: call, message: expect.stringContaining(reason) }])
    expect([asked.length, today.judge_calls]).toEqual([1, 1])
    expect(await feedbackOf(project)).toEqual([])
  })

  test("that are published and answer no JSON are paid all the same: the day's budget counts them", async () => {
    const project = acme.newProject()
    answerOfJudge = () => "nine out of ten"
    const scorer = await publish(acme, project, "tone", judge("{output}"))
    const published = { kind: "published", scorer_refs: [scorer] }
    const rule = await makeRule(project, "wasted", published, { daily_budget: { judge_calls: 2 } })
    await storeCalls(project, {}, {}, {}, {}, {})
    const { today, errors } = await counted(project, rule, { failed: 2, over_budget: 3, waiting: 0 })
    expect([asked.length, today.judge_calls, today.judge_calls_left, today.tokens]).toEqual([2, 2, 0, 14])
    expect(errors[0]?.message).toContain("holds no JSON object")
  })

  test("that are away are tried again, then the call has failed; other rules go on meanwhile", async () => {
    const project = acme.newProject()
    const base_url = `http://127.0.0.1:${(judgeService.address() as AddressInfo).port}/v1`
    const put = await acme.put(`/v2/${project}/runtimes/away`, { base_url, runtime_ids: [{ id: "m" }] })
    expect(put.status).toBe(200)
    let requests = 0
    answerOfService = (response) => {
      requests += 1
      response.writeHead(500).end("{}")
    }
    const away = await makeRule(project, "patient", { ...judgeScorer, model: "custom::away::m" })
    const other = await makeRule(project, "other", { kind: "length" })
    const [call] = await storeCalls(project, {})
    await counted(project, other, { scored: 1 })
    const { errors, today } = await counted(project, away, { scored: 0, failed: 1, waiting: 0 })
    expect(errors.map(({ call_id }) => call_id)).toEqual([call, call, call])
    expect(errors[0]?.message).toContain("answered 500")
    expect([requests, today.judge_calls]).toEqual([3, 0])

    // The judge's service answers again.
    answerOfService = (response) => {
      const message = { role: "assistant", content: 'I think: {"score": 1}' }
      const choices = [{ index: 0, message, finish_reason: "stop" }]
      response
        .writeHead(200, { "content-type": "application/json" })
        .end(JSON.stringify({ id: "c", object: "chat.completion", created: 1, model: "m", choices }))
    }
    await storeCalls(project, {})
    await counted(project, away, { scored: 1, failed: 1 })
  })

  test.each([
    ["paused", (rule: string, project_id: string) => acme.put(`/scoring_rules/${rule}`, { project_id, active: false })],
    [
      "deleted",
      (rule: string, project: string) =>
        acme.delete(`/scoring_rules/${rule}?project_id=${encodeURIComponent(project)}`),
    ],
  ])("are asked no more once their rule is %s, also in the middle of a turn", async (_how, stop) => {
    const project = acme.newProject()
    let [begun, cancelled] = [0, 0]
    opened.fake.handlers.chat = (_params, call) => {
      begun += 1
      call.cancelled.addEventListener("abort", () => (cancelled += 1))
      return untilCancelled(call)
    }
    const { id } = await makeRule(project, "endless", judgeScorer)
    await storeCalls(project, ...Array.from({ length: 16 }, () => ({})))
    await expect.poll(() => begun, { timeout: 15_000 }).toBe(8)
    expect((await stop(id, project)).status).toBe(200)
    await expect.poll(() => cancelled, { timeout: 15_000 }).toBe(8)
    expect(begun).toBe(8)
  })

  test("are asked no more than the day's budget allows; calls beyond it are left out, and counted", async () => {
    const project = acme.newProject()
    const rule = await makeRule(project, "thrifty", judgeScorer, { daily_budget: { judge_calls: 2 } })
    await storeCalls(project, {}, {}, {}, {}, {})
    const { today } = await counted(project, rule, { sampled: 5, scored: 2, over_budget: 3, waiting: 0 })
    expect([asked.length, today.judge_calls, today.judge_calls_left]).toEqual([2, 2, 0])
    const more = await acme.put(`/scoring_rules/${rule.id}`, {
      project_id: project,
      daily_budget: { judge_calls: null, tokens: 21 },
    })
    expect(more.body).toMatchObject({ rule: { today: { tokens: 14, tokens_left: 7, judge_calls_left: null } } })
    await storeCalls(project, {})
    await counted(project, rule, { scored: 3 })
    await storeCalls(project, {})
    await counted(project, rule, { scored: 3, over_budget: 4 })
    expect(asked).toHaveLength(3)
  })
})

test("a rule whose schema refers to itself without end stops and says so", async () => {
  const project = acme.newProject()
  const rule = await makeRule(project, "endless", { kind: "json_schema", schema: { $ref: "#" } })
  await storeCalls(project, { output: { a: 1 } })
  await expect.poll(async () => (await ruleOf(project, rule.id)).state, { timeout: 15_000 }).toBe("stopped")
  expect((await ruleOf(project, rule.id)).stopped_reason).toBe(
    "the schema of the rule cannot be used: it refers to itself without end",
  )
})

test("the scores that judges were paid for are stored though the team has become full; calls wait until it has room", async () => {
  const project = acme.newProject()
  const judging = opened.fake.handlers.chat
  fullOnceAsked(opened.admin, opened.fake)
  const rule = await makeRule(project, "waiting", judgeScorer)
  // More than are judged in one turn.
  await storeCalls(project, ...Array.from({ length: 20 }, () => ({})))
  await counted(project, rule, { scored: 16, failed: 0, waiting: 4 })
  const { catalog } = opened.app.stores
  const lease = () =>
    catalog.selectFrom("scoring_rules").select("lease_owner").where("id", "=", rule.id).executeTakeFirstOrThrow()
  await expect.poll(lease, { timeout: 15_000 }).toEqual({ lease_owner: expect.any(String) })
  expect(await ruleOf(project, rule.id)).toMatchObject({ state: "active", today: { judge_calls: 16 }, errors: [] })
  expect([asked.length, (await feedbackOf(project)).length]).toEqual([16, 16])

  opened.fake.handlers.chat = judging as NonNullable<typeof judging>
  await setRoom(opened.admin, null)
  await catalog.updateTable("scoring_rules").set({ lease_expires_at: new Date() }).where("id", "=", rule.id).execute()
  await counted(project, rule, { scored: 20, failed: 0, waiting: 0 })
})

describe("a rule that cannot work is refused when it is made", () => {
  const scorer = { kind: "length" }
  test.each([
    [
      "a field that calls do not have",
      scorer,
      { query: { $expr: { $eq: [{ $getField: "nothing" }, { $literal: 1 }] } } },
      422,
      "nothing",
    ],
    ["an operator that there is not", scorer, { query: { $expr: { $like: [] } } }, 422, "$like"],
    ["a rate above 1", scorer, { sampling_rate: 1.5 }, 422, "sampling_rate"],
    ["a rate below 0", scorer, { sampling_rate: -0.1 }, 422, "sampling_rate"],
    ["a field of nothing", { kind: "value", field: "answer.score" }, {}, 400, "answer.score"],
    ["a pattern with a back-reference", { kind: "regex", pattern: "(a)\\1" }, {}, 400, "RE2"],
    ["a pattern that does not end", { kind: "regex", pattern: "(a" }, {}, 400, "RE2"],
    ["a schema that is none", { kind: "json_schema", schema: { type: "animal" } }, {}, 400, "scorer.schema"],
    ["bounds the wrong way round", { kind: "length", min: 3, max: 2 }, {}, 422, "min"],
    ["a model that there is not", { kind: "judge", model: "heddle/none", prompt: "x" }, {}, 404, "heddle/none"],
    [
      "a scorer that is not there",
      { kind: "published", scorer_refs: ["weave:///acme/none/object/x:latest"] },
      {},
      403,
      "",
    ],
    ["a kind that there is not", { kind: "python", code: "1" }, {}, 422, "kind"],
  ] as const)("%s", async (_what, bad, more, status, part) => {
    const project = acme.newProject()
    expect(await refused(project, bad, more)).toEqual([status, expect.stringContaining(part)])
    expect((await acme.post("/scoring_rules/query", { project_id: project })).text).not.toContain('"bad"')
  })
})

test("a rule whose owner left the team stops and says so, and goes on with the rights of the user who changes it", async () => {
  const project = acme.newProject()
  await storeCalls(project, {})
  const cem = await opened.addColleague("cem")
  const body = { project_id: project, name: "of-cem", scorer: { kind: "length" } }
  const made = await cem.post("/scoring_rules", body)
  const { rule } = made.body as { rule: Rule }
  await storeCalls(project, {})
  await counted(project, rule, { scored: 1 })
  const left = await opened.admin.delete("/v1/organization/teams/acme/members/cem")
  expect(left.status).toBe(200)
  await storeCalls(project, {})
  await expect.poll(async () => (await ruleOf(project, rule.id)).state, { timeout: 15_000 }).toBe("stopped")
  expect(await ruleOf(project, rule.id)).toMatchObject({
    stopped_reason: expect.stringContaining("rights"),
    counters: { scored: 1, waiting: 1 },
  })
  const changed = await acme.put(`/scoring_rules/${rule.id}`, { project_id: project, sampling_rate: 1 })
  expect(changed.body).toMatchObject({ rule: { state: "active", stopped_reason: null } })
  await counted(project, rule, { scored: 2, waiting: 0 })
})

test("evaluation-store-objects 15.1: a rule that was left to the server with a key for ingest stops and says so", async () => {
  const project = acme.newProject()
  const made = await acme.post("/v1/organization/api_keys", { name: "program" })
  const { id, value } = made.body as { id: string; value: string }
  const program = callerOf(() => opened.app, value, acme.entity)
  const scorer = { kind: "length" }
  const { rule } = (await program.post("/scoring_rules", { project_id: project, name: "of-program", scorer })).body as {
    rule: Rule
  }
  // No key for ingest makes a rule any more; those from before are made of one that may.
  const { catalog } = opened.app.stores
  await catalog.updateTable("api_keys").set({ scope: "ingest" }).where("id", "=", id).execute()
  await storeCalls(project, {})
  await expect.poll(async () => (await ruleOf(project, rule.id)).state, { timeout: 15_000 }).toBe("stopped")
  expect(await ruleOf(project, rule.id)).toMatchObject({
    stopped_reason: expect.stringMatching(/the scope ingest.*\. Change the rule to let it go on with yours$/),
    counters: { scored: 0, waiting: 1 },
  })
})

test("a deleted project takes its rules with it", async () => {
  const project = acme.newProject()
  await makeRule(project, "gone", { kind: "length" })
  await storeCalls(project, {})
  expect((await acme.delete(`/v1/projects/${project}`)).status).toBe(200)
  await storeCalls(project, {})
  const { body } = await acme.post("/scoring_rules/query", { project_id: project })
  expect(body).toEqual({ rules: [] })
  expect(await feedbackOf(project)).toEqual([])
})

test("security 5.3: another team neither sees a rule nor changes it", async () => {
  const project = acme.newProject()
  const { id } = await makeRule(project, "mine", { kind: "length" })
  const { rival } = opened
  const own = rival.newProject()
  await rival.post(`/v2/${own}/calls/complete`, { batch: [newCall(own)] })
  expect((await rival.get(`/scoring_rules/${id}?project_id=${encodeURIComponent(project)}`)).status).toBe(403)
  expect((await rival.get(`/scoring_rules/${id}?project_id=${encodeURIComponent(own)}`)).status).toBe(404)
  expect((await rival.put(`/scoring_rules/${id}`, { project_id: own, active: false })).status).toBe(404)
  expect(await ruleOf(project, id)).toMatchObject({ state: "active" })
})

describe("a published monitor", () => {
  const rulesOf = async (project_id: string) =>
    ((await acme.post("/scoring_rules/query", { project_id })).body as { rules: Rule[] }).rules

  test("is a rule while it is active, is changed by publishing it, and ends with its object", async () => {
    const project = acme.newProject()
    answerOfJudge = () => '{"tone": "warm"}'
    const scorer = await publish(acme, project, "tone", judge("{question} {output}"))
    const query = {
      _type: "Query",
      _class_name: "Query",
      _bases: ["BaseModel"],
      expr_: {
        _type: "EqOperation",
        eq_: [
          { _type: "GetFieldOperator", get_field_: "inputs.question" },
          { _type: "LiteralOperation", literal_: "why" },
        ],
      },
    }
    const op_names = [`weave:///${project}/op/chat:*`]
    const ref = await publish(acme, project, "watch", monitor([scorer], { query, op_names }))
    const [rule] = await rulesOf(project)
    expect(rule).toMatchObject({ name: "watch", source: "monitor", state: "active", rule_ref: ref })
    const op_name = `weave:///${project}/op/chat:v1`
    const [call = ""] = await storeCalls(project, { op_name }, { op_name, inputs: { question: "how" } }, {})
    await counted(project, rule as Rule, { seen: 3, matched: 1, scored: 1 })
    const [row] = await feedbackOf(project)
    expect(row).toMatchObject({
      weave_ref: `weave:///${project}/call/${call}`,
      feedback_type: "wandb.runnable.tone",
      runnable_ref: scorer,
      trigger_ref: ref,
    })

    const budget = { project_id: project, daily_budget: { judge_calls: 5 } }
    expect((await acme.put(`/scoring_rules/${rule?.id}`, budget)).status).toBe(200)
    const other = await acme.put(`/scoring_rules/${rule?.id}`, { project_id: project, active: false })
    expect([other.status, other.text]).toEqual([400, expect.stringContaining("publish it anew")])
    await publish(acme, project, "watch", monitor([scorer], { active: false }))
    const [paused] = await rulesOf(project)
    expect(paused).toMatchObject({ id: rule?.id, state: "paused", today: { judge_calls_left: 4 } })

    expect((await acme.post("/obj/delete", { project_id: project, object_id: "watch" })).status).toBe(200)
    await expect.poll(() => rulesOf(project), { timeout: 10_000 }).toEqual([])
  })

  test("that came with a key for ingest stops, and says what lets it go on", async () => {
    const project = acme.newProject()
    const { id, value } = (await acme.post("/v1/organization/api_keys", { name: "logs" })).body as {
      id: string
      value: string
    }
    const program = callerOf(() => opened.app, value, acme.entity)
    const scorer = await publish(acme, project, "tone", judge("{question}"))
    await program.post("/obj/create", { obj: { project_id: project, object_id: "watch", val: monitor([scorer]) } })
    await opened.app.stores.catalog.updateTable("api_keys").set({ scope: "ingest" }).where("id", "=", id).execute()
    await storeCalls(project, {})
    const state = async () => (await rulesOf(project))[0]?.state
    await expect.poll(state, { timeout: 15_000 }).toBe("stopped")
    expect((await rulesOf(project))[0]).toMatchObject({
      stopped_reason: expect.stringMatching(
        /Publish the monitor again with a key of the scope all to let it go on with yours$/,
      ),
    })
  })

  test("that is one rule too many is published and stopped, also by its next version, until an older rule is gone", async () => {
    const project = acme.newProject()
    const scorer = await publish(acme, project, "tone", judge("{output}"))
    await publish(acme, project, "watch", monitor([scorer]))
    const [first] = await Promise.all(
      functions.slice(1).map((_, at) => makeRule(project, `f${at}`, { kind: "length" }, { active: false })),
    )
    const stateOf = async (name: string) => {
      const { state, stopped_reason } = (await rulesOf(project)).find((rule) => rule.name === name) as Rule
      return [state, stopped_reason]
    }
    for (const description of [null, "again"]) {
      await publish(acme, project, "late", monitor([scorer], { name: "late", description }))
      expect(await stateOf("late")).toEqual(["stopped", expect.stringContaining("16 scoring rules")])
    }
    await publish(acme, project, "watch", monitor([scorer], { description: "again" }))
    expect(await stateOf("watch")).toEqual(["active", null])
    const rule = `/scoring_rules/${first?.id}?project_id=${encodeURIComponent(project)}`
    expect((await acme.delete(rule)).status).toBe(200)
    await publish(acme, project, "late", monitor([scorer], { name: "late", description: "once more" }))
    expect(await stateOf("late")).toEqual(["active", null])
  })

  test.each([
    ["whose scorer is code", ["weave:///p/object/valid_json:x"], {}, "valid_json"],
    ["without a published scorer", [], {}, "no published scorer"],
    ["of turns of agents", ["weave:///p/object/x:x"], { op_names: ["weave.genai.turn_ended"] }, "turns of agents"],
    ["whose query is none", ["weave:///p/object/x:x"], { query: { $expr: { $like: [] } } }, "query cannot be read"],
    ["of odd names", ["weave:///p/object/\0\ud800:x"], {}, "\ufffd"],
  ])("%s is published, and says what keeps it from scoring", async (_what, scorers, more, reason) => {
    const project = acme.newProject()
    const code = { _type: "ValidJSONScorer", _class_name: "ValidJSONScorer", _bases: ["Scorer", "Object", "BaseModel"] }
    const ref = await publish(acme, project, "valid_json", code)
    await publish(
      acme,
      project,
      "watch",
      monitor(
        scorers.map((one) => (one.includes("valid_json") ? ref : one)),
        more,
      ),
    )
    expect(await rulesOf(project)).toMatchObject([
      { state: "stopped", stopped_reason: expect.stringContaining(reason) },
    ])
  })
})
