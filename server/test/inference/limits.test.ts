/** Limits on the choices and tokens that one user may have in progress (inference-api 11.4 rule 7). */
import { afterAll, beforeAll, expect, test } from "vitest"
import { FakeEngine } from "../../src/engines/fake-engine.ts"
import { defaultLimits } from "../../src/limits.ts"
import { type InferenceApp, openInferenceApp } from "../support/inference-app.ts"
import { chat } from "../support/inference-client.ts"

const engine = new FakeEngine()
let own: InferenceApp
beforeAll(async () => {
  own = await openInferenceApp(engine, {
    limits: { ...defaultLimits, chat_choices_per_user: 60, chat_tokens_per_user: 10_000 },
  })
})
afterAll(() => own.close())

test.each([
  ["choices", { n: 30, max_tokens: 1 }, { n: 31, max_tokens: 1 }, "60", "31 choices"],
  ["tokens", { n: 2, max_tokens: 4_000 }, { max_tokens: 2_001 }, "10000", "2001 tokens"],
  ["tokens", { max_tokens: 5_905 }, {}, "10000", "4096 tokens"],
])(
  "inference-api 11.4: beyond the limit of %s, a user is refused with 429 and the way out, and another is not",
  async (...row) => {
    const [what, body, more, limit, count] = row
    const model = "heddle/tiny"
    const gate = Promise.withResolvers<void>()
    const before = engine.handlers.chat
    let sampling = 0
    engine.handlers.chat = async (params, each) => {
      sampling += 1
      await gate.promise
      return before?.(params, each)
    }
    const running = [chat(own, { model, ...body })]
    await expect.poll(() => sampling).toBe(1)
    const refused = await chat(own, { model, ...more })
    expect([refused.status, refused.headers["retry-after-ms"], refused.json.error.message]).toEqual([
      429,
      "1000",
      `Concurrency limit reached for ${what}: ${limit} at a time per user, ` +
        `and this one counts for its ${count}: try again later, or with fewer`,
    ])
    running.push(chat(own, { model, ...more }, { key: "rival" }))
    await expect.poll(() => sampling).toBe(2)
    gate.resolve()
    expect((await Promise.all(running)).map(({ status }) => status)).toEqual([200, 200])
    expect((await chat(own, { model, ...more })).status).toBe(200)
    if (before !== undefined) engine.handlers.chat = before
  },
)

test("the tokens in progress are counted to the last, however many a request asked for", async () => {
  const model = "heddle/tiny"
  const [small, immense] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const before = engine.handlers.chat
  engine.handlers.chat = async (params, each) => {
    await (params.sampling.max_tokens === 100 ? small : immense).promise
    return before?.({ ...params, sampling: { max_tokens: 1 } }, each)
  }
  const asked = chat(own, { model, max_tokens: 100 })
  await expect.poll(() => own.gateway.inProgress.tokens).toBe(100)
  const more = chat(own, { model, n: 128, max_tokens: Number.MAX_SAFE_INTEGER }, { key: "rival" })
  await expect.poll(() => own.gateway.inProgress.prompts).toBe(2)
  immense.resolve()
  await more
  await expect.poll(() => own.gateway.inProgress).toEqual({ prompts: 1, choices: 1, tokens: 100 })
  small.resolve()
  await asked
  if (before !== undefined) engine.handlers.chat = before
  await expect.poll(() => own.gateway.inProgress).toEqual({ prompts: 0, choices: 0, tokens: 0 })
})
