/** Fine-tuning on calls: the dry run, the job, and the origin of each row. */
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { trainingRowsAnswer } from "../../src/wire/training/train-from.ts"
import { uuid } from "../support/completed-call.ts"
import { addJob } from "../support/test-catalog.ts"
import { causes, TrainFromApp } from "../support/training-from.ts"

let from: TrainFromApp
beforeAll(async () => (from = await TrainFromApp.open()))
afterAll(() => from.close())

describe("fine-tuning from calls", () => {
  const quality = { field: "feedback.[quality].payload.value" }

  test("the dry run says what is left out and why, and the job trains what is left", async () => {
    const { project, model } = await from.world()
    await from.store(project, [
      { question: "1+1", answer: "2" },
      { question: "1+2", answer: "4" },
      { question: "1+3", answer: "5" },
      { question: "1+4", answer: "5", exception: "RateLimit: slow down" },
      { question: "1+5", answer: "6", isOpen: true },
      { question: "1+1", answer: "2" },
      { question: "1+6", answer: "7" },
      { question: [{ type: "image_url", image_url: { url: "x" } }], answer: "a cat" },
      { question: "", answer: "", inputs: { number: 5 } },
      { question: "1+7", answer: "" },
    ])
    for (const [call, value] of [
      [1, 1],
      [2, 0],
      [3, 0],
      [6, 1],
    ] as const)
      await from.score(project, call, value)
    const fix = await from.score(project, 3, "4", "fix")
    const body = {
      model_id: model,
      source: { kind: "calls", project_id: project },
      target: { kind: "sft", score: [quality], min_score: 0.5, corrections: ["feedback.[fix].payload.value"] },
      config: { batch_size: 1 },
    }
    const answer = await from.dry(body)
    expect(answer).toMatchObject({
      object: "training_dry_run",
      kind: "sft",
      read: 10,
      rows: 2,
      groups: null,
      corrected: 1,
      tokens_are_estimated: true,
      time: { seconds: null, reason: "no sft job of heddle/tiny has ended here yet" },
      preview: [
        { id: uuid(1), question: "1+1", answer: "2", is_corrected: false, score: 1 },
        { id: uuid(3), question: "1+3", answer: "4", is_corrected: true, score: null },
      ],
    })
    expect(causes(answer)).toEqual({
      failed: 1,
      unfinished: 1,
      low_score: 1,
      repeated: 1,
      no_score: 1,
      not_text: 1,
      no_messages: 1,
      no_answer: 1,
    })
    expect(answer.drops.find(({ cause }) => cause === "failed")).toEqual({
      cause: "failed",
      reason: "The call ended with an error.",
      count: 1,
      examples: [{ id: uuid(4), detail: "RateLimit: slow down" }],
    })
    expect(await from.jobsOf(model)).toBe(0)

    const { job, lines, config } = await from.made(body)
    expect(config).toMatchObject({ kind: "sft", engine: { batch_size: 1 } })
    expect(lines).toEqual([
      {
        messages: [
          { role: "user", content: "1+1" },
          { role: "assistant", content: "2" },
        ],
      },
      {
        messages: [
          { role: "user", content: "1+3" },
          { role: "assistant", content: "4" },
        ],
      },
    ])
    expect(job.summary).toMatchObject({ read: 10, rows: 2, corrected: 1 })
    const rows = await from.rowsOf(job.id)
    expect(rows).toMatchObject({ project_id: project, source: body.source, summary: job.summary, has_more: false })
    expect(rows.data).toMatchObject([
      { row: 0, call_id: uuid(1), score: 1, is_corrected: false, group: null },
      { row: 1, call_id: uuid(3), score: null, is_corrected: true },
    ])
    expect(rows.data[1]?.feedback_ids).toContain(fix.id)
    expect(await from.rowsOf(job.id, "?limit=1")).toMatchObject({ has_more: true, last_id: "0" })
    expect(await from.rowsOf(job.id, "?limit=1&after=0")).toMatchObject({ has_more: false, data: [{ row: 1 }] })
    for (const after of ["", "-1", "0x0", "1e0", "1.5", "row"]) {
      const refused = await from.acme.get(`/v1/preview/training-jobs/${job.id}/rows?after=${after}`)
      expect(refused).toMatchObject({
        status: 404,
        body: { detail: `after: "${after}" is no row of this job; rows are numbers, from 0` },
      })
    }

    const { status, output_step } = await from.ended(job.id)
    expect([status, output_step]).toEqual(["succeeded", 1])
    const use = {
      training_job_id: job.id,
      status: "succeeded",
      model_id: model,
      output_step: 1,
      row: 1,
      call_id: uuid(3),
    }
    expect(await from.usesOf(project, { feedback_ids: [fix.id] })).toMatchObject({ uses: [use], is_complete: true })
    expect(await from.usesOf(project, { call_ids: [uuid(3), uuid(2)] })).toMatchObject({ uses: [use] })
    expect(await from.usesOf(project, { call_ids: [uuid(2)] })).toEqual({ uses: [], is_complete: true })
    const ofStep = await from.acme.get(`/v1/preview/models/${model}/checkpoints/1/rows`)
    expect(trainingRowsAnswer.parse(ofStep.body).data).toEqual(rows.data)
    const statusOf = async (step: number | "latest") =>
      (await from.acme.get(`/v1/preview/models/${model}/checkpoints/${step}/rows`)).status
    expect([await statusOf("latest"), await statusOf(0), await statusOf(9_999_999_999)]).toEqual([200, 404, 404])
    await from.acme.delete(`/v1/preview/models/${model}/checkpoints`, { steps: [1] })
    // The newest checkpoint is 0 now, which no job made; what made step 1 is known still.
    expect([await statusOf("latest"), await statusOf(1)]).toEqual([404, 200])
  })

  test("a job whose data the client sent has no known origin", async () => {
    const { model } = await from.world()
    const job = await addJob(from.opened.app.stores.catalog, { modelId: model })
    const rows = await from.rowsOf(job)
    expect(rows).toMatchObject({
      data: [],
      has_more: false,
      project_id: null,
      source: null,
      target: null,
      summary: null,
    })
  })

  test("a label that changes later changes neither the job's data nor its rows", async () => {
    const { project, model } = await from.world()
    await from.store(project, [{ question: "a", answer: "b" }])
    const { id } = await from.score(project, 1, "first", "fix")
    const body = {
      model_id: model,
      source: { kind: "calls", project_id: project },
      target: { kind: "sft", corrections: ["feedback.[fix].payload.value"] },
    }
    const { job } = await from.made(body)
    const before = await from.rowsOf(job.id)
    await from.score(project, 1, "second", "fix")
    await from.acme.post("/feedback/purge", {
      project_id: project,
      query: { $expr: { $eq: [{ $getField: "id" }, { $literal: id }] } },
    })
    expect(await from.rowsOf(job.id)).toEqual(before)
    expect(before.data).toMatchObject([{ feedback_ids: [id] }])
    expect((await from.dry(body)).preview).toMatchObject([{ answer: "second" }])
  })

  test("among answers to the same question the best stays, and a correction is better than any", async () => {
    const { project, model } = await from.world()
    await from.store(project, [
      { question: "a", answer: "low" },
      { question: "a", answer: "high" },
      { question: "a", answer: "lower" },
      { question: "b", answer: "fine" },
      { question: "b", answer: "wrong" },
    ])
    for (const [call, value] of [
      [1, 0.2],
      [2, 0.9],
      [3, 0.1],
      [4, 1],
      [5, 0],
    ] as const)
      await from.score(project, call, value)
    await from.score(project, 5, "right", "fix")
    const target = { kind: "sft", score: [quality], best_of: "question", corrections: ["feedback.[fix].payload.value"] }
    const { job, lines } = await from.made({ model_id: model, source: { kind: "calls", project_id: project }, target })
    expect(lines.map(({ messages }) => messages[1]?.content)).toEqual(["high", "right"])
    expect(causes(job.summary)).toEqual({ not_the_best: 3 })
    expect(job.summary.rows).toBe(2)
  })

  test("a filter, a query, a type of feedback and a limit choose the calls", async () => {
    const { project, model } = await from.world()
    await from.store(
      project,
      ["a", "b", "c", "d"].map((question) => ({ question, answer: question })),
    )
    await from.score(project, 2, 1)
    await from.score(project, 4, 1)
    const rows = async (source: object) =>
      (
        await from.dry({
          model_id: model,
          source: { kind: "calls", project_id: project, ...source },
          target: { kind: "sft" },
        })
      ).preview.map(({ question }) => question)
    expect(await rows({ feedback_type: "quality" })).toEqual(["b", "d"])
    expect(await rows({ filter: { call_ids: [uuid(1), uuid(3)] } })).toEqual(["a", "c"])
    const query = { $expr: { $eq: [{ $getField: "inputs.messages.0.content" }, { $literal: "d" }] } }
    expect(await rows({ query })).toEqual(["d"])
    expect(await rows({ query, feedback_type: "quality" })).toEqual(["d"])
    expect(await rows({ limit: 2 })).toEqual(["a", "b"])
  })

  test("law 3: a query compares whole numbers past 2^53 as they were spelled, and the origin of the rows tells it so", async () => {
    const { project, model } = await from.world()
    const [odd, even] = [JSON.rawJSON("9007199254740993"), JSON.rawJSON("9007199254740992")]
    await from.store(
      project,
      [odd, even].map((seed) => ({ answer: "y", inputs: { seed, messages: [{ role: "user", content: "x" }] } })),
    )
    const query = { $expr: { $eq: [{ $getField: "inputs.seed" }, { $literal: odd }] } }
    const source = { kind: "calls", project_id: project, query }
    const body = { model_id: model, source, target: { kind: "sft" } }
    expect((await from.dry(body)).preview.map(({ id }) => id)).toEqual([uuid(1)])
    const { job } = await from.made(body)
    const { text } = await from.acme.get(`/v1/preview/training-jobs/${job.id}/rows`)
    expect(text).toContain('{"$literal":9007199254740993}')
  })

  test("numbers of tools keep their spelling", async () => {
    const { project, model } = await from.world()
    const start = `{"start": {"project_id": "${project}", "id": "${uuid(1)}", "trace_id": "${uuid(1)}", "op_name": "op", "started_at": "2026-01-01T00:00:00Z",
      "attributes": {}, "inputs": {"messages": [{"role": "user", "content": "x"}], "tools": [{"type": "function", "function": {"name": "f", "parameters": {"maximum": 1.0}}}]}}}`
    expect((await from.acme.post("/call/start", start)).status).toBe(200)
    await from.acme.post("/call/end", {
      end: { project_id: project, id: uuid(1), ended_at: "2026-01-01T00:00:01Z", output: "y", summary: {} },
    })
    const body = { model_id: model, source: { kind: "calls", project_id: project }, target: { kind: "sft" } }
    expect((await from.made(body)).text).toContain('"maximum":1.0')
  })

  test("a source of several mebibytes is read whole and in order, for the dry run as for the job", async () => {
    const { project, model } = await from.world()
    const answer = (n: number) => `${n}:${"ä".repeat(3000 + ((n * 37) % 500))}`
    const batch = Array.from({ length: 700 }, (_, n) => ({
      project_id: project,
      id: uuid(n + 1),
      trace_id: uuid(n + 1),
      op_name: "op",
      started_at: new Date(Date.UTC(2026, 0, 1) + n * 1000).toISOString(),
      ended_at: "2026-01-02T00:00:00Z",
      attributes: {},
      inputs: { question: `${n}` },
      output: answer(n),
      summary: {},
    }))
    expect((await from.acme.post(`/v2/${project}/calls/complete`, { batch })).status).toBe(200)
    const body = { model_id: model, source: { kind: "calls", project_id: project }, target: { kind: "sft" } }
    const { rows, read, tokens } = await from.dry(body)
    expect([read, rows]).toEqual([700, 700])
    const { lines, job } = await from.made(body)
    expect(job.summary).toMatchObject({ read: 700, rows: 700, tokens })
    expect(lines.map(({ messages }) => messages.map(({ content }) => content))).toEqual(
      batch.map((_, n) => [`${n}`, answer(n)]),
    )
  })
})
