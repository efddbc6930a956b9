/** Sends chat requests in memory, and reads the rows of a stream. */
import type { InferenceApp } from "./inference-app.ts"

export interface Answer {
  status: number
  headers: Record<string, unknown>
  // oxlint-disable-next-line typescript/no-explicit-any -- tests read whatever came and compare it with literals
  json: any
  text: string
}

export async function call(
  app: InferenceApp,
  method: "GET" | "POST" | "DELETE",
  url: string,
  { body, key = "acme", headers = {} }: { body?: unknown; key?: string; headers?: Record<string, string> } = {},
): Promise<Answer> {
  const response = await app.server.inject({
    method,
    url,
    headers: {
      authorization: `Bearer ${key}`,
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      ...headers,
    },
    ...(body === undefined ? {} : { payload: JSON.stringify(body) }),
  })
  const json = String(response.headers["content-type"]).includes("json") ? response.json() : null
  return { status: response.statusCode, headers: response.headers, json, text: response.body }
}

export const userTurn = [{ role: "user", content: "hi" }]

export function chat(
  app: InferenceApp,
  fields: object,
  more: { key?: string; headers?: Record<string, string> } = {},
): Promise<Answer> {
  return call(app, "POST", "/v1/chat/completions", {
    body: { messages: userTurn, ...fields },
    ...more,
  })
}

/** The `data:` payloads of a stream; `[DONE]` stays a string. */
// oxlint-disable-next-line typescript/no-explicit-any -- see Answer
export function dataOf(text: string): any[] {
  return text
    .split("\n\n")
    .filter((event) => event.startsWith("data: "))
    .map((event) => event.slice("data: ".length))
    .map((data) => (data === "[DONE]" ? data : JSON.parse(data)))
}
