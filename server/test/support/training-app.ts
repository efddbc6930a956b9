/** Opens the whole server with the fake engine, and trains models on it. */
import { vi } from "vitest"
import type { Config } from "../../src/config.ts"
import { FakeEngine } from "../../src/engines/fake-engine.ts"
import { job as jobSchema } from "../../src/wire/training/job.ts"
import { type Caller, openTestApp, type TestApp } from "./test-app.ts"

export interface TrainingApp extends TestApp {
  fake: FakeEngine
}

export async function openTrainingApp(changes: Partial<Config> = {}): Promise<TrainingApp> {
  const fake = new FakeEngine()
  return Object.assign(await openTestApp(changes, fake), { fake })
}

let models = 0

/** Makes a model on the shipped base, with a new name. */
export async function newModel(caller: Caller): Promise<{ id: string; name: string }> {
  const name = `model-${models++}`
  const answer = await caller.post("/v1/preview/models", { project: "tests", name, base_model: "heddle/tiny" })
  if (answer.status !== 200) throw new Error(`no model: ${JSON.stringify(answer.body)}`)
  return { id: (answer.body as { id: string }).id, name }
}

/** A trajectory with one sampled turn of `tokens` tokens. */
export function sampledTrajectory(reward: number, tokens = 2) {
  const ids = Array.from({ length: tokens }, (_, index) => 100 + (index % 300))
  return {
    messages_and_choices: [
      { role: "user", content: "one plus one" },
      {
        finish_reason: "stop",
        index: 0,
        message: { role: "assistant", content: "two", refusal: null },
        logprobs: {
          content: ids.map((id) => ({ token: `token_id:${id}`, bytes: [104], logprob: -0.5, top_logprobs: [] })),
          refusal: null,
        },
        stop_reason: null,
        token_ids: ids,
        prompt_token_ids: [1, 2, 3],
      },
    ],
    tools: null,
    reward,
    metrics: {},
    metadata: {},
    logs: [],
  }
}

/** One group of trajectories for each list of rewards. */
export function groupsOf(...rewards: number[][]) {
  return rewards.map((group) => ({
    trajectories: group.map((reward) => sampledTrajectory(reward)),
    exceptions: [],
    metadata: {},
    metrics: {},
    logs: [],
  }))
}

/** Trains a model to its next step. */
export async function trained(caller: Caller, model_id: string, groups: object[] = groupsOf([0, 1])): Promise<void> {
  const { body } = await caller.post("/v1/preview/training-jobs", { model_id, trajectory_groups: groups })
  const { id } = body as { id: string }
  const read = async () => jobSchema.parse((await caller.get(`/v1/preview/training-jobs/${id}`)).body)
  await vi.waitUntil(async () => (await read()).ended_at !== null, { timeout: 120_000, interval: 50 })
  const { status, error_message } = await read()
  if (status !== "succeeded") throw new Error(`the job ${status}: ${error_message}`)
}
