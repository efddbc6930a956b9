/** Requests for jobs that cannot be made are refused with the reason, and nothing is stored. */
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { callRef } from "../support/feedback-items.ts"
import { fromSource, TrainFromApp, type World } from "../support/training-from.ts"

let from: TrainFromApp
beforeAll(async () => (from = await TrainFromApp.open()))
afterAll(() => from.close())

describe("a job that cannot be made is refused with the reason, and nothing is stored", () => {
  const refused = async (change: (own: World) => object, caller = from.acme) => {
    const own = await from.world()
    await from.store(own.project, [{ question: "a", answer: "b" }])
    const body = {
      model_id: own.model,
      source: { kind: "calls", project_id: own.project },
      target: { kind: "sft" },
      ...change(own),
    }
    const stored = () => from.opened.app.stores.traces.rows("select count() as rows from training_rows")
    const before = await stored()
    const answers = [await caller.post(`${fromSource}/dry-run`, body), await caller.post(fromSource, body)]
    expect(await from.jobsOf(own.model)).toBe(0)
    expect(await stored()).toEqual(before)
    return answers.map(({ status, body: told }) => ({ status, body: told }))
  }

  test("a filter that matches nothing", async () => {
    const [tried, refusal] = await refused(({ project }) => ({
      source: { kind: "calls", project_id: project, filter: { op_names: ["none"] } },
    }))
    expect(tried).toMatchObject({ status: 200, body: { read: 0, rows: 0 } })
    expect(refusal).toMatchObject({
      status: 422,
      body: { detail: [{ msg: expect.stringContaining("matches nothing") }] },
    })
  })

  test("a mapping that finds no messages", async () => {
    const [tried, refusal] = await refused(() => ({ target: { kind: "sft", mapping: { messages: "inputs.chat" } } }))
    expect(tried).toMatchObject({
      status: 200,
      body: {
        rows: 0,
        drops: [
          {
            cause: "no_messages",
            examples: [{ detail: "inputs.chat holds messages; its inputs are model, messages" }],
          },
        ],
      },
    })
    expect(refusal).toMatchObject({
      status: 422,
      body: { detail: [{ msg: expect.stringContaining("say with mapping.messages where they are") }] },
    })
  })

  test.each([
    [
      "a field that does not exist",
      { target: { kind: "sft", score: [{ field: "nothing.at.all" }] } },
      "nothing.at.all",
    ],
    [
      "a mapping outside of the call",
      { target: { kind: "sft", mapping: { messages: "summary.x" } } },
      "does not begin with inputs, output, attributes",
    ],
    ["a least score without a score", { target: { kind: "sft", min_score: 1 } }, "min_score needs a score"],
    ["an unknown setting", { target: { kind: "sft", bestof: "question" } }, "bestof"],
    ["rewards without fields", { target: { kind: "rl", reward: [] } }, "reward"],
  ])("%s", async (_, change, told) => {
    for (const answer of await refused(() => change)) {
      expect(answer.status).toBe(422)
      expect(JSON.stringify(answer.body)).toContain(told)
    }
  })

  test("another team's project, and another team's model", async () => {
    const theirs = from.opened.rival.newProject()
    await from.opened.rival.post("/feedback/create", {
      project_id: theirs,
      weave_ref: callRef(theirs),
      feedback_type: "custom",
      payload: {},
    })
    for (const answer of await refused(() => ({ source: { kind: "calls", project_id: theirs } })))
      expect(answer.status).toBe(403)
    for (const answer of await refused(() => ({}), from.opened.rival)) expect([403, 404]).toContain(answer.status)
  })

  test("an evaluation that is not there", async () => {
    for (const answer of await refused(({ project }) => ({
      source: { kind: "evaluation", project_id: project, evaluation_call_ids: ["x"] },
    }))) {
      expect(answer).toMatchObject({
        status: 422,
        body: { detail: [{ msg: expect.stringContaining('there is no evaluation "x"') }] },
      })
    }
  })

  test("learning rates that do not fit the batches", async () => {
    const [, refusal] = await refused(() => ({ config: { learning_rate: [0.1, 0.2] } }))
    expect(refusal).toMatchObject({ status: 422, body: { detail: [{ loc: ["body", "config", "learning_rate"] }] } })
  })
})
