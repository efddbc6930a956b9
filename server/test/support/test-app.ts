/** Opens the whole server in a folder of its own, with two tenants that share nothing, and callers for them. */
import { rmSync } from "node:fs"
import { mkdtemp } from "node:fs/promises"
import { tmpdir } from "node:os"
import path from "node:path"
import { type App, createApp } from "../../src/app.ts"
import type { Config } from "../../src/config.ts"
import { engineEnvironment } from "../../src/engine-environment.ts"
import { defaultLimits } from "../../src/limits.ts"
import { SupervisedEngine } from "../../src/engines/engine-process.ts"
import type { FakeEngine } from "../../src/engines/fake-engine.ts"
import { adminKey } from "./admin-key.ts"
import { copyCatalogTemplate } from "./catalog-template.ts"
import { newClickHouseUrl } from "./clickhouse-database.ts"
import { newPostgresUrl } from "./postgres-database.ts"

export { adminKey }

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

export interface TestApp {
  /** The app that runs now; `restart` replaces it. */
  readonly app: App
  config: Config
  admin: Caller
  acme: Caller
  rival: Caller
  /** Closes the server and starts it again on the same data. */
  restart: (drainMs?: number) => Promise<void>
  /** Closes the server and removes its data. */
  close: () => Promise<void>
}

const silent = { info: () => undefined, warn: () => undefined, error: () => undefined }

/** Opens the server with the engine `fake`, or without it with the engine of the settings. */
export async function openTestApp(changes: Partial<Config> = {}, fake?: FakeEngine): Promise<TestApp> {
  const dataDir = await mkdtemp(path.join(tmpdir(), "heddle-test-"))
  const config: Config = { ...testConfig(dataDir), postgresUrl: await newPostgresUrl(), ...changes }
  if (config.postgresUrl === null) await copyCatalogTemplate(dataDir)
  const start = () =>
    createApp(config, fake && new SupervisedEngine({ launch: fake.launch, log: silent, backOffMs: () => 0 }))
  let app = await start()
  const current = () => app
  const admin = callerOf(current, adminKey, config.entity)
  return {
    get app() {
      return app
    },
    config,
    admin,
    acme: await addTenant(current, admin, "acme"),
    rival: await addTenant(current, admin, "rival"),
    restart: async (drainMs) => {
      await app.close(drainMs)
      app = await start()
    },
    close: async () => {
      await app.close()
      // It holds a thousand files, which the thread pool takes four times as long for.
      rmSync(dataDir, { recursive: true, force: true })
    },
  }
}

export function testConfig(dataDir: string): Config {
  return {
    host: "127.0.0.1",
    port: 0,
    dataDir,
    backupDir: path.join(dataDir, "backups"),
    prefix: null,
    logsRequests: false,
    adminKey,
    entity: "local",
    postgresUrl: null,
    catalogTemplate: null,
    clickhouseUrl: newClickHouseUrl(),
    pricesFile: null,
    secretsFile: null,
    engine: "none",
    python: "python3",
    engineEnvironment: engineEnvironment(process.env),
    sampler: { sampler: "heddle", vllm_python: null, vllm_lora_rank: null },
    engineMemory: { kv_bytes: null, cache_bytes: null, adapter_bytes: null, unload_idle_s: null },
    engineTrainers: 1,
    engineDtype: "auto",
    logLevel: "silent",
    metricsAreOpen: false,
    maximumBodyBytes: 1024 ** 3,
    fetchAllow: [],
    baseModels: [],
    trustedProxies: [],
    pagesDir: path.join(dataDir, "pages"),
    limits: defaultLimits,
  }
}

export function callerOf(app: () => App, key: string, entity: string): Caller {
  const call = async (method: "GET" | "POST" | "DELETE", url: string, body?: unknown): Promise<Answer> => {
    const headers: Record<string, string> = { authorization: `Bearer ${key}`, "content-type": "application/json" }
    const payload = body === undefined ? {} : { payload: typeof body === "string" ? body : JSON.stringify(body) }
    const answer = await app().server.inject({ method, url, headers, ...payload })
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

export async function addTenant(app: () => App, admin: Caller, username: string): Promise<Caller> {
  const user = await admin.post("/v1/organization/users", { username })
  if (user.status !== 200) throw new Error(`no tenant: ${JSON.stringify(user.body)}`)
  const key = await admin.post("/v1/organization/api_keys", { name: "tests", username })
  return callerOf(app, (key.body as { value: string }).value, username)
}
