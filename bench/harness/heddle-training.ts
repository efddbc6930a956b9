/** Makes models, training jobs and chats on a Heddle server, as a training client does. */
import path from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { request } from "./http.ts"
import { ENTITY, type HeddleServer, PROJECT } from "./heddle-server.ts"

export interface TrainableModel {
  id: string
  name: string
}

export interface TrainingEvent {
  id: string
  type: "training_started" | "gradient_step" | "training_ended" | "training_failed"
  data: Record<string, unknown>
}

/** A sampled choice as the server returned it; it is sent unchanged in a job. */
export type Choice = Record<string, unknown> & {
  logprobs: { content: { logprob: number }[] }
  prompt_token_ids: number[]
  token_ids: number[]
}

export const register = (server: HeddleServer, name: string, baseModel: string) =>
  server.post<TrainableModel>("/v1/preview/models", {
    entity: ENTITY,
    project: PROJECT,
    name,
    base_model: baseModel,
    return_existing: true,
  })

export const checkpointName = (model: TrainableModel, step: number) =>
  `wandb-artifact:///${ENTITY}/${PROJECT}/${model.name}:step${step}`

/** The folder in which the server keeps a checkpoint; the peers load it with peft. */
export const checkpointFolder = (dataDir: string, model: TrainableModel, step: number) =>
  path.join(dataDir, "checkpoints", model.id, `step_${String(step).padStart(6, "0")}`)

export async function sampleChoices(
  server: HeddleServer,
  model: string,
  content: string,
  settings: { n: number; max_tokens: number; seed: number },
): Promise<Choice[]> {
  const messages = [{ role: "user", content }]
  const answer = await server.post<{ choices: Choice[] }>("/v1/chat/completions", {
    model,
    messages,
    ...settings,
  })
  return answer.choices
}

/** One group of an RL job: the choices of one prompt with their rewards. */
export const trajectoryGroup = (content: string, choices: Choice[], rewards: number[]) => ({
  trajectories: choices.map((choice, index) => ({
    messages_and_choices: [{ role: "user", content }, choice],
    reward: rewards[index] ?? 0,
  })),
})

export const submitJob = (server: HeddleServer, model: TrainableModel, groups: unknown[], config: object) =>
  server.post<{ id: string }>("/v1/preview/training-jobs", {
    model_id: model.id,
    trajectory_groups: groups,
    experimental_config: config,
  })

/** Events of a job so far, at most 100. */
async function jobEvents(server: HeddleServer, job: string): Promise<TrainingEvent[]> {
  const page = await server.get<{ data: TrainingEvent[] }>(`/v1/preview/training-jobs/${job}/events?limit=100`)
  return page.data
}

/** Asks every `pauseMs` until `count` events of `type` are there. @throws {Error} when the job has failed. */
export async function waitForEvents(
  server: HeddleServer,
  job: string,
  type: TrainingEvent["type"],
  pauseMs: number,
  count = 1,
): Promise<TrainingEvent[]> {
  for (;;) {
    const events = await jobEvents(server, job)
    const failed = events.find((event) => event.type === "training_failed")
    if (failed) throw new Error(`job ${job} failed: ${String(failed.data["error_message"])}`)
    if (events.filter((event) => event.type === type).length >= count) return events
    await sleep(pauseMs)
  }
}

/** Asks until the model answers one token; null when it is still unknown after `timeoutMs`. */
export async function firstToken(server: HeddleServer, model: string, timeoutMs: number): Promise<number | null> {
  const body = {
    model,
    messages: [{ role: "user", content: "2 + 2" }],
    max_tokens: 1,
    temperature: 0,
  }
  const deadline = performance.now() + timeoutMs
  while (performance.now() < deadline) {
    const reply = await request("POST", `${server.url}/v1/chat/completions`, body, server.headers)
    if (reply.status === 200) return performance.now()
    if (reply.status !== 404) throw new Error(`${model} answered ${reply.status}: ${reply.body}`)
  }
  return null
}
