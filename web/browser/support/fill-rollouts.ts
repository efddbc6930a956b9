/** Attempts that an agent made through the server, and what was said of them in each way there is. */
import { randomUUID } from "node:crypto"
import { newSpec } from "./fill-queue.ts"
import type { Heddle } from "./heddle.ts"

/**
 * Four attempts with rewards 0, 1, 0, 1, two at each question, and two that nobody rewarded. Calls around the first two
 * have feedback `helpful` and labels of a queue, one around the third is the trial of an evaluation. Returns the ids of the
 * four.
 */
export async function fillRollouts(heddle: Heddle, id: string): Promise<string[]> {
  const project = id.split("/")[1]
  await heddle.send("POST", "/v1/preview/models", { project, name: "clerk", base_model: "heddle/tiny" })
  const calls = Array.from({ length: 3 }, () => randomUUID())
  const [evaluation, trial] = [randomUUID(), randomUUID()]
  const call = (one: string | undefined, fields: object = {}) => ({
    project_id: id,
    id: one,
    trace_id: one,
    op_name: "handle_order",
    started_at: new Date(Date.now() - 60_000).toISOString(),
    ended_at: new Date(Date.now() - 59_000).toISOString(),
    attributes: {},
    inputs: { order: "NL-17" },
    output: "done",
    summary: {},
    ...fields,
  })
  const inTrial = { trace_id: evaluation, parent_id: evaluation, op_name: "Evaluation.predict_and_score" }
  const batch = [
    call(calls[0]),
    call(calls[1]),
    call(evaluation, { op_name: "Evaluation.evaluate" }),
    call(trial, { ...inTrial, output: { output: "done", scores: { exact: true } } }),
    call(calls[2], { trace_id: evaluation, parent_id: trial }),
  ]
  await heddle.send("POST", `/v2/${id}/calls/complete`, { batch })

  const attempts = ["order-0-a", "order-0-b", "order-1-a", "order-1-b"]
  for (const [index, attempt] of attempts.entries()) {
    await ask(heddle, id, attempt, { group: `order-${Math.floor(index / 2)}`, call: calls[index] })
    await heddle.send("POST", `/v1/rollouts/${attempt}/reward?project_id=${id}`, { reward: index % 2 })
  }
  for (const attempt of ["unjudged-1", "unjudged-2"])
    await ask(heddle, id, attempt, { group: "order-2", call: undefined })
  await judge(heddle, id, calls.slice(0, 2))
  return attempts
}

interface Place {
  group: string
  call: string | undefined
}

async function ask(heddle: Heddle, id: string, attempt: string, { group, call }: Place): Promise<void> {
  const answer = await fetch(`${heddle.url}/v1/chat/completions`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${heddle.key}`,
      "content-type": "application/json",
      "x-heddle-rollout-id": attempt,
      "x-heddle-rollout-group": group,
      ...(call === undefined ? {} : { "x-heddle-call-id": call }),
    },
    body: JSON.stringify({
      model: `wandb-artifact:///${id}/clerk`,
      messages: [{ role: "user", content: `4+${group.at(-1)}=` }],
      max_completion_tokens: 4,
      temperature: 1,
    }),
  })
  if (!answer.ok) throw new Error(`${attempt}: ${answer.status} ${await answer.text()}`)
}

/** The first call is helpful and kind, the other neither. */
async function judge(heddle: Heddle, project_id: string, calls: readonly string[]): Promise<void> {
  const tone = await newSpec(heddle, project_id, {
    name: "tone",
    description: "What the customer reads.",
    field_schema: { type: "string", enum: ["kind", "rude"] },
  })
  const queue = await heddle.send<{ id: string }>("POST", "/annotation_queues", {
    project_id,
    name: "What agents said",
    scorer_refs: [tone],
  })
  const items = `/annotation_queues/${queue.id}/items`
  await heddle.send("POST", items, { project_id, call_ids: calls, display_fields: ["inputs"] })
  for (const [index, one] of calls.entries()) {
    const said = { project_id, weave_ref: `weave:///${project_id}/call/${one}` }
    await heddle.send("POST", "/feedback/create", {
      ...said,
      feedback_type: "helpful",
      payload: { value: index === 0 },
    })
    await heddle.send("POST", "/feedback/create", {
      ...said,
      feedback_type: "wandb.annotation.tone",
      annotation_ref: tone,
      queue_id: queue.id,
      payload: { value: index === 0 ? "kind" : "rude" },
    })
  }
  const { items: added } = await heddle.send<{ items: { id: string }[] }>("POST", `${items}/query`, { project_id })
  for (const { id } of added) {
    for (const annotation_state of ["in_progress", "completed"])
      await heddle.send("POST", `${items}/${id}/progress`, { project_id, annotation_state })
  }
}
