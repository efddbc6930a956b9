/** Error classes of the npm openai client, their fields, and how often the client repeats a request. */
import OpenAI, { APIError } from "openai"
import { expect, test } from "vitest"
import { asked, openai } from "./client.ts"
import { covers } from "./covers.ts"

/** Sends a chat request that must fail; returns the error and how many requests were made. */
async function failure(body: object, apiKey?: string): Promise<{ error: APIError; requests: number }> {
  let requests = 0
  const client = openai({ ...(apiKey && { apiKey }), onRequest: () => requests++ })
  try {
    await client.chat.completions.create({ ...asked, ...body })
  } catch (error) {
    if (error instanceof APIError) return { error, requests }
    throw error
  }
  throw new Error("the request was accepted")
}

test.each(["nobody/none", "wandb-artifact:///local/compat/none", "wandb-artifact:///local/compat/none:step3"])(
  `${covers("error-unknown-model", "retry-never")} %s is not found`,
  async (model) => {
    const { error, requests } = await failure({ model })
    expect(error).toBeInstanceOf(OpenAI.NotFoundError)
    expect(error.code).toBe("model_not_found")
    expect(error.message).toContain(model)
    expect(error.requestID).toBeTruthy()
    expect(requests).toBe(1)
  },
)

test(`${covers("error-wrong-key")} a wrong key is an authentication error`, async () => {
  const { error, requests } = await failure({}, "x".repeat(48))
  expect(error).toBeInstanceOf(OpenAI.AuthenticationError)
  expect(requests).toBe(1)
})

test(`${covers("error-context-length", "retry-never")} a prompt beyond the context is a bad request`, async () => {
  const { error, requests } = await failure({ messages: [{ role: "user", content: "1 + 1 ".repeat(4000) }] })
  expect(error).toBeInstanceOf(OpenAI.BadRequestError)
  expect(error.code).toBe("context_length_exceeded")
  expect(requests).toBe(1)
})

test(`${covers("error-validation", "retry-never")} a field of a wrong type is named`, async () => {
  const { error, requests } = await failure({ temperature: "hot" })
  expect([400, 422]).toContain(error.status)
  expect(error.message).toContain("temperature")
  expect(requests).toBe(1)
})
