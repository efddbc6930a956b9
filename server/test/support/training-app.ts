/** The whole server in a folder of its own, with the fake engine and two tenants that share nothing. */
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import path from "node:path"
import { type App, createApp } from "../../src/app.ts"
import type { Config } from "../../src/config.ts"
import { SupervisedEngine } from "../../src/engines/engine-process.ts"
import { FakeEngine } from "../../src/engines/fake-engine.ts"
import { copyCatalogTemplate } from "./catalog-template.ts"
import { newClickHouseUrl } from "./clickhouse-database.ts"

export const adminKey = "admin_key_of_the_tests_0123456789_0123456789"

export interface Answer {
  status: number
  body: unknown
  headers: Record<string, unknown>
}

export interface Caller {
  entity: string
  key: string
  get: (url: string) => Promise<Answer>
  post: (url: string, body?: unknown) => Promise<Answer>
  delete: (url: string, body?: unknown) => Promise<Answer>
}

export interface TrainingApp {
  app: App
  config: Config
  fake: FakeEngine
  admin: Caller
  acme: Caller
  rival: Caller
  close: () => Promise<void>
}

export async function openTrainingApp(changes: Partial<Config> = {}): Promise<TrainingApp> {
  const dataDir = await mkdtemp(path.join(tmpdir(), "heddle-test-"))
  await copyCatalogTemplate(dataDir)
  const config: Config = { ...testConfig(dataDir), ...changes }
  const fake = new FakeEngine()
  const silent = { info: () => undefined, warn: () => undefined }
  const app = await createApp(config, new SupervisedEngine({ launch: fake.launch, log: silent, backOffMs: () => 0 }))
  const admin = callerOf(app, adminKey, config.entity)
  const acme = await addTenant(app, admin, "acme")
  const rival = await addTenant(app, admin, "rival")
  const close = async () => {
    await app.close()
    await rm(dataDir, { recursive: true, force: true })
  }
  return { app, config, fake, admin, acme, rival, close }
}

export function testConfig(dataDir: string): Config {
  return {
    host: "127.0.0.1",
    port: 0,
    dataDir,
    prefix: null,
    adminKey,
    entity: "local",
    postgresUrl: null,
    catalogTemplate: null,
    clickhouseUrl: newClickHouseUrl(),
    pricesFile: null,
    secretsFile: null,
    engine: "none",
    python: "python3",
    logLevel: "silent",
    maximumBodyBytes: 1024 ** 3,
    fetchAllow: [],
  }
}

export function callerOf(app: App, key: string, entity: string): Caller {
  const call = async (method: "GET" | "POST" | "DELETE", url: string, body?: unknown): Promise<Answer> => {
    const headers: Record<string, string> = { authorization: `Bearer ${key}`, "content-type": "application/json" }
    const payload = body === undefined ? {} : { payload: typeof body === "string" ? body : JSON.stringify(body) }
    const answer = await app.server.inject({ method, url, headers, ...payload })
    const isJson = String(answer.headers["content-type"]).includes("json")
    return { status: answer.statusCode, body: isJson ? answer.json() : answer.payload, headers: answer.headers }
  }
  return {
    entity,
    key,
    get: (url) => call("GET", url),
    post: (url, body) => call("POST", url, body),
    delete: (url, body) => call("DELETE", url, body),
  }
}

export async function addTenant(app: App, admin: Caller, username: string): Promise<Caller> {
  const user = await admin.post("/v1/organization/users", { username })
  if (user.status !== 200) throw new Error(`no tenant: ${JSON.stringify(user.body)}`)
  const key = await admin.post("/v1/organization/api_keys", { name: "tests", username })
  return callerOf(app, (key.body as { value: string }).value, username)
}

let models = 0

/** A model of the shipped base with a name of its own. */
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

/** One group per list of rewards. */
export function groupsOf(...rewards: number[][]) {
  return rewards.map((group) => ({
    trajectories: group.map((reward) => sampledTrajectory(reward)),
    exceptions: [],
    metadata: {},
    metrics: {},
    logs: [],
  }))
}
