/** A server that stops cuts off answers that take too long, and counts the tokens that they had. */
import { expect, test } from "vitest"
import { fakeTokens, untilCancelled } from "../../src/engines/fake-engine.ts"
import { openExecutionApp } from "../support/execution-app.ts"

test("a server that stops cuts off an answer that takes too long, and stores its usage row before it ends", async () => {
  const opened = await openExecutionApp()
  try {
    const begun = Promise.withResolvers<void>()
    opened.fake.handlers.chat = async (_params, each) => {
      each.emit("start", { prompt_token_ids: [1, 2, 3, 4, 5], cached_tokens: 2 })
      each.emit("delta", { index: 0, content: "x", reasoning: "", tool_calls: [], tokens: fakeTokens(4) })
      begun.resolve()
      return untilCancelled(each)
    }
    const url = await opened.app.server.listen({ port: 0, host: "127.0.0.1" })
    const answer = await fetch(`${url}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${opened.acme.key}`, "content-type": "application/json" },
      body: JSON.stringify({ model: "heddle/tiny", messages: [{ role: "user", content: "x" }], stream: true }),
    })
    const broken = expect(answer.text()).rejects.toThrow("terminated")
    await begun.promise
    await opened.restart(100)
    await broken
    const since = Math.floor(Date.now() / 1000) - 3600
    const page = await opened.acme.get(`/v1/organization/usage/completions?start_time=${since}&bucket_width=1h`)
    const { data } = page.body as { data: { results: object[] }[] }
    expect(data.flatMap(({ results }) => results)).toMatchObject([
      { input_tokens: 5, input_cached_tokens: 2, output_tokens: 4, num_model_requests: 1 },
    ])
  } finally {
    await opened.close()
  }
})
