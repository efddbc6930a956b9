/**
 * Makes objects as a project has them after weeks: datasets, a prompt, a model, an op, an evaluation; versions and
 * labels.
 */
import { randomUUID } from "node:crypto"
import type { Heddle } from "./heddle.ts"

export interface FilledObjects {
  /** Digest of the newest version of `returns-eval`, which the evaluation names. */
  datasetDigest: string
  /** Id of a call that had that version as an input. */
  callId: string
  traceId: string
}

const zip = { ticket: "The zip broke on the first day.", expected: "Refuse: 30 days are over.", section: 2.1 }
const size = { ticket: "The jacket is one size too small.", expected: "Allow the exchange.", section: 4.2 }
const voucher = { ticket: "I returned half of it, paid by voucher.", expected: "Money goes to the card.", section: 3.4 }
const password = { ticket: "How do I reset my password?", expected: "Send the link.", section: null }
const boots = { ticket: "Boots worn twice, the sole comes off.", expected: "Ask for a photo.", section: 6.1 }
const customs = { ticket: "Who pays customs to Norway?", expected: "We do.", section: 5.3 }
const person = { ticket: "I want to speak to a person.", expected: "Hand over at once.", section: 1.2 }

const datasetVersions = [
  [zip, size, voucher],
  [zip, size, voucher, password, boots],
  [
    { ...zip, expected: "Accept as a defect: 30 days are over.", section: 6.1 },
    size,
    { ...voucher, expected: "Money goes to the voucher." },
    boots,
    customs,
    person,
  ],
]

export async function fillObjects(heddle: Heddle, id: string): Promise<FilledObjects> {
  const digests: string[] = []
  for (const rows of datasetVersions) digests.push(await publishDataset(heddle, id, "returns-eval", rows))
  const [, second = "", third = ""] = digests
  const long = Array.from({ length: 1200 }, (_, index) => ({
    question: `question ${index}`,
    // JavaScript has no such number; the answer must have its digits as they are written here.
    number: index === 7 ? JSON.rawJSON("12345678901234567890") : index % 300,
  }))
  await publishDataset(heddle, id, "long-list", long)
  await label(heddle, id, "returns-eval", second, "nightly")
  await label(heddle, id, "returns-eval", third, "production")
  await heddle.send("PUT", `/objs/returns-eval/versions/${third}/tags`, { project_id: id, tags: ["reviewed"] })

  for (const content of ["Answer briefly.", "Answer briefly and kindly."]) {
    await publish(heddle, id, "tone-prompt", { ...ofClass("StringPrompt", "Prompt"), content })
  }
  await heddle.send("POST", `/v2/${id}/ops`, {
    name: "issue_refund",
    source_code: "def issue_refund(order):\n    return order\n",
  })
  await publish(heddle, id, "returns-agent", { ...ofClass("ReturnsAgent", "Model"), temperature: 0.5 })
  await publish(heddle, id, "opening-hours", { monday: [9, 18], saturday: null })
  const dataset = `weave:///${id}/object/returns-eval:${third}`
  await publish(heddle, id, "returns-regression", { ...ofClass("Evaluation"), dataset, scorers: [], trials: 1 })
  const retired = await publish(heddle, id, "retired", { reason: "names of customers" })
  await heddle.send("POST", "/obj/delete", { project_id: id, object_id: "retired", digests: [retired] })
  return { datasetDigest: third, ...(await callWith(heddle, id, dataset)) }
}

/** The fields by which the SDK marks a value of a class. */
function ofClass(name: string, ...bases: string[]): object {
  return { _type: name, _class_name: name, _bases: [...bases, "Object", "BaseModel"] }
}

async function publishDataset(heddle: Heddle, id: string, name: string, rows: object[]): Promise<string> {
  const { digest } = await heddle.send<{ digest: string }>("POST", `/v2/${id}/datasets`, { name, rows })
  return digest
}

async function publish(heddle: Heddle, id: string, name: string, val: object): Promise<string> {
  const obj = { project_id: id, object_id: name, val }
  return (await heddle.send<{ digest: string }>("POST", "/obj/create", { obj })).digest
}

async function label(heddle: Heddle, id: string, name: string, digest: string, alias: string): Promise<void> {
  await heddle.send("PUT", `/objs/${name}/aliases`, { project_id: id, digest, aliases: [alias] })
}

async function callWith(heddle: Heddle, id: string, ref: string): Promise<{ callId: string; traceId: string }> {
  const [callId, traceId] = [randomUUID(), randomUUID()]
  const call = {
    project_id: id,
    id: callId,
    trace_id: traceId,
    parent_id: null,
    op_name: "predict",
    started_at: new Date(Date.now() - 60_000).toISOString(),
    ended_at: new Date(Date.now() - 59_000).toISOString(),
    attributes: {},
    inputs: { dataset: ref },
    output: null,
    summary: {},
  }
  await heddle.send("POST", `/v2/${id}/calls/complete`, { batch: [call] })
  return { callId, traceId }
}
