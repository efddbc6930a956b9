/** Trains a model on what the real engine sampled, and downloads what it became. */
import { writeFile } from "node:fs/promises"
import path from "node:path"
import type { TestApp } from "./test-app.ts"
import { trained } from "./training-app.ts"

/** Trains on answers of a chat, every other one rewarded; returns the figures of the job's first gradient step. */
export async function trainedOnAnswers(
  { acme }: TestApp,
  model: string,
  question: object,
  choices: readonly object[],
): Promise<Record<string, number> | undefined> {
  const trajectories = choices.map((choice, index) => ({
    messages_and_choices: [question, choice],
    reward: index % 2,
    tools: null,
    metrics: {},
    metadata: {},
    logs: [],
  }))
  await trained(acme, model, [{ trajectories }])
  const jobs = await acme.get(`/v1/preview/training-jobs?model_id=${model}`)
  const [job] = (jobs.body as { data: { id: string }[] }).data
  const events = await acme.get(`/v1/preview/training-jobs/${job?.id}/events`)
  const steps = (events.body as { data: { type: string; data: Record<string, number> }[] }).data
  return steps.find(({ type }) => type === "gradient_step")?.data
}

/** Writes step 1 in this format into the folder; returns the file's path. */
export async function downloadedStep(
  { app, acme }: TestApp,
  model: string,
  format: string,
  folder: string,
): Promise<string> {
  const answer = await app.server.inject({
    url: `/v1/preview/models/${model}/checkpoints/1/download?format=${format}`,
    headers: { authorization: `Bearer ${acme.key}` },
  })
  if (answer.statusCode !== 200) throw new Error(answer.body)
  await writeFile(path.join(folder, format), answer.rawPayload)
  return path.join(folder, format)
}
