/** Makes people of a team, calls for them to judge, and queues of these calls, by requests that clients send. */
import { randomUUID } from "node:crypto"
import type { Heddle } from "./heddle.ts"

export interface LabelTeam {
  /** `entity/project` */
  id: string
  entity: string
  project: string
  /** The same server, with the key of each person. */
  as: Record<"ann" | "ben" | "vic", Heddle>
  /** Refs of the questions. */
  tone: string
  warm: string
}

const questions = [
  "Return from Norway: who pays customs, you or me?",
  "Two of the tent poles arrived bent. I leave on Friday, so can I get a replacement instead of my money back?",
  "My refund is €20 short, why?",
  "Is it day 33 so no refund? The zipper broke on first use!",
  "Please refund to PayPal, not to the card.",
  "I was promised a refund on the phone on Monday.",
]
const answers = [
  "You do.",
  "I am sorry the poles arrived bent. A free replacement is covered; it ships today by express, so it reaches you on Thursday.",
  "The voucher of €20 that you used is not refunded as money, but it is valid again. You can find it in your account.",
  "No refund after 30 days. This is in the terms.",
  "Gladly. PayPal takes **two days**; you will get a message when it is there.",
  "I have found the note of that call. The refund is on its way.",
]

/** Makes a team in which ann and ben may label, and vic may only look. */
export async function fillLabelTeam(heddle: Heddle): Promise<LabelTeam> {
  const entity = "nordlicht"
  const project = "support"
  const id = `${entity}/${project}`
  await heddle.send("POST", "/v1/organization/teams", { name: entity })
  const person = async (username: string, role: string): Promise<Heddle> => {
    await heddle.send("POST", "/v1/organization/users", { username })
    await heddle.send("POST", `/v1/organization/teams/${entity}/members`, { username, role })
    const { value: key } = await heddle.send<{ value: string }>("POST", "/v1/organization/api_keys", {
      name: "browser",
      username,
    })
    const send: Heddle["send"] = async (method, url, body) => {
      const answer = await fetch(heddle.url + url, {
        method,
        headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      })
      if (!answer.ok) throw new Error(`${method} ${url}: ${answer.status} ${await answer.text()}`)
      return (await answer.json()) as never
    }
    return { ...heddle, key, send }
  }
  await heddle.send("POST", "/v1/projects", { entity, name: project })
  const tone = await newSpec(heddle, id, {
    name: "tone",
    description: "Judge the words, not the outcome. Kind: sees the person and says so.",
    field_schema: { type: "string", enum: ["kind", "neutral", "rude"] },
  })
  const warm = await newSpec(heddle, id, {
    name: "warm",
    description: "1: curt or dismissive. 3: correct and neutral. 5: sees the person.",
    field_schema: { type: "integer", minimum: 1, maximum: 5 },
  })
  const as = {
    ann: await person("ann", "annotator"),
    ben: await person("ben", "annotator"),
    vic: await person("vic", "viewer"),
  }
  return { id, entity, project, as, tone, warm }
}

interface Spec {
  name: string
  description: string
  field_schema: object
}

export async function newSpec(heddle: Heddle, project_id: string, val: Spec): Promise<string> {
  const obj = { project_id, object_id: val.name, builtin_object_class: "AnnotationSpec", val }
  const { digest } = await heddle.send<{ digest: string }>("POST", "/obj/create", { obj })
  return `weave:///${project_id}/object/${val.name}:${digest}`
}

/** Sends calls that are chats of a support agent; returns their ids, the oldest first. */
export async function sendChats(
  heddle: Heddle,
  project_id: string,
  count: number,
  op_name = "handle_ticket",
): Promise<string[]> {
  const now = Date.now()
  const batch = Array.from({ length: count }, (_, index) => {
    const started = now - (count - index) * 60_000
    return {
      project_id,
      id: randomUUID(),
      trace_id: randomUUID(),
      parent_id: null,
      op_name,
      started_at: new Date(started).toISOString(),
      ended_at: new Date(started + 900).toISOString(),
      attributes: {},
      inputs: {
        model: "returns-agent:step42",
        messages: [
          { role: "system", content: "You answer for the shop Nordlicht." },
          { role: "user", content: `${questions[index % questions.length]} (${index + 1})` },
        ],
      },
      output: { choices: [{ message: { role: "assistant", content: answers[index % answers.length] } }] },
      summary: { usage: { "returns-agent:step42": { prompt_tokens: 40, completion_tokens: 20 } } },
    }
  })
  await heddle.send("POST", `/v2/${project_id}/calls/complete`, { batch })
  return batch.map(({ id }) => id)
}

/** Makes a queue with calls of its own; returns its id and those of the calls. */
export async function newQueue(
  heddle: Heddle,
  team: LabelTeam,
  count: number,
  fields: Record<string, unknown> = {},
): Promise<{ id: string; calls: string[] }> {
  const calls = await sendChats(heddle, team.id, count)
  const { id } = await heddle.send<{ id: string }>("POST", "/annotation_queues", {
    project_id: team.id,
    name: "Refund tone",
    description: "Judge what the customer reads.",
    scorer_refs: [team.tone],
    ...fields,
  })
  const body = { project_id: team.id, call_ids: calls, display_fields: ["inputs", "output"] }
  await heddle.send("POST", `/annotation_queues/${id}/items`, body)
  return { id, calls }
}

/** Stores feedback as a scorer writes it about a call. */
export async function suggest(heddle: Heddle, project_id: string, call: string, output: object): Promise<void> {
  await heddle.send("POST", "/feedback/create", {
    project_id,
    weave_ref: `weave:///${project_id}/call/${call}`,
    feedback_type: "wandb.runnable.judge",
    runnable_ref: `weave:///${project_id}/object/judge:v0`,
    payload: { output },
  })
}

interface LabelledItems {
  items: {
    item: { id: string; call_id: string; annotation_state: string }
    labels: { field: string; value: unknown; annotator_user_id: string; feedback_id: string }[]
    disputed_fields: string[]
    final_labels: { field: string; value: unknown }[]
  }[]
}

/** The labels that count for each item, in the order of the queue. */
export async function labelsOf(heddle: Heddle, project_id: string, queue: string) {
  const path = `/annotation_queues/${queue}/labels/query`
  const { items } = await heddle.send<LabelledItems>("POST", path, { project_id, limit: 1000 })
  return items
}
