/**
 * Law 7 with the real server and engine, one of which is killed at random moments of a job on the shipped model. The
 * client's poll never hangs, the job ends, and its adapter equals that of an uninterrupted run, bit for bit.
 * `HEDDLE_KILL_POINTS` sets the number of kills.
 */
import { createHash } from "node:crypto"
import { once } from "node:events"
import { mkdtemp, readFile, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import path from "node:path"
import { afterAll, beforeAll, expect, test } from "vitest"
import { adminKey } from "../support/test-app.ts"
import { call, childrenOf, newStores, type RunningServer, startServer } from "../support/server-process.ts"

const points = Number(process.env["HEDDLE_KILL_POINTS"] ?? "2")
const pollMs = 250
/** A poll that takes longer is a failure; a restart and a whole job take far less, even on a slow machine. */
const patienceMs = 240_000

let dataDir: string
let stores: NodeJS.ProcessEnv
let server: RunningServer
beforeAll(async () => {
  dataDir = await mkdtemp(path.join(tmpdir(), "heddle-faults-"))
  stores = await newStores(dataDir)
  server = await start()
})
afterAll(async () => {
  server.process.kill("SIGTERM")
  await once(server.process, "exit")
  await rm(dataDir, { recursive: true, force: true })
})

const start = () => startServer(dataDir, { HEDDLE_LOG: "fatal", ...stores })

/** Sixteen groups of four trajectories, which give more than twenty gradient steps in rows of 256 tokens. */
function trajectoryGroups() {
  return Array.from({ length: 16 }, (_, group) => ({
    trajectories: Array.from({ length: 4 }, (__, index) => trajectory(group, index)),
  }))
}

function trajectory(group: number, index: number) {
  const prompt = Array.from({ length: 24 }, (_, place) => 10 + ((group * 31 + place * 7) % 480))
  const ids = Array.from({ length: 96 }, (_, place) => 10 + ((group * 17 + index * 101 + place * 13) % 480))
  const choice = {
    finish_reason: "stop",
    index: 0,
    message: { role: "assistant", content: "x" },
    logprobs: { content: ids.map((id) => ({ token: `token_id:${id}`, logprob: -6, top_logprobs: [] })) },
    token_ids: ids,
    prompt_token_ids: prompt,
  }
  return { messages_and_choices: [{ role: "user", content: "q" }, choice], reward: (index * 7 + group) % 4 }
}

interface JobEvents {
  data: { type: string; data: Record<string, unknown> }[]
}

async function submit(name: string): Promise<{ model: string; job: string }> {
  const model = { project: "faults", name, base_model: "heddle/tiny" }
  const { id } = (await call(server, "POST", "/v1/preview/models", model)).body as { id: string }
  const experimental_config = { learning_rate: 1e-3, packed_sequence_length: 256, logprob_calculation_chunk_size: 256 }
  const body = { model_id: id, trajectory_groups: trajectoryGroups(), experimental_config }
  const job = await call(server, "POST", "/v1/preview/training-jobs", body)
  expect(job).toMatchObject({ status: 200 })
  return { model: id, job: (job.body as { id: string }).id }
}

/** Polls as a client does, over restarts, until the job's last event; returns the adapter's SHA-256. */
async function outcome({ model, job }: { model: string; job: string }): Promise<string> {
  const end = Date.now() + patienceMs
  for (;;) {
    const events = await readEvents(job).catch(() => [])
    const last = events.at(-1)
    if (last?.type === "training_ended") {
      const steps = events.slice(1, -1)
      expect(events[0]).toMatchObject({ type: "training_started", data: { num_sequences: steps.length } })
      expect(steps.length).toBeGreaterThan(20)
      expect(new Set(steps.map((step) => step.type))).toEqual(new Set(["gradient_step"]))
      break
    }
    expect(last?.type).not.toBe("training_failed")
    if (Date.now() > end) throw new Error(`job ${job} did not end; its last event: ${JSON.stringify(last)}`)
    await new Promise((resolve) => setTimeout(resolve, pollMs))
  }
  const file = path.join(dataDir, "checkpoints", model, "step_000001", "adapter_model.safetensors")
  return createHash("sha256")
    .update(await readFile(file))
    .digest("hex")
}

async function readEvents(job: string): Promise<JobEvents["data"]> {
  const answer = await call(server, "GET", `/v1/preview/training-jobs/${job}/events?limit=100`)
  expect(answer.status).toBe(200)
  return (answer.body as JobEvents).data
}

async function kill(what: "engine" | "server"): Promise<void> {
  if (what === "engine") {
    for (const pid of await childrenOf(server)) process.kill(pid, "SIGKILL")
    return
  }
  server.process.kill("SIGKILL")
  await once(server.process, "exit")
  server = await start()
}

test(
  `kill -9 of the engine and of the server, ${points} times: every job ends with the same adapter`,
  { timeout: patienceMs * (points + 1) },
  async () => {
    await outcome(await submit("warm-up"))
    const began = Date.now()
    const expected = await outcome(await submit("uninterrupted"))
    const jobMs = Date.now() - began
    for (let point = 0; point < points; point++) {
      const running = await submit(`killed-${point}`)
      await new Promise((resolve) => setTimeout(resolve, Math.random() * jobMs))
      await kill(point % 2 === 0 ? "engine" : "server")
      expect(await outcome(running)).toBe(expected)
    }
    const chat = { model: "wandb-artifact:///local/faults/killed-0:step1", messages: [{ role: "user", content: "q" }] }
    expect((await call(server, "POST", "/v1/chat/completions", { ...chat, max_tokens: 2 })).status).toBe(200)
  },
)

test("kill -9 of the server while a chat streams: its tokens are in the usage ledger after the next start", async () => {
  // Tokens of another model's chats may reach the ledger later than their answers.
  const base = "heddle/tiny"
  const noted = path.join(dataDir, "usage-in-progress.jsonl")
  const tokensNoted = async () => {
    const text = await readFile(noted, "utf8").catch(() => "")
    const rows = text
      .split("\n")
      .filter(Boolean)
      .map((line) => JSON.parse(line) as { model: string; output_tokens: number })
      .filter(({ model }) => model === base)
    return rows.reduce((sum, row) => sum + row.output_tokens, 0)
  }
  const chat = fetch(`${server.url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${adminKey}`, "content-type": "application/json" },
    body: JSON.stringify({
      model: base,
      messages: [{ role: "user", content: "4+5=" }],
      stream: true,
      n: 64,
      max_tokens: 400,
      ignore_eos: true,
    }),
  }).then((answer) => answer.text())
  chat.catch(() => undefined)
  await expect.poll(tokensNoted, { timeout: 60_000, interval: 20 }).toBeGreaterThan(0)
  const killed = once(server.process, "exit")
  server.process.kill("SIGKILL")
  await killed
  await expect(chat).rejects.toThrow()
  const sampled = await tokensNoted()
  expect(sampled).toBeGreaterThan(0)
  server = await start()
  expect(await usedTokens(base)).toBe(sampled)
  // The table of chats in progress is empty again, too.
  expect(await tokensNoted()).toBe(0)
})

async function usedTokens(model: string): Promise<number> {
  const start_time = Math.floor(Date.now() / 1000) - 3_600
  const answer = await call(
    server,
    "GET",
    `/v1/organization/usage/completions?start_time=${start_time}&bucket_width=1h&models=${model}`,
  )
  expect(answer).toMatchObject({ status: 200 })
  const { data } = answer.body as { data: { results: { output_tokens: number }[] }[] }
  return data.flatMap(({ results }) => results).reduce((sum, { output_tokens }) => sum + output_tokens, 0)
}
