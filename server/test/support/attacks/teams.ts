/** Makes teams of one member each through the API, and sends their requests. */
import type { Caller } from "../test-app.ts"
import type { Team } from "./attack.ts"

/** A longer wait counts as no answer. */
const patienceMs = 60_000

export async function askServer(
  url: string,
  key: string,
  method: "GET" | "POST",
  path: string,
  body?: unknown,
): Promise<{ status: number; text: string }> {
  const answer = await fetch(url + path, {
    method,
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    signal: AbortSignal.timeout(patienceMs),
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  return { status: answer.status, text: await answer.text() }
}

/** A caller that can read `GET /metrics` and similar routes. */
export function readerOf(url: string, key: string): Pick<Caller, "get"> {
  return {
    get: async (path) => {
      const { status, text } = await askServer(url, key, "GET", path)
      return { status, body: text, headers: {} }
    },
  }
}

/** Posts a body and returns the parsed answer. @throws {Error} when its status is not 200. */
export async function postWell<T>(url: string, key: string, path: string, body: unknown): Promise<T> {
  const { status, text } = await askServer(url, key, "POST", path, body)
  if (status !== 200) throw new Error(`POST ${path} answered ${status}: ${text.slice(0, 500)}`)
  return JSON.parse(text) as T
}

export async function makeTeam(url: string, adminKey: string, name: string): Promise<Team> {
  await postWell(url, adminKey, "/v1/organization/users", { username: name })
  const named = { name: "attacks", username: name }
  const { value } = await postWell<{ value: string }>(url, adminKey, "/v1/organization/api_keys", named)
  const team = { name, key: value, project: `${name}/attacks` }
  // The first write makes the project.
  await postWell(url, value, "/obj/create", { obj: { project_id: team.project, object_id: "first", val: 1 } })
  return team
}

/** The team that must not notice the attack. */
export interface OtherTeam {
  /** Sends a light request, to the catalog and the trace store in turn. Resolves with its status. */
  light: () => Promise<number>
  /** Asks for a chat of two tokens. */
  chat: () => Promise<number>
}

export async function settleOtherTeam(url: string, { key, project }: Team): Promise<OtherTeam> {
  const ask = async (method: "GET" | "POST", path: string, body?: unknown) =>
    (await askServer(url, key, method, path, body)).status
  const [, name = ""] = project.split("/")
  const model = { project: name, name: "other", base_model: "heddle/tiny" }
  const { id } = await postWell<{ id: string }>(url, key, "/v1/preview/models", model)
  const start = { project_id: project, op_name: "op", started_at: "2026-01-01T00:00:00Z", attributes: {}, inputs: {} }
  const call = await postWell<{ id: string }>(url, key, "/call/start", { start })
  const read = { project_id: project, id: call.id }
  const chat = { model: "heddle/tiny", messages: [{ role: "user", content: "3 + 4 = ?" }], max_tokens: 2 }
  let turn = 0
  return {
    light: () =>
      turn++ % 2 === 0 ? ask("GET", `/v1/preview/models/${id}/checkpoints`) : ask("POST", "/call/read", read),
    chat: () => ask("POST", "/v1/chat/completions", chat),
  }
}
