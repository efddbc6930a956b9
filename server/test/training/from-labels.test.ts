/** Fine-tuning on queues, evaluations and datasets. */
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { newQueue, newSpec, QueueUser } from "../support/annotation-queues.ts"
import { uuid } from "../support/completed-call.ts"
import type { EvaluationCaller } from "../support/evaluation-app.ts"
import { callRef, createdFeedback } from "../support/feedback-items.ts"
import { publishDataset } from "../support/judges.ts"
import { causes, fromSource, TrainFromApp } from "../support/training-from.ts"

let from: TrainFromApp
let colleague: EvaluationCaller
beforeAll(async () => {
  from = await TrainFromApp.open()
  colleague = await from.opened.addColleague("lena")
})
afterAll(() => from.close())

describe("a queue", () => {
  async function labelled() {
    const own = await from.world()
    const { project } = own
    const spec = await newSpec(from.acme, project, "tone", { type: "string", enum: ["kind", "rude"] })
    const fix = await newSpec(from.acme, project, "better", { type: "string" })
    const queue = await newQueue(from.acme, project, { scorer_refs: [spec, fix], required_annotators: 2 })
    await from.store(
      project,
      ["a", "b", "c", "d"].map((question) => ({ question, answer: `${question}!` })),
    )
    const lead = new QueueUser(from.acme, project, queue)
    await lead.add([1, 2, 3, 4].map(uuid))
    const items = await lead.itemIds()
    const label = async (user: QueueUser, n: number, value: string, field = "tone", ref = spec) => {
      const weave_ref = callRef(project, uuid(n))
      return createdFeedback(user.caller, project, {
        weave_ref,
        feedback_type: `wandb.annotation.${field}`,
        annotation_ref: ref,
        queue_id: queue,
        payload: { value },
      })
    }
    const second = lead.as(colleague)
    const ids: string[] = []
    for (const [n, one, two] of [
      [1, "kind", "kind"],
      [2, "kind", "rude"],
      [3, "rude", "kind"],
    ] as const) {
      ids.push((await label(lead, n, one)).id, (await label(second, n, two)).id)
    }
    const better = await label(lead, 3, "see you", "better", fix)
    for (const n of [0, 1, 2]) for (const user of [lead, second]) await user.moved(items[n] ?? "", "completed")
    const decided = await from.acme.put(`${lead.url}/items/${items[2]}/final_labels/tone`, {
      project_id: project,
      value: "rude",
    })
    expect(decided.status).toBe(200)
    return { ...own, queue, ids, better: better.id, lead }
  }

  test("labels that hold are trained on; disputes and what nobody labelled are left out", async () => {
    const { project, model, queue, ids, better } = await labelled()
    const body = {
      model_id: model,
      source: { kind: "queue", project_id: project, queue_id: queue },
      target: {
        kind: "sft",
        score: [{ field: "label.tone", values: { kind: 1, rude: 0 } }],
        min_score: 1,
        corrections: ["label.better"],
      },
    }
    const answer = await from.dry(body)
    expect(answer).toMatchObject({ read: 4, rows: 2, corrected: 1 })
    expect(causes(answer)).toEqual({ disputed: 1, not_labelled: 1 })
    const { job, lines } = await from.made(body)
    expect(lines.map(({ messages }) => messages[1]?.content)).toEqual(["a!", "see you"])
    const { data } = await from.rowsOf(job.id)
    expect(data.map(({ feedback_ids }) => feedback_ids.toSorted())).toEqual(
      [ids.slice(0, 2), [...ids.slice(4), better]].map((all) => all.toSorted()),
    )
    expect((await from.usesOf(project, { feedback_ids: [better] })).uses).toMatchObject([
      { row: 1, training_job_id: job.id },
    ])
  })

  test("a queue that was deleted is said to be, and no job is made", async () => {
    const { project, model, queue, lead } = await labelled()
    await from.acme.delete(`${lead.url}${lead.inProject}`)
    const body = {
      model_id: model,
      source: { kind: "queue", project_id: project, queue_id: queue },
      target: { kind: "sft" },
    }
    for (const url of [fromSource, `${fromSource}/dry-run`]) {
      expect(await from.acme.post(url, body)).toMatchObject({
        status: 404,
        body: { detail: `Queue ${queue} not found or has been deleted` },
      })
    }
    expect(await from.jobsOf(model)).toBe(0)
  })

  test("a call that was deleted since is counted as that", async () => {
    const { project, model, queue } = await labelled()
    await from.acme.post("/calls/delete", { project_id: project, call_ids: [uuid(1)] })
    const body = {
      model_id: model,
      source: { kind: "queue", project_id: project, queue_id: queue },
      target: { kind: "sft" },
    }
    const answer = await from.dry(body)
    expect(answer).toMatchObject({ read: 4, rows: 2 })
    expect(causes(answer)).toEqual({ deleted: 1, not_labelled: 1 })
  })
})

test("rows of a dataset: dialogues as they are, and questions with their answers", async () => {
  const { project, model } = await from.world()
  await publishDataset(from.acme, project, [
    {
      messages: [
        { role: "user", content: "hi" },
        { role: "assistant", content: "hello" },
      ],
    },
    { question: "2+2", answer: "4", grade: 1 },
    { question: "2+3" },
    { question: "2+4", answer: "7", grade: 0 },
  ])
  const source = { kind: "dataset", project_id: project, object_id: "questions" }
  const { job, lines } = await from.made({ model_id: model, source, target: { kind: "sft" } })
  expect(lines.map(({ messages }) => messages)).toEqual([
    [
      { role: "user", content: "hi" },
      { role: "assistant", content: "hello" },
    ],
    [
      { role: "user", content: "2+2" },
      { role: "assistant", content: "4" },
    ],
    [
      { role: "user", content: "2+4" },
      { role: "assistant", content: "7" },
    ],
  ])
  expect(causes(job.summary)).toEqual({ no_answer: 1 })
  const { data } = await from.rowsOf(job.id)
  expect(data[1]).toMatchObject({ call_id: null, row_digest: expect.stringMatching(/^\w{43}$/) })
  expect((await from.usesOf(project, { row_digests: [data[1]?.row_digest] })).uses).toMatchObject([{ row: 1 }])
  const graded = { kind: "sft", score: [{ field: "row.grade" }], min_score: 1 }
  expect(await from.dry({ model_id: model, source, target: graded })).toMatchObject({
    rows: 1,
    preview: [{ question: "2+2" }],
  })
  const rl = { kind: "rl", reward: [{ field: "row.grade" }] }
  expect(await from.acme.post(`${fromSource}/dry-run`, { model_id: model, source, target: rl })).toMatchObject({
    status: 422,
  })
})

describe("an evaluation", () => {
  const trial = (n: number, output: unknown, example: object, correct: number) => ({
    opName: "weave:///e/p/op/Evaluation.predict_and_score:1",
    parent: 1,
    inputs: { example, model: "weave:///e/p/object/M:1" },
    output: { output, scores: { exact: { correct } }, model_latency: n },
  })

  test("trials are what their model's call asked and answered, or their row and output, with their scores", async () => {
    const { project, model } = await from.world()
    const { acme } = from
    await from.store(project, [{ opName: "Evaluation.evaluate", inputs: {}, output: {} }])
    await from.store(
      project,
      [
        trial(2, "4", { question: "2+2" }, 1),
        trial(3, "6", { question: "2+3" }, 0),
        trial(4, "6", { question: "2+4" }, 1),
      ],
      2,
    )
    // In the first trial the model asks a chat, and so does a scorer, whose chat must not be trained on.
    const under = (parent_id: string, id: number, op_name: string, inputs: object, output: unknown) =>
      acme.post(`/v2/${project}/calls/complete`, {
        batch: [
          {
            project_id: project,
            id: uuid(id),
            trace_id: uuid(1),
            parent_id,
            op_name,
            started_at: "2026-01-01T00:01:00Z",
            ended_at: "2026-01-01T00:01:01Z",
            attributes: {},
            inputs,
            output,
            summary: {},
          },
        ],
      })
    const messages = [
      { role: "system", content: "add" },
      { role: "user", content: "2+2" },
    ]
    const choices = [{ index: 0, finish_reason: "stop", message: { role: "assistant", content: "It is 4." } }]
    for (const made of [
      await under(uuid(2), 12, "M.predict", { question: "2+2" }, "4"),
      await under(uuid(12), 13, "openai.chat.completions.create", { messages }, { choices }),
      await under(uuid(2), 14, "judge_scorer", { messages: [{ role: "user", content: "Is it right?" }] }, { choices }),
    ])
      expect([made.status, made.text]).toEqual([200, made.text])
    const source = { kind: "evaluation", project_id: project, evaluation_call_ids: [uuid(1)] }
    const score = [{ field: "scores.exact.correct" }]
    const { job, lines } = await from.made({ model_id: model, source, target: { kind: "sft", score, min_score: 1 } })
    expect(lines.map((line) => line.messages)).toEqual([
      [...messages, { role: "assistant", content: "It is 4." }],
      [
        { role: "user", content: "2+4" },
        { role: "assistant", content: "6" },
      ],
    ])
    expect(causes(job.summary)).toEqual({ low_score: 1 })
    const { data } = await from.rowsOf(job.id)
    expect(data).toMatchObject([
      { call_id: uuid(13), score: 1 },
      { call_id: uuid(4), score: 1 },
    ])
    expect(new Set(data.map(({ row_digest }) => row_digest)).size).toBe(2)
  })
})
