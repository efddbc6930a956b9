/** An RL step on gathered rollouts with later rewards equals one on ART's own trajectories, with the real engine. */
import { readFile } from "node:fs/promises"
import path from "node:path"
import { afterAll, beforeAll, expect, test, vi } from "vitest"
import { issuesOf } from "../../src/training/rollouts/rollout-issues.ts"
import { rolloutsOf, trajectoryOf } from "../../src/training/rollouts/rollout-source.ts"
import { specTrajectory } from "../../src/wire/engine/train.ts"
import { job as jobSchema } from "../../src/wire/training/job.ts"
import { ask as askApp, inRollout, read, type Turn, turnsOf } from "../support/rollouts.ts"
import { type Answer, openTestApp, type TestApp } from "../support/test-app.ts"
import { newModel } from "../support/training-app.ts"

const python = process.env["HEDDLE_PYTHON"] ?? path.resolve(import.meta.dirname, "../../../engine/.venv/bin/python")

let opened: TestApp
let model: string
let modelId: string
beforeAll(async () => {
  opened = await openTestApp({ engine: "process", python })
  const made = await newModel(opened.acme)
  modelId = made.id
  model = `wandb-artifact:///acme/tests/${made.name}`
}, 120_000)
afterAll(() => opened.close())

const question = { role: "user", content: "3+4=" }

interface Captured {
  chat_completions: object[]
  completions: object[]
  responses: object[]
  messages: object[]
}

/** Sends a request; returns the exchange as openpipe-art captures it (art-0.5.23 3). */
async function call(
  kind: keyof Captured,
  url: string,
  request: object,
  headers: Record<string, string>,
  into: Captured,
) {
  const start_time = new Date().toISOString()
  const { status, body } = await askApp(opened.app, opened.acme, url, request, headers)
  expect([status, body]).toEqual([200, expect.anything()])
  into[kind].push({ start_time, end_time: new Date().toISOString(), request, response: body, model })
  return body as Record<string, unknown>
}

/** Makes one rollout: two turns by chat, and a branch by each of the other protocols. */
async function rollout(seed: number): Promise<Captured> {
  const captured: Captured = { chat_completions: [], completions: [], responses: [], messages: [] }
  const headers = inRollout(`r${seed}`, "3+4")
  const asked = { model, seed, temperature: 1 }
  const chat = { ...asked, messages: [question], max_tokens: 8 }
  const first = await call("chat_completions", "/v1/chat/completions", chat, headers, captured)
  const [{ message }] = first["choices"] as [{ message: object }]
  const more = { ...chat, messages: [question, message, { role: "user", content: "2+2=" }] }
  await call("chat_completions", "/v1/chat/completions", more, headers, captured)
  const messages = [{ role: "user", content: "1+5=" }]
  await call("messages", "/v1/messages", { ...asked, messages, max_tokens: 6 }, headers, captured)
  await call("responses", "/v1/responses", { ...asked, input: "9+0=", max_output_tokens: 6 }, headers, captured)
  await call("completions", "/v1/completions", { ...asked, prompt: "7+1=", max_tokens: 5 }, headers, captured)
  return captured
}

/** Trains on these trajectories; returns the metrics of the only gradient step, and the engine's data. */
async function trained(trajectories: object[], step: number) {
  const body = {
    model_id: modelId,
    trajectory_groups: [{ trajectories }],
    experimental_config: { learning_rate: 1e-3 },
  }
  return endedJob(await opened.acme.post("/v1/preview/training-jobs", body), step)
}

async function endedJob({ status, body }: Answer, step: number) {
  expect([status, body]).toEqual([200, expect.anything()])
  const { id } = body as { id: string }
  const job = async () => jobSchema.parse((await opened.acme.get(`/v1/preview/training-jobs/${id}`)).body)
  await vi.waitUntil(async () => (await job()).ended_at !== null, { timeout: 120_000, interval: 100 })
  expect(await job()).toMatchObject({ status: "succeeded", output_step: step, warnings: [] })
  const events = (await opened.acme.get(`/v1/preview/training-jobs/${id}/events`)).body as {
    data: { type: string; data: Record<string, number> }[]
  }
  const steps = events.data.filter(({ type }) => type === "gradient_step")
  expect(steps).toHaveLength(1)
  const row = await opened.app.stores.catalog
    .selectFrom("training_jobs")
    .select("data_path")
    .where("id", "=", id)
    .executeTakeFirstOrThrow()
  const text = await readFile(path.join(opened.config.dataDir, row.data_path), "utf8")
  const lines = text.split("\n").filter(Boolean)
  return { metrics: steps[0]?.data ?? {}, lines: lines.map((line) => specTrajectory.parse(JSON.parse(line))) }
}

/** The difference of a metric, divided by the expected value where that is more than 1. */
function apart(one: Trained, other: Trained, metric: string): number {
  const [value = Number.NaN, expected = Number.NaN] = [one.metrics[metric], other.metrics[metric]]
  return (value - expected) / Math.max(Math.abs(expected), 1)
}

type Trained = Awaited<ReturnType<typeof trained>>

const compared = [
  "policy_loss",
  "grad_norm",
  "entropy",
  "num_trainable_tokens",
  "num_datums",
  "trajectories_untrainable",
]

test(
  "the gradient and the mismatch are those of the trajectories that the client captured",
  { timeout: 240_000 },
  async () => {
    const seeds = [1, 2, 3, 4]
    const captured = []
    for (const seed of seeds) captured.push(await rollout(seed))
    const own = await trained(
      captured.map((exchanges, place) => ({ exchanges, reward: place / 4 })),
      1,
    )
    // Without step 1, the next job starts from step 0, too.
    expect((await opened.acme.delete(`/v1/preview/models/${modelId}/checkpoints`, { steps: [1] })).status).toBe(200)

    for (const [place, seed] of seeds.entries()) {
      const { status } = await opened.acme.post(`/v1/rollouts/r${seed}/reward`, { reward: place / 4, key: "late" })
      expect(status).toBe(200)
    }
    const trajectories: object[] = []
    for (const seed of seeds) {
      const { status, body } = await opened.acme.get(`/v1/rollouts/r${seed}/trajectory`)
      expect(status).toBe(200)
      trajectories.push(body as object)
    }
    const late = await trained(trajectories, 2)

    expect(own.metrics["grad_norm"]).toBeGreaterThan(0)
    for (const metric of compared) expect([metric, apart(late, own, metric)]).toEqual([metric, expect.closeTo(0, 6)])
    const mismatch = Object.keys(own.metrics).filter((name) => name.startsWith("mismatch"))
    expect(mismatch.length).toBeGreaterThan(0)
    for (const name of mismatch) expect([name, apart(late, own, name)]).toEqual([name, expect.closeTo(0, 6)])
    expect(own.metrics["mismatch_max"]).toBeLessThan(1e-3)

    // The same rollouts in a job that the server makes itself, without a client.
    expect((await opened.acme.delete(`/v1/preview/models/${modelId}/checkpoints`, { steps: [2] })).status).toBe(200)
    const inside = await endedJob(
      await opened.acme.post("/v1/preview/training-jobs/from-source", {
        model_id: modelId,
        source: { kind: "rollouts", project_id: "acme/tests", group: "3+4" },
        target: { kind: "rl", reward: [{ field: "rollout.reward" }] },
        experimental_config: { learning_rate: 1e-3 },
      }),
      3,
    )
    for (const metric of [...compared, ...mismatch]) {
      expect([metric, apart(inside, own, metric)]).toEqual([metric, expect.closeTo(0, 6)])
    }
    const tokensOf = ({ lines }: Trained) =>
      lines.map(({ reward, captured: calls }) => [
        reward,
        calls?.generations.map((one) => ({ ...one, model: null, place: null })),
      ])
    expect(tokensOf(inside)).toEqual(tokensOf(own))
  },
)

test("turns of every protocol are gathered in order, each with the turn whose tokens its prompt begins with", async () => {
  const turns = await turnsOf(opened.acme, "r1")
  expect(turns.map(({ protocol }) => protocol)).toEqual([
    "chat_completions",
    "chat_completions",
    "messages",
    "responses",
    "completions",
  ])
  const sampled = turns.map(({ prompt_token_ids: prompt = [], choices }) => [
    ...prompt,
    ...(choices?.[0]?.token_ids ?? []),
  ])
  const goesOnFrom = ({ prompt_token_ids: prompt = [] }: Turn) =>
    sampled.findIndex((ids) => ids.length <= prompt.length && ids.every((id, place) => id === prompt[place]))
  expect(turns.map((turn) => turns.findIndex(({ id }) => id === turn.extends))).toEqual(turns.map(goesOnFrom))
  const { project_id } = await opened.app.stores.catalog
    .selectFrom("models")
    .select("project_id")
    .where("id", "=", modelId)
    .executeTakeFirstOrThrow()
  const { catalog } = opened.app.stores
  const named = async (id: string) =>
    (await Array.fromAsync(rolloutsOf(catalog, project_id, { rolloutIds: [id] }))).flat()
  const [record] = await named("r1")
  if (record === undefined) throw new Error("r1 is not found")
  expect(record.rolloutId).toBe("r1")
  expect(issuesOf(record)).toEqual([])
  const found = await trajectoryOf(catalog, record)
  expect(found).toMatchObject({ reward: 0, untrainable: null })
  const tokens = found.captured.generations.reduce((sum, { token_ids: ids }) => sum + (ids?.length ?? 0), 0)
  expect(tokens).toBe(turns.reduce((sum, turn) => sum + turn.completion_tokens, 0))
  expect(found.turns[1]?.messages).toHaveLength(3)
  expect(await named("none")).toEqual([])
  expect(await read(opened.acme, "r1")).toMatchObject({ turns: 5, group: "3+4", issues: [] })
})
