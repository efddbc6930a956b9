/** Agreement, disputes and final labels of a queue's items. */
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { finalLabelAnswer, labelledItems, queueAgreement } from "../../src/wire/labelling/annotation-label.ts"
import { strictly } from "../support/answers.ts"
import { filledQueue, newSpec } from "../support/annotation-queues.ts"
import { uuid } from "../support/completed-call.ts"
import { type EvaluationApp, type EvaluationCaller, openEvaluationApp } from "../support/evaluation-app.ts"
import { callRef, createdFeedback } from "../support/feedback-items.ts"

let opened: EvaluationApp
let ann: EvaluationCaller
let ben: EvaluationCaller
let cem: EvaluationCaller
beforeAll(async () => {
  opened = await openEvaluationApp()
  ann = await opened.addColleague("ann")
  ben = await opened.addColleague("ben")
  cem = await opened.addColleague("cem")
})
afterAll(() => opened.close())

/** Makes a queue of `count` calls with the fields tone (text) and score (number). */
async function labelQueue(count: number) {
  const owner = await filledQueue(opened.acme, count)
  const tone = await newSpec(owner.caller, owner.project, "tone", { type: "string", enum: ["kind", "rude"] })
  const score = await newSpec(owner.caller, owner.project, "score", { type: "number" })
  await opened.acme.put(owner.url, { project_id: owner.project, scorer_refs: [tone, score] })
  const items = await owner.itemIds()
  const label = async (caller: EvaluationCaller, n: number, field: "tone" | "score", value: unknown) =>
    createdFeedback(caller, owner.project, {
      weave_ref: callRef(owner.project, uuid(n)),
      feedback_type: `wandb.annotation.${field}`,
      annotation_ref: field === "tone" ? tone : score,
      payload: { value },
      queue_id: owner.queue,
    })
  const complete = (caller: EvaluationCaller, n: number) => owner.as(caller).moved(items[n - 1] ?? "", "completed")
  const agreement = async () =>
    strictly(queueAgreement, await opened.acme.get(`${owner.url}/agreement${owner.inProject}`))
  const labels = async (fields: Record<string, unknown> = {}) =>
    strictly(labelledItems, await owner.post("/labels/query", fields))
  return { owner, items, label, complete, agreement, labels }
}

describe("agreement of a queue", () => {
  test("two annotators: percent and Cohen's kappa by field; the interval alpha for numbers alone", async () => {
    const { owner, label, complete, agreement } = await labelQueue(4)
    const given = [
      ["kind", "kind", 1, 1],
      ["rude", "rude", 2, 2],
      ["kind", "rude", 3, 3],
      ["rude", "rude", 4, 5],
    ] as const
    for (const [index, [annTone, benTone, annScore, benScore]] of given.entries()) {
      await label(ann, index + 1, "tone", annTone)
      await label(ben, index + 1, "tone", benTone)
      await label(ann, index + 1, "score", annScore)
      await label(ben, index + 1, "score", benScore)
      await complete(ann, index + 1)
      await complete(ben, index + 1)
    }
    const { queue_id, percent_agreement, fields } = await agreement()
    expect([queue_id, percent_agreement]).toEqual([owner.queue, 0.75])
    const [score, tone] = fields
    // Computed by hand. tone: p_e = (2·1 + 2·3)/16. score: D_o = 2, D_e = 2(8·69 − 21²)/7.
    expect(tone).toMatchObject({ field: "tone", annotators: 2, units: 4, labels: 8, percent_agreement: 0.75 })
    expect(tone?.cohen_kappa).toBeCloseTo(0.5, 12)
    expect(tone?.fleiss_kappa).toBeNull()
    expect(tone?.krippendorff_alpha_interval).toBeNull()
    expect(score?.krippendorff_alpha_interval).toBeCloseTo(1 - 2 / ((2 * (8 * 69 - 21 ** 2)) / 7), 12)
  })

  test("by person: each annotator's agreement with the others, field by field, without those who labelled alone", async () => {
    const { label, complete, agreement } = await labelQueue(3)
    const given = [
      [1, "kind", "kind", "rude"],
      [2, "rude", "kind", null],
    ] as const
    for (const [n, ...tones] of given) {
      for (const [index, tone] of tones.entries()) {
        const caller = [ann, ben, cem][index]
        if (tone === null || caller === undefined) continue
        await label(caller, n, "tone", tone)
        await complete(caller, n)
      }
    }
    await label(opened.acme, 3, "tone", "kind")
    await complete(opened.acme, 3)
    const people = (await agreement()).annotators.map(({ username, percent_agreement, fields }) => [
      username,
      percent_agreement,
      fields.map(({ field, pairs }) => [field, pairs]),
    ])
    expect(people.toSorted(([a], [b]) => (String(a) < String(b) ? -1 : 1))).toEqual([
      ["ann", 1 / 3, [["tone", 3]]],
      ["ben", 1 / 3, [["tone", 3]]],
      ["cem", 0, [["tone", 2]]],
    ])
  })

  test("suggestions are counted by the labels that name them: how many say the same", async () => {
    const { owner, label, complete, agreement } = await labelQueue(3)
    await label(ann, 1, "tone", "kind")
    const given = [
      [2, "rude", "rude"],
      [3, "kind", "rude"],
    ] as const
    for (const [n, value, suggested] of given) {
      await createdFeedback(ann, owner.project, {
        weave_ref: callRef(owner.project, uuid(n)),
        feedback_type: "wandb.annotation.tone",
        annotation_ref: `weave:///${owner.project}/object/tone:latest`,
        payload: { value, suggestion: { value: suggested } },
        queue_id: owner.queue,
      })
    }
    expect((await agreement()).suggestions).toEqual([])
    for (const n of [1, 2, 3]) await complete(ann, n)
    expect((await agreement()).suggestions).toEqual([{ field: "tone", offered: 2, accepted: 1 }])
  })

  test("more than two: Fleiss' kappa; labels count once their annotator has completed, the newest of each", async () => {
    const { label, complete, agreement, items, owner } = await labelQueue(2)
    for (const [caller, first, second] of [
      [ann, "kind", "rude"],
      [ben, "kind", "rude"],
      [cem, "kind", "kind"],
    ] as const) {
      await label(caller, 1, "tone", "rude")
      await label(caller, 1, "tone", first)
      await label(caller, 2, "tone", second)
    }
    expect((await agreement()).fields).toEqual([])
    for (const caller of [ann, ben, cem]) for (const n of [1, 2]) await complete(caller, n)
    const [tone] = (await agreement()).fields
    // P̄ = (1 + 1/3)/2, P_e = (4/6)² + (2/6)².
    expect(tone).toMatchObject({ annotators: 3, units: 2, labels: 6, cohen_kappa: null })
    expect(tone?.fleiss_kappa).toBeCloseTo((2 / 3 - 5 / 9) / (4 / 9), 12)
    await owner.as(cem).undone(items[1] ?? "")
    expect((await agreement()).fields).toMatchObject([{ labels: 5, percent_agreement: 1 }])
  })
})

describe("disputes and final labels", () => {
  test("law 3: integers that no double tells apart are different labels, spellings of one number the same", async () => {
    const { label, complete, labels, agreement } = await labelQueue(2)
    const exact = (text: string) => JSON.rawJSON(text)
    await label(ann, 1, "score", exact("9007199254740993"))
    await label(ben, 1, "score", exact("9007199254740992"))
    await label(ann, 2, "score", exact("1.0"))
    await label(ben, 2, "score", exact("1"))
    for (const n of [1, 2]) for (const caller of [ann, ben]) await complete(caller, n)
    expect((await labels({ disputed: true })).items.map(({ item }) => item.call_id)).toEqual([uuid(1)])
    const [score] = (await agreement()).fields
    expect(score).toMatchObject({ field: "score", percent_agreement: 0.5, krippendorff_alpha_interval: 1 })
  })

  test("items in dispute are listed, page by page, until they are decided", async () => {
    const { label, complete, labels, items, owner } = await labelQueue(4)
    for (const n of [1, 2, 3, 4]) {
      await label(ann, n, "tone", "kind")
      await label(ben, n, "tone", n === 3 ? "kind" : "rude")
      await complete(ann, n)
      await complete(ben, n)
    }
    const disputed = await labels({ disputed: true, limit: 2 })
    expect(disputed.items.map(({ item }) => item.call_id)).toEqual([uuid(1), uuid(2)])
    expect(disputed.next_after).toBe(items[1])
    expect(disputed.items[0]).toMatchObject({
      disputed_fields: ["tone"],
      final_labels: [],
      labels: [
        { field: "tone", value: "kind" },
        { field: "tone", value: "rude" },
      ],
    })
    const rest = await labels({ disputed: true, limit: 2, after: disputed.next_after })
    expect([rest.items.map(({ item }) => item.call_id), rest.next_after]).toEqual([[uuid(4)], null])
    expect((await labels({ disputed: false })).items.map(({ item }) => item.call_id)).toEqual([uuid(3)])

    const put = (item: string, fields: object, field = "tone") =>
      opened.acme.put(`${owner.url}/items/${item}/final_labels/${field}`, { project_id: owner.project, ...fields })
    const [first = "", second = ""] = items
    const choice = disputed.items[0]?.labels[1]?.feedback_id
    const decided = strictly(finalLabelAnswer, await put(first, { feedback_id: choice, note: "read twice" }))
    expect(decided.final_label).toMatchObject({ field: "tone", value: "rude", feedback_id: choice, note: "read twice" })
    expect((await put(second, { value: "kind" })).body).toMatchObject({
      final_label: { value: "kind", feedback_id: null, note: null },
    })
    expect((await put(second, { value: "rude" })).status).toBe(200)
    const open = await labels({ disputed: true, adjudicated: false })
    expect(open.items.map(({ item }) => item.call_id)).toEqual([uuid(4)])
    const closed = await labels({ adjudicated: true })
    expect(closed.items.map(({ final_labels }) => final_labels[0]?.value)).toEqual(["rude", "rude"])

    const withdrawn = await opened.acme.delete(`${owner.url}/items/${first}/final_labels/tone${owner.inProject}`)
    expect(withdrawn.body).toEqual({})
    expect((await labels({ adjudicated: true })).items).toHaveLength(1)
  })

  test("the page after an item that was taken out of the queue since is there, and begins behind it", async () => {
    const { labels, items, owner } = await labelQueue(4)
    const first = await labels({ limit: 2 })
    expect(first.next_after).toBe(items[1])
    expect((await opened.acme.delete(`${owner.url}/items/${items[1]}${owner.inProject}`)).status).toBe(200)
    const rest = await labels({ limit: 2, after: first.next_after })
    expect([rest.items.map(({ item }) => item.call_id), rest.next_after]).toEqual([[uuid(3), uuid(4)], null])
    const other = await labelQueue(1)
    expect((await owner.post("/labels/query", { after: other.items[0] })).status).toBe(404)
  })

  test("a decided dispute leaves the list, also when nobody decided the fields on which all agree", async () => {
    const { label, complete, labels, items, owner } = await labelQueue(1)
    for (const [caller, tone] of [
      [ann, "kind"],
      [ben, "rude"],
    ] as const) {
      await label(caller, 1, "tone", tone)
      await label(caller, 1, "score", 3)
      await complete(caller, 1)
    }
    const open = () => labels({ disputed: true, adjudicated: false })
    expect((await open()).items.map(({ disputed_fields }) => disputed_fields)).toEqual([["tone"]])
    const decide = (field: string, value: unknown) =>
      opened.acme.put(`${owner.url}/items/${items[0]}/final_labels/${field}`, { project_id: owner.project, value })
    expect((await decide("score", 3)).status).toBe(200)
    expect((await open()).items).toHaveLength(1)
    expect((await decide("tone", "kind")).status).toBe(200)
    await opened.acme.delete(`${owner.url}/items/${items[0]}/final_labels/score${owner.inProject}`)
    expect((await open()).items).toEqual([])
    expect((await labels({ adjudicated: true })).items).toHaveLength(1)
  })

  test("objects 6.2: a value of one's own is decided for a spec that the queue names as a scorer, before anybody labelled it", async () => {
    const { items, owner } = await labelQueue(1)
    const [tone = ""] = (await owner.read()).scorer_refs
    const scorer_refs = [tone.replace("/object/", "/scorer/")]
    expect((await opened.acme.put(owner.url, { project_id: owner.project, scorer_refs })).status).toBe(200)
    const put = (value: string) =>
      opened.acme.put(`${owner.url}/items/${items[0]}/final_labels/tone`, { project_id: owner.project, value })
    expect(strictly(finalLabelAnswer, await put("rude")).final_label).toMatchObject({ field: "tone", value: "rude" })
    expect(await put("blue")).toMatchObject({
      status: 400,
      body: { reason: expect.stringContaining("annotation spec") },
    })
  })

  test("a decision that is not possible is 400 or 422 with the way out", async () => {
    const { label, complete, items, owner } = await labelQueue(2)
    const { id } = await label(ann, 1, "tone", "kind")
    const { id: other } = await label(ann, 2, "tone", "kind")
    await complete(ann, 1)
    await complete(ann, 2)
    const put = (fields: object, field = "tone") =>
      opened.acme.put(`${owner.url}/items/${items[0]}/final_labels/${field}`, { project_id: owner.project, ...fields })
    expect(await put({ feedback_id: other })).toMatchObject({
      status: 400,
      body: { error_type: "InvalidRequest", reason: expect.stringContaining(id) },
    })
    expect(await put({ value: "angry" })).toMatchObject({ status: 400, body: { error_type: "InvalidRequest" } })
    expect(await put({ value: 1 }, "unknown")).toMatchObject({
      status: 400,
      body: { reason: expect.stringContaining('no field "unknown"') },
    })
    expect((await put({})).status).toBe(422)
    expect((await put({ value: "kind", feedback_id: id })).status).toBe(422)
  })

  test("law 3: numbers of labels and decisions keep their spelling", async () => {
    const { label, complete, items, owner } = await labelQueue(1)
    const { project, queue } = owner
    await label(ann, 1, "score", 1)
    const body = `{"project_id":"${project}","weave_ref":"${callRef(project, uuid(1))}","feedback_type":"wandb.annotation.score",
      "annotation_ref":${JSON.stringify((await owner.read()).scorer_refs[1])},"payload":{"value":9007199254740993},"queue_id":"${queue}"}`
    expect((await ben.post("/feedback/create", body)).status).toBe(200)
    await complete(ben, 1)
    const url = `${owner.url}/items/${items[0]}/final_labels/score`
    const put = await opened.acme.put(url, `{"project_id":"${project}","value":1.50}`)
    expect(put.text).toContain('"value":1.50')
    expect((await owner.post("/labels/query")).text).toMatch(/"value":9007199254740993.*"value":1\.50/)
  })
})
