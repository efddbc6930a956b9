/** Rewards of rollouts that come as feedback on a call or trace, as the score of an evaluation, or as labels of a queue. */
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { newQueue, newSpec, QueueUser } from "../support/annotation-queues.ts"
import { completedCall, uuid, writeCalls } from "../support/completed-call.ts"
import type { EvaluationCaller } from "../support/evaluation-app.ts"
import { callRef, createdFeedback } from "../support/feedback-items.ts"
import { jsonSpan, jsonTraces } from "../support/otlp-message.ts"
import { inRollout } from "../support/rollouts.ts"
import { causes, fromSource, TrainFromApp, type World } from "../support/training-from.ts"

let from: TrainFromApp
let colleague: EvaluationCaller
beforeAll(async () => {
  from = await TrainFromApp.open()
  colleague = await from.opened.addColleague("lena")
})
afterAll(() => from.close())

/** One answer of the model, in a rollout. */
async function sampled({ project, name }: World, rollout: string, headers: Record<string, string>): Promise<void> {
  const body = {
    model: `wandb-artifact:///${project}/${name}`,
    messages: [{ role: "user", content: "2+3=" }],
    max_tokens: 4,
  }
  const answer = await from.acme.post("/v1/chat/completions", body, { ...inRollout(rollout), ...headers })
  expect([answer.status, answer.text]).toEqual([200, answer.text])
}

const within = (call: number) => ({ "x-heddle-call-id": uuid(call) })
const quality = { field: "feedback.[quality].payload.value" }
const body = ({ project, model }: World, reward: object[], more: object = {}) => ({
  model_id: model,
  source: { kind: "rollouts", project_id: project, ...more },
  target: { kind: "rl", reward },
})

/** By id of the rollout, why it was left out. */
const details = ({ drops }: { drops: { examples: { id: string; detail: string }[] }[] }) =>
  Object.fromEntries(drops.flatMap(({ examples }) => examples.map(({ id, detail }) => [id, detail])))

describe("feedback", () => {
  test("on the call that a turn names, or on one that encloses it: the nearest counts, and each row leads to it", async () => {
    const own = await from.world()
    const { project } = own
    await writeCalls(from.acme, project, [
      { id: 1, trace: 1 },
      { id: 2, trace: 1, parent: 1 },
      { id: 3, trace: 1, parent: 2 },
      { id: 4, trace: 4 },
      { id: 5, trace: 5 },
    ])
    await sampled(own, "on-call", within(3))
    await sampled(own, "on-parent", within(2))
    await sampled(own, "on-trace", within(4))
    await sampled(own, "nothing-said", within(5))
    await sampled(own, "no-such-call", within(9))
    await sampled(own, "no-call", {})
    const root = await from.score(project, 1, 0)
    const outer = await from.score(project, 2, 0.25)
    const first = await from.score(project, 3, 0.5)
    const newest = await from.score(project, 3, 1)
    const trace = await from.score(project, 4, false)

    const found = await from.dry(body(own, [quality]))
    expect(found).toMatchObject({ read: 6, rows: 3 })
    expect(found.preview.map(({ id, score }) => [id, score])).toEqual([
      ["on-call", 1],
      ["on-parent", 0.25],
      ["on-trace", 0],
    ])
    expect(causes(found)).toEqual({ no_score: 3 })
    expect(details(found)).toEqual({
      "nothing-said": `${quality.field} has no value: of the calls that it was made in (1, nearest ${uuid(5)}) none has such feedback`,
      "no-such-call": `${quality.field} has no value: what its calls were made in, such as call ${uuid(9)}, is not in ${project}`,
      "no-call": `${quality.field} has no value: its calls named no call or trace that they were made in`,
    })

    const { job } = await from.made(body(own, [quality]))
    const rows = (await from.rowsOf(job.id)).data
    expect(rows.map(({ rollout_id, feedback_ids }) => [rollout_id, feedback_ids])).toEqual([
      ["on-call", [newest.id]],
      ["on-parent", [outer.id]],
      ["on-trace", [trace.id]],
    ])
    expect((await from.usesOf(project, { feedback_ids: [newest.id] })).uses).toMatchObject([{ rollout_id: "on-call" }])
    expect((await from.usesOf(project, { feedback_ids: [root.id, first.id] })).uses).toEqual([])
  })

  test("on several calls that turns name: the newest turn's counts, and not the newest feedback", async () => {
    const own = await from.world()
    await writeCalls(from.acme, own.project, [{ id: 1 }, { id: 2 }, { id: 3, parent: 2 }])
    await sampled(own, "two-turns", within(1))
    await sampled(own, "two-turns", within(2))
    await sampled(own, "one-is-farther", within(1))
    await sampled(own, "one-is-farther", within(3))
    await from.score(own.project, 2, 1)
    await from.score(own.project, 1, 0)
    const found = await from.dry(body(own, [quality]))
    expect(found.preview.map(({ id, score }) => [id, score])).toEqual([
      ["two-turns", 1],
      ["one-is-farther", 0],
    ])
  })

  test("on a span of the trace that encloses the call, and on its root where the span is not here", async () => {
    const own = await from.world()
    const { project } = own
    const traces = ["0af7651916cd43dd8448eb211c80319c", "1af7651916cd43dd8448eb211c80319c"] as const
    const [root, span] = ["b7ad6b7169203331", "c7ad6b7169203331"]
    const otherRoot = "d7ad6b7169203331"
    const sent = await from.acme.post(
      "/otel/v1/traces",
      jsonTraces(
        jsonSpan(traces[0], root, {}),
        jsonSpan(traces[0], span, {}, { parentSpanId: root }),
        jsonSpan(traces[1], otherRoot, {}),
      ),
      { project_id: project },
    )
    expect([sent.status, sent.text]).toEqual([200, sent.text])
    const said = (id: string, value: number) =>
      createdFeedback(from.acme, project, {
        weave_ref: callRef(project, id),
        feedback_type: "quality",
        payload: { value },
      })
    await sampled(own, "in-span", { traceparent: `00-${traces[0]}-${span}-01` })
    await sampled(own, "in-unknown-span", { traceparent: `00-${traces[1]}-e7ad6b7169203331-01` })
    // The span is one of another trace.
    await sampled(own, "in-other-trace", { traceparent: `00-${traces[1]}-${span}-01` })
    await said(span, 1)
    await said(root, 0.5)
    await said(otherRoot, 0)
    const found = await from.dry(body(own, [quality]))
    expect(found.preview.map(({ id, score }) => [id, score])).toEqual([
      ["in-span", 1],
      ["in-unknown-span", 0],
      ["in-other-trace", 0],
    ])
  })

  test("beside the rollout's own reward, as a part of the sum", async () => {
    const own = await from.world()
    await writeCalls(from.acme, own.project, [{ id: 1 }, { id: 2 }])
    await sampled(own, "both", within(1))
    await sampled(own, "one", within(2))
    for (const id of ["both", "one"]) {
      const url = `/v1/rollouts/${id}/reward?project_id=${own.project}`
      expect((await from.acme.post(url, { reward: 1 })).status).toBe(200)
    }
    const label = await from.score(own.project, 1, "good")
    const part = { ...quality, values: { good: 1 }, weight: 0.5, missing: 0 }
    const { job } = await from.made(body(own, [{ field: "rollout.reward" }, part]))
    const rows = (await from.rowsOf(job.id)).data
    expect(rows.map(({ rollout_id, score, feedback_ids }) => [rollout_id, score, feedback_ids.length])).toEqual([
      ["both", 1.5, 2],
      ["one", 1, 1],
    ])
    expect(rows[0]?.feedback_ids).toContain(label.id)
  })
})

test("the score of the trial of an evaluation that a rollout was made in", async () => {
  const own = await from.world()
  const { project, acme } = { ...own, acme: from.acme }
  const trial = (id: number, output: object) => ({
    ...completedCall(project, { id, trace: 1, parent: 1, opName: "Evaluation.predict_and_score" }),
    output,
  })
  const batch = [
    completedCall(project, { id: 1, trace: 1, opName: "Evaluation.evaluate" }),
    trial(2, { output: "5", scores: { exact: { correct: true } } }),
    trial(3, { output: "6", scores: { exact: { correct: false } } }),
    trial(4, { output: "7", scores: {} }),
    ...[2, 3, 4].map((n) => completedCall(project, { id: 10 + n, trace: 1, parent: n, opName: "M.predict" })),
    completedCall(project, { id: 20, trace: 20 }),
  ]
  const stored = await acme.post(`/v2/${project}/calls/complete`, { batch })
  expect([stored.status, stored.text]).toEqual([200, stored.text])
  for (const n of [12, 13, 14, 20]) await sampled(own, `in-${n}`, within(n))
  const score = { field: "scores.exact.correct" }
  const found = await from.dry(body(own, [score]))
  expect(found.preview.map(({ id, score: value }) => [id, value])).toEqual([
    ["in-12", 1],
    ["in-13", 0],
  ])
  expect(details(found)).toEqual({
    "in-14": `${score.field} has no value: the trial ${uuid(4)} has no such score`,
    "in-20": `${score.field} has no value: of the calls that it was made in (1, nearest ${uuid(20)}) none is a trial of an evaluation`,
  })
})

describe("labels of a queue", () => {
  async function labelled() {
    const own = await from.world()
    const { project } = own
    const tone = await newSpec(from.acme, project, "tone", { type: "string", enum: ["kind", "rude"] })
    const better = await newSpec(from.acme, project, "better", { type: "string" })
    const queue = await newQueue(from.acme, project, { scorer_refs: [tone, better], required_annotators: 2 })
    await writeCalls(
      from.acme,
      project,
      [1, 2, 3, 4, 5].map((id) => ({ id, trace: id })),
    )
    // The queue has the call that encloses the one a turn names.
    await writeCalls(from.acme, project, [{ id: 11, trace: 1, parent: 1 }])
    const lead = new QueueUser(from.acme, project, queue)
    await lead.add([1, 2, 3, 4].map(uuid))
    const items = await lead.itemIds()
    const second = lead.as(colleague)
    const label = (user: QueueUser, n: number, value: string, field = "tone", annotation_ref = tone) =>
      createdFeedback(user.caller, project, {
        weave_ref: callRef(project, uuid(n)),
        feedback_type: `wandb.annotation.${field}`,
        annotation_ref,
        queue_id: queue,
        payload: { value },
      })
    const agreed = [await label(lead, 1, "kind"), await label(second, 1, "kind")].map(({ id }) => id)
    for (const n of [2, 3]) await label(lead, n, "kind")
    for (const n of [2, 3]) await label(second, n, "rude")
    await label(lead, 3, "Five.", "better", better)
    for (const n of [0, 1, 2]) for (const user of [lead, second]) await user.moved(items[n] ?? "", "completed")
    const decided = await from.acme.put(`${lead.url}/items/${items[2]}/final_labels/tone`, {
      project_id: project,
      value: "rude",
    })
    expect(decided.status).toBe(200)
    for (const n of [11, 2, 3, 4, 5]) await sampled(own, `in-${n}`, within(n))
    return { own, queue, agreed }
  }
  const tone = { field: "label.tone", values: { kind: 1, rude: 0 } }

  test("those that hold are rewards; disputes, and what nobody has labelled, are left out and named", async () => {
    const { own, queue, agreed } = await labelled()
    const asked = body(own, [tone], { queue_id: queue })
    const found = await from.dry(asked)
    expect(found.preview.map(({ id, score }) => [id, score])).toEqual([
      ["in-11", 1],
      ["in-3", 0],
    ])
    expect(causes(found)).toEqual({ disputed: 1, not_labelled: 1, no_score: 1 })
    expect(details(found)).toEqual({
      "in-2": "its annotators differ about label.tone, and nobody has decided",
      "in-4": `no annotator has completed call ${uuid(4)}, which it was made in`,
      "in-5": `label.tone has no value: of the calls that it was made in (1, nearest ${uuid(5)}) none is in the queue`,
    })
    const { job } = await from.made(asked)
    const [first] = (await from.rowsOf(job.id)).data
    expect([first?.rollout_id, first?.feedback_ids.toSorted()]).toEqual(["in-11", agreed.toSorted()])
  })

  test("what an annotator wrote takes the place of a rollout's answer, or is preferred to it", async () => {
    const { own, queue } = await labelled()
    const source = { kind: "rollouts", project_id: own.project, queue_id: queue, rollout_ids: ["in-3"] }
    const sft = { model_id: own.model, source, target: { kind: "sft", corrections: ["label.better"] } }
    expect((await from.made(sft)).lines.map(({ messages }) => messages.at(-1)?.content)).toEqual(["Five."])
    const target = { kind: "dpo", pairs: { from: "fields", chosen: "label.better" } }
    expect(await from.dry({ model_id: own.model, source, target })).toMatchObject({
      pairs: 1,
      preview: [{ answer: "Five.", rejected: "abcd" }],
    })
  })

  test("a queue that is not there is told", async () => {
    const own = await from.world()
    const answer = await from.acme.post(`${fromSource}/dry-run`, body(own, [tone], { queue_id: uuid(77) }))
    expect([answer.status, answer.text]).toEqual([404, expect.stringContaining(uuid(77))])
  })
})

test.each([
  ["a label without its queue", { kind: "rl", reward: [{ field: "label.tone" }] }, "name its queue in source.queue_id"],
  ["a field of a call", { kind: "rl", reward: [{ field: "output.score" }] }, "is no field of a rollout"],
  ["a path with a hole", { kind: "rl", reward: [{ field: "feedback.[a].payload..b" }] }, "has an empty part"],
  ["votes", { kind: "dpo", pairs: { from: "vote" } }, "says nothing of rollouts"],
])("%s is refused with the reason", async (_, target, message) => {
  const own = await from.world()
  const source = { kind: "rollouts", project_id: own.project }
  const { status, text } = await from.acme.post(`${fromSource}/dry-run`, { model_id: own.model, source, target })
  expect([status, text]).toEqual([expect.any(Number), expect.stringContaining(message)])
  expect([400, 422]).toContain(status)
})
