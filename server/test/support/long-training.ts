/** Servers in processes of their own, and training jobs long enough that something can happen to them meanwhile. */
import { createHash } from "node:crypto"
import { mkdtemp, readFile, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import path from "node:path"
import { expect, vi } from "vitest"
import { listedJob } from "../../src/wire/training/job.ts"
import { endServer, newStores, type RunningServer, startServer } from "./server-process.ts"
import { adminKey, type Answer, type Caller } from "./test-app.ts"
import { sampledTrajectory } from "./training-app.ts"

export const jobsPath = "/v1/preview/training-jobs"
export const patience = { timeout: 600_000, interval: 50 }

export interface OpenServer {
  acme: Caller
  config: { dataDir: string }
  close: () => Promise<void>
}

export interface ServerByItself extends OpenServer {
  server: RunningServer
}

/** A server in a process of its own: of the embedded trace store there can be one in a process. */
export async function openServer(settings: NodeJS.ProcessEnv): Promise<ServerByItself> {
  const dataDir = await mkdtemp(path.join(tmpdir(), "heddle-long-training-"))
  const server = await startServer(dataDir, { HEDDLE_LOG: "silent", ...(await newStores(dataDir)), ...settings })
  const call = async (method: string, url: string, body?: unknown): Promise<Answer> => {
    const headers = { authorization: `Bearer ${adminKey}`, "content-type": "application/json" }
    const payload = body === undefined ? {} : { body: JSON.stringify(body) }
    const answer = await fetch(server.url + url, { method, headers, ...payload })
    return { status: answer.status, body: await answer.json(), headers: Object.fromEntries(answer.headers) }
  }
  const acme = {
    entity: "local",
    key: adminKey,
    get: (url: string) => call("GET", url),
    post: (url: string, body?: unknown) => call("POST", url, body),
    delete: (url: string, body?: unknown) => call("DELETE", url, body),
  }
  const close = async () => {
    await endServer(server, "SIGTERM")
    await rm(dataDir, { recursive: true, force: true })
  }
  return { acme, config: { dataDir }, server, close }
}

/** The request for a job whose gradient steps are small and many; `config` is added to its own. */
export function longJob(model_id: string, groups: number, config: object = {}) {
  return {
    model_id,
    trajectory_groups: Array.from({ length: groups }, (_, group) => ({
      trajectories: [0, 1].map((reward) => sampledTrajectory(reward, 8 + ((group + reward) % 9))),
    })),
    experimental_config: {
      learning_rate: 0.001,
      packed_sequence_length: 64,
      logprob_calculation_chunk_size: 64,
      ...config,
    },
  }
}

export async function startJob(caller: Caller, model_id: string, groups = 60, config: object = {}): Promise<string> {
  const { body } = await caller.post(jobsPath, longJob(model_id, groups, config))
  return (body as { id: string }).id
}

export const readJob = async (caller: Caller, id: string) =>
  listedJob.parse((await caller.get(`${jobsPath}/${id}`)).body)

export async function reached(caller: Caller, job: string, steps: number): Promise<void> {
  await vi.waitUntil(async () => (await readJob(caller, job)).gradient_steps >= steps, patience)
}

/** Waits for the job's end; its events are there once each, in order. */
export async function ended(caller: Caller, job: string): Promise<void> {
  await vi.waitUntil(async () => (await readJob(caller, job)).ended_at !== null, patience)
  const { body } = await caller.get(`${jobsPath}/${job}/events?limit=100`)
  const { data: events } = body as { data: { type: string; data: { num_sequences?: number } }[] }
  const steps = events[0]?.data.num_sequences ?? 0
  expect(steps).toBeGreaterThan(20)
  const each = Array.from({ length: steps }, () => "gradient_step")
  expect(events.map(({ type }) => type)).toEqual(["training_started", ...each, "training_ended"])
}

export function readAdapter(dataDir: string, model: string, step = 1): Promise<Buffer> {
  const folder = `step_${String(step).padStart(6, "0")}`
  return readFile(path.join(dataDir, "checkpoints", model, folder, "adapter_model.safetensors"))
}

/** SHA-256 of a model's weights. */
export async function adapterOf({ config }: { config: { dataDir: string } }, model: string, step = 1): Promise<string> {
  return createHash("sha256")
    .update(await readAdapter(config.dataDir, model, step))
    .digest("hex")
}

export function chat(caller: Caller, model: string, question = "3 + 4 = ?") {
  return caller.post("/v1/chat/completions", {
    model,
    messages: [{ role: "user", content: question }],
    max_tokens: 3,
  })
}
