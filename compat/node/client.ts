/** A client and requests that the suites share. */
import OpenAI from "openai"
import { inject } from "vitest"

export const asked = {
  model: "heddle/tiny",
  messages: [{ role: "user", content: "3 + 4 = ?" }],
  max_completion_tokens: 16,
  temperature: 1,
  seed: 7,
} satisfies OpenAI.ChatCompletionCreateParamsNonStreaming

export const weatherTool: OpenAI.ChatCompletionFunctionTool = {
  type: "function",
  function: {
    name: "get_weather",
    description: "Current weather of a city",
    parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
  },
}

/** A client of the started server; `onRequest` sees each request that leaves it. */
export function openai(options: { apiKey?: string; onRequest?: () => void } = {}): OpenAI {
  const { url, key } = inject("server")
  return new OpenAI({
    baseURL: `${url}/v1`,
    apiKey: options.apiKey ?? key,
    fetch: (...request) => {
      options.onRequest?.()
      return fetch(...request)
    },
  })
}

/** Registers a model on the shipped base model and returns its artifact name. */
export async function registeredModel(name: string): Promise<string> {
  const { url, key } = inject("server")
  const answer = await fetch(`${url}/v1/preview/models`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({ project: "compat", name, base_model: "heddle/tiny", return_existing: true }),
  })
  if (!answer.ok) throw new Error(`${answer.status} ${await answer.text()}`)
  const model = (await answer.json()) as { entity: string }
  return `wandb-artifact:///${model.entity}/compat/${name}`
}
