/** Fills a project as a team has it after a day, with training, traces and labels, by requests that clients send. */
import { randomUUID } from "node:crypto"
import { setTimeout as sleep } from "node:timers/promises"
import type { Heddle } from "./heddle.ts"

const hour = 3600 * 1000
const ended = new Set(["succeeded", "failed", "cancelled"])

export interface FilledProject {
  /** `entity/project` */
  id: string
  entity: string
  project: string
}

/**
 * Runs `trainings` jobs on the shipped model, then sends a day's calls, a job that fails, and a queue with finished
 * items.
 */
export async function fillProject(heddle: Heddle, project: string, trainings = 2): Promise<FilledProject> {
  const entity = "local"
  const id = `${entity}/${project}`
  const model = await heddle.send<{ id: string }>("POST", "/v1/preview/models", {
    project,
    name: "returns-agent",
    base_model: "heddle/tiny",
  })
  for (let count = 0; count < trainings; count += 1) await train(heddle, id, model.id)
  await failJob(heddle, project)
  const calls = await sendCalls(heddle, id)
  await label(heddle, id, calls)
  return { id, entity, project }
}

interface ChatAnswer {
  choices: { message: { content: string | null } }[]
}

/** Asks the newest step of `returns-agent` one question; returns its `n` answers. */
async function answersTo(heddle: Heddle, project: string, content: string, n: number) {
  const messages = [{ role: "user", content }]
  const { choices } = await heddle.send<ChatAnswer>("POST", "/v1/chat/completions", {
    model: `wandb-artifact:///${project}/returns-agent`,
    messages,
    n,
    max_completion_tokens: 6,
    temperature: 1,
    logprobs: true,
  })
  return { messages, choices }
}

export interface AskedGroup {
  question: string
  rewards: readonly number[]
  /** True: the answers go into the job without their tokens and log-probabilities. */
  isWithoutLogprobs?: boolean
}

/** Runs an RL job of `returns-agent` on its own answers to these questions; returns its id when it has ended. */
export async function trainGroups(heddle: Heddle, project: string, asked: readonly AskedGroup[]): Promise<string> {
  const name = project.split("/")[1]
  const { data } = await heddle.send<{ data: { id: string }[] }>(
    "GET",
    `/v1/preview/models?project=${name}&name=returns-agent`,
  )
  const trajectory_groups = []
  for (const { question, rewards, isWithoutLogprobs = false } of asked) {
    const { messages, choices } = await answersTo(heddle, project, question, rewards.length)
    const trajectories = choices.map((choice, index) => ({
      messages_and_choices: [
        ...messages,
        isWithoutLogprobs ? { index, finish_reason: "stop", message: choice.message } : choice,
      ],
      tools: null,
      reward: rewards[index],
      metrics: {},
      metadata: {},
      logs: [],
    }))
    trajectory_groups.push({ trajectories, exceptions: [], metadata: {}, metrics: {}, logs: [] })
  }
  const body = { model_id: data[0]?.id, trajectory_groups }
  const job = await heddle.send<{ id: string }>("POST", "/v1/preview/training-jobs", body)
  await settled(heddle, job.id)
  return job.id
}

/** Runs one RL job on the model's own answers, in the form that ART sends. */
async function train(heddle: Heddle, project: string, modelId: string): Promise<void> {
  const groups = await Promise.all(
    [3, 4, 5, 6].map(async (number) => {
      const { messages, choices } = await answersTo(heddle, project, `${number}+1=`, 4)
      const trajectories = choices.map((choice, index) => ({
        messages_and_choices: [...messages, choice],
        tools: null,
        // Rewards differ in each group, whatever the answers are, because a group of equal rewards teaches nothing.
        reward: choice.message.content?.includes(`${number + 1}`) === true ? 1 : (index % 3) / 4,
        metrics: {},
        metadata: {},
        logs: [],
      }))
      return { trajectories, exceptions: [], metadata: {}, metrics: {}, logs: [] }
    }),
  )
  const job = await heddle.send<{ id: string }>("POST", "/v1/preview/training-jobs", {
    model_id: modelId,
    trajectory_groups: groups,
  })
  await settled(heddle, job.id)
}

async function settled(heddle: Heddle, jobId: string): Promise<void> {
  const status = async () => (await heddle.send<{ status: string }>("GET", `/v1/preview/training-jobs/${jobId}`)).status
  while (!ended.has(await status())) await sleep(200)
}

/** Runs an SFT job that fails, because its data's last message is not the assistant's. */
async function failJob(heddle: Heddle, project: string): Promise<void> {
  const rows = [{ messages: [{ role: "user", content: "alone" }] }]
  await settled(heddle, await startSft(heddle, project, "tone-judge", rows))
}

/** Starts an SFT job of a new model; returns its id. */
export async function startSft(heddle: Heddle, project: string, name: string, rows: object[]): Promise<string> {
  const base_model = "heddle/tiny"
  const model = await heddle.send<{ id: string }>("POST", "/v1/preview/models", { project, name, base_model })
  const form = new FormData()
  form.set("purpose", "fine-tune")
  form.set("file", new Blob([rows.map((row) => JSON.stringify(row)).join("\n")]), "train.jsonl")
  const uploaded = await fetch(`${heddle.url}/v1/files`, {
    method: "POST",
    headers: { authorization: `Bearer ${heddle.key}` },
    body: form,
  })
  const file = (await uploaded.json()) as { id: string }
  const job = await heddle.send<{ id: string }>("POST", "/v1/preview/sft-training-jobs", {
    model_id: model.id,
    training_data_url: file.id,
  })
  return job.id
}

const questions = [
  "You charged me twice for NL-88107, €149.00 both times.",
  "Parcel marked delivered, nobody here got it. NL-88150",
  "The jacket is one size too small. Can I still exchange it?",
  "Is it day 33 so no refund? The zipper broke on the first day.",
  "Gift card NL-GC-5521 shows €0, it was a €50 gift.",
]

/**
 * Sends traces of the last day with the tokens used; some fail, the last two still run. Returns their ids, oldest
 * first.
 */
async function sendCalls(heddle: Heddle, project: string): Promise<string[]> {
  const count = 240
  const now = Date.now()
  const batch = Array.from({ length: count }, (_, index) => {
    const started = now - 23 * hour * (1 - index / count) ** 1.4 - 20_000
    const milliseconds = 300 + ((index * 7919) % 4200)
    const isFailed = index % 17 === 9
    const isRefund = index % 3 === 1
    return {
      project_id: project,
      id: randomUUID(),
      trace_id: randomUUID(),
      parent_id: null,
      op_name: isRefund ? "issue_refund" : "handle_ticket",
      started_at: new Date(started).toISOString(),
      ended_at: new Date(started + milliseconds).toISOString(),
      attributes: {},
      inputs: isRefund
        ? { order_id: `NL-${88_000 + index}`, amount: 119 }
        : { messages: [{ role: "user", content: questions[index % questions.length] }] },
      output: isFailed ? null : { content: "I have found the second charge and sent it back, it takes five days." },
      exception: isFailed ? "PaymentProviderTimeout: no answer within 8,000 ms" : null,
      summary: { usage: { "returns-agent": { input_tokens: 900 + (index % 400), output_tokens: 60 + (index % 90) } } },
    }
  })
  await heddle.send("POST", `/v2/${project}/calls/complete`, { batch })
  for (const seconds of [2, 9]) {
    const start = {
      project_id: project,
      id: randomUUID(),
      trace_id: randomUUID(),
      op_name: "handle_ticket",
      started_at: new Date(now - seconds * 1000).toISOString(),
      attributes: {},
      inputs: { messages: [{ role: "user", content: questions[seconds % questions.length] }] },
    }
    await heddle.send("POST", "/call/start", { start })
  }
  return batch.map(({ id }) => id)
}

async function label(heddle: Heddle, project: string, calls: readonly string[]): Promise<void> {
  const queue = await heddle.send<{ id: string }>("POST", "/annotation_queues", {
    project_id: project,
    name: "Refund tone",
    scorer_refs: [],
  })
  const path = `/annotation_queues/${queue.id}/items`
  await heddle.send("POST", path, { project_id: project, call_ids: calls.slice(0, 12), display_fields: ["inputs"] })
  const { items } = await heddle.send<{ items: { id: string }[] }>("POST", `${path}/query`, { project_id: project })
  for (const { id } of items.slice(0, 4)) {
    for (const annotation_state of ["in_progress", "completed"]) {
      await heddle.send("POST", `${path}/${id}/progress`, { project_id: project, annotation_state })
    }
  }
}
