/** What others leave of the choices that all users together may have in progress (inference-api 11.4 rule 7). */
import { afterAll, afterEach, beforeAll, expect, test } from "vitest"
import { FakeEngine } from "../../src/engines/fake-engine.ts"
import { defaultLimits } from "../../src/limits.ts"
import { type InferenceApp, openInferenceApp } from "../support/inference-app.ts"
import { chat } from "../support/inference-client.ts"

const engine = new FakeEngine()
let app: InferenceApp
beforeAll(async () => {
  app = await openInferenceApp(engine, { limits: { ...defaultLimits, chat_choices_total: 100 } })
})
const answer = engine.handlers.chat
afterEach(() => {
  if (answer !== undefined) engine.handlers.chat = answer
})
afterAll(() => app.close())

test("inference-api 11.4: whoever has no choices in progress finds room, also when others took all they may", async () => {
  const model = "heddle/tiny"
  const gate = Promise.withResolvers<void>()
  let sampling = 0
  engine.handlers.chat = async (params, each) => {
    sampling += 1
    await gate.promise
    return answer?.(params, each)
  }
  const running: ReturnType<typeof chat>[] = []
  const ask = (key: string, n: number) => chat(app, { model, n, max_tokens: 1 }, { key })
  const enter = async (key: string, n: number) => {
    running.push(ask(key, n))
    await expect.poll(() => sampling).toBe(running.length)
  }
  const refusal = async (key: string, n: number) => {
    const { status, json } = await ask(key, n)
    return [status, json.error.message]
  }
  // Four fifths of 100 are the team's, four fifths of those the user's.
  await enter("acme", 32)
  await enter("acme", 32)
  expect(await refusal("acme", 1)).toEqual([
    503,
    "this server has 64 of 100 choices in progress, and leaves 0 more to you",
  ])
  // Of the team's 80, the first user leaves 16.
  expect(await refusal("colleague", 14)).toEqual([
    503,
    "this server has 64 of 100 choices in progress, and leaves 13 more to you, " +
      "and this one counts for its 14 choices: try again later, or with fewer",
  ])
  await enter("colleague", 13)
  // The first team leaves 23.
  expect((await refusal("rival", 17))[0]).toBe(503)
  await enter("rival", 16)
  // The first team has more than its share by now; seven choices are left in all.
  expect((await refusal("newcomer", 7))[0]).toBe(503)
  await enter("newcomer", 6)
  expect((await refusal("newcomer", 1))[0]).toBe(503)
  gate.resolve()
  expect((await Promise.all(running)).map(({ status }) => status)).toEqual([200, 200, 200, 200, 200])
})
