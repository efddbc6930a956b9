/** Law 3 with the real engine: numbers in a client's JSON reach the prompt as they were written. */
import { once } from "node:events"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import path from "node:path"
import { afterAll, beforeAll, expect, test } from "vitest"
import { copyCatalogTemplate } from "../support/catalog-template.ts"
import { call, type RunningServer, startServer } from "../support/server-process.ts"
import { adminKey } from "../support/test-app.ts"

let dataDir: string
let server: RunningServer
beforeAll(async () => {
  dataDir = await mkdtemp(path.join(tmpdir(), "heddle-exact-"))
  await copyCatalogTemplate(dataDir)
  server = await startServer(dataDir, { HEDDLE_LOG: "fatal" })
})
afterAll(async () => {
  server.process.kill("SIGTERM")
  await once(server.process, "exit")
  await rm(dataDir, { recursive: true, force: true })
})

const exactTools = `[{"type":"function","function":{"name":"f","parameters":{"minimum":1.0,"maximum":9007199254740993}}}]`
/** The same tools after a round trip through JSON.parse, which changes their numbers. */
const changedTools = JSON.stringify(JSON.parse(exactTools))

interface Completion {
  choices: { message: object; token_ids?: number[]; prompt_token_ids?: number[]; heddle_ledger_key?: string }[]
}

/** Posts `body` as text, because JSON.stringify of an object would change the spelling of its numbers. */
async function post<T>(url: string, body: string): Promise<T> {
  const headers = { authorization: `Bearer ${adminKey}`, "content-type": "application/json" }
  const answer = await fetch(server.url + url, { method: "POST", headers, body })
  expect([answer.status, url]).toEqual([200, url])
  return (await answer.json()) as T
}

test("a prompt shows the numbers of its tools as the client wrote them", async () => {
  const messages = `[{"role":"user","content":"hi"}]`
  const { tokens } = await post<{ tokens: number[] }>(
    "/tokenize",
    `{"model":"heddle/tiny","messages":${messages},"tools":${exactTools}}`,
  )
  const { prompt } = await post<{ prompt: string }>("/detokenize", JSON.stringify({ model: "heddle/tiny", tokens }))
  expect(prompt).toContain(`"minimum": 1.0, "maximum": 9007199254740993`)
})

test("seeds past 2^53 differ from their neighbours", async () => {
  const sample = async (seed: string) => {
    const text = `{"model":"heddle/tiny","prompt":"3 + 4","seed":${seed},"max_tokens":64,"ignore_eos":true}`
    return (await post<Completion>("/v1/completions", text)).choices[0]?.token_ids ?? []
  }
  const first = await sample("9007199254740992")
  expect(await sample("9007199254740992")).toEqual(first)
  expect(await sample("9007199254740993")).not.toEqual(first)
})

const turn = (content: string) => ({ role: "user", content })

/** Samples one turn whose ids are only in the tokens of its logprobs, so that training renders the prompt itself. */
async function sampleTurn(model: string, messages: object[], seed: number) {
  const fields = { model, seed, max_tokens: 6, logprobs: true, return_tokens_as_token_ids: true, ignore_eos: true }
  const text = JSON.stringify({ ...fields, messages }).replace(/}$/, `,"tools":${exactTools}}`)
  const [sampled] = (await post<Completion>("/v1/chat/completions", text)).choices
  if (sampled === undefined) throw new Error("no choice")
  const { token_ids: _, prompt_token_ids: __, heddle_ledger_key: ledgerKey, ...choice } = sampled
  return { choice, ledgerKey }
}

/** Trains on these histories; returns the RMS difference of sampled and trained log-probabilities, in nats. */
async function mismatchOf(modelId: string, histories: object[][], tools: string): Promise<number> {
  const trajectories = histories.map((messages_and_choices, index) => ({
    messages_and_choices,
    reward: index,
    tools: "?",
  }))
  const body = JSON.stringify({ model_id: modelId, trajectory_groups: [{ trajectories }] })
  const job = await post<{ id: string }>("/v1/preview/training-jobs", body.replaceAll(`"?"`, tools))
  const read = async () => (await call(server, "GET", `/v1/preview/training-jobs/${job.id}`)).body as { status: string }
  await expect.poll(async () => (await read()).status, { timeout: 60_000, interval: 50 }).not.toMatch(/QUEUED|RUNNING/i)
  const events = await call(server, "GET", `/v1/preview/training-jobs/${job.id}/events`)
  const steps = (events.body as { data: { type: string; data: Record<string, number> }[] }).data
  const found = steps.find((event) => event.type === "gradient_step")?.data["mismatch_rms"]
  if (found === undefined) throw new Error(`no gradient step: ${JSON.stringify(steps)}`)
  return found
}

test("training renders the prompt that was sampled from, whether the token ledger fills in or not", async () => {
  const make = async (name: string) => {
    const body = JSON.stringify({ project: "p", name, base_model: "heddle/tiny" })
    return (await post<{ id: string }>("/v1/preview/models", body)).id
  }
  const model = "wandb-artifact:///local/p/exact"
  const modelId = await make("exact")
  const ask = turn("3 + 4 = ?")
  const { choice: lone } = await sampleTurn(model, [ask], 1)
  const { choice: first, ledgerKey } = await sampleTurn(model, [ask], 2)
  const again = turn("and 5 + 6?")
  const { choice: second } = await sampleTurn(model, [ask, first.message, again], 3)
  const histories = [
    [ask, lone],
    [ask, { ...first, heddle_ledger_key: ledgerKey }, again, second],
  ]
  expect(await mismatchOf(modelId, histories, exactTools)).toBeLessThan(1e-4)
  expect(await mismatchOf(await make("control"), histories, changedTools)).toBeGreaterThan(1e-2)
})
