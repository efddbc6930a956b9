/** Opens the whole server in a folder of its own, with callers of the evaluation store. */
import { randomUUID } from "node:crypto"
import type { App } from "../../src/app.ts"
import type { Config } from "../../src/config.ts"
import type { FakeEngine } from "../../src/engines/fake-engine.ts"
import { addTenant, type Caller, openTestApp, type TestApp } from "./test-app.ts"

export interface EvaluationAnswer {
  status: number
  /** The parsed body; undefined when it is not one JSON document. */
  body: unknown
  /** The body's text, in which numbers have their spelling, and JSON Lines their escapes. */
  text: string
  headers: Record<string, unknown>
}

export interface EvaluationCaller {
  entity: string
  key: string
  /** A project of the caller that no other test uses; it does not exist before the first write. */
  newProject: () => string
  get: (url: string) => Promise<EvaluationAnswer>
  /** A string or Buffer is sent as it is, anything else as JSON. */
  post: (url: string, body?: unknown, headers?: Record<string, string>) => Promise<EvaluationAnswer>
  put: (url: string, body?: unknown) => Promise<EvaluationAnswer>
  delete: (url: string, body?: unknown) => Promise<EvaluationAnswer>
  /** Posts, and returns the items of the JSON Lines answer. Throws when the status is not 200. */
  lines: (url: string, body?: unknown) => Promise<unknown[]>
}

export interface EvaluationApp extends Omit<TestApp, "acme" | "rival"> {
  acme: EvaluationCaller
  rival: EvaluationCaller
  /** Adds a new user who is also a member of the team `acme`. */
  addColleague: (username: string) => Promise<EvaluationCaller>
}

export async function openEvaluationApp(changes: Partial<Config> = {}, fake?: FakeEngine): Promise<EvaluationApp> {
  const opened = await openTestApp(changes, fake)
  const { admin, config, restart, close } = opened
  const current = () => opened.app
  return {
    get app() {
      return opened.app
    },
    config,
    admin,
    acme: evaluationCaller(current, opened.acme),
    rival: evaluationCaller(current, opened.rival),
    addColleague: async (username) => {
      const { key } = await addTenant(current, admin, username)
      const joined = await admin.post("/v1/organization/teams/acme/members", { username })
      if (joined.status !== 200) throw new Error(`not a member: ${JSON.stringify(joined.body)}`)
      return evaluationCaller(current, { ...opened.acme, key })
    },
    restart,
    close,
  }
}

export function evaluationCaller(app: () => App, { key, entity }: Pick<Caller, "key" | "entity">): EvaluationCaller {
  const authorization = `Basic ${Buffer.from(`api:${key}`).toString("base64")}`
  type Method = "GET" | "POST" | "PUT" | "DELETE"
  const call = async (method: Method, url: string, body?: unknown, headers: Record<string, string> = {}) => {
    const answer = await app().server.inject({
      method,
      url,
      headers: { authorization, "content-type": "application/json", ...headers },
      ...(body === undefined ? {} : { payload: asSent(body) }),
    })
    const text = answer.payload
    return { status: answer.statusCode, body: parsed(text), text, headers: { ...answer.headers } }
  }
  return {
    entity,
    key,
    newProject: () => `${entity}/p-${randomUUID().slice(0, 8)}`,
    get: (url) => call("GET", url),
    post: (url, body, headers) => call("POST", url, body, headers),
    put: (url, body) => call("PUT", url, body),
    delete: (url, body) => call("DELETE", url, body),
    lines: async (url, body) => {
      const { status, text } = await call("POST", url, body)
      if (status !== 200) throw new Error(`POST ${url}: ${status} ${text}`)
      return text.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line) as unknown]))
    },
  }
}

function asSent(body: unknown): string | Buffer {
  return typeof body === "string" || Buffer.isBuffer(body) ? body : JSON.stringify(body)
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
