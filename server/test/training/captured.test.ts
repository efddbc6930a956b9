/** Rollouts that openpipe-art 0.5.23 captured as HTTP calls become the engine's training data. */
import { readFile } from "node:fs/promises"
import path from "node:path"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { specTrajectory } from "../../src/wire/engine/train.ts"
import { job as jobSchema, storedJobConfig } from "../../src/wire/training/job.ts"
import {
  captured,
  type CapturedCall,
  chatCall,
  completionCall,
  messagesCall,
  responsesCall,
} from "../support/captured-calls.ts"
import { newModel, openTrainingApp, sampledTrajectory, type TrainingApp } from "../support/training-app.ts"

const url = "/v1/preview/training-jobs"
let opened: TrainingApp
let modelId: string
let policy: string
beforeAll(async () => {
  opened = await openTrainingApp()
  const model = await newModel(opened.acme)
  modelId = model.id
  policy = `wandb-artifact:///acme/tests/${model.name}`
})
afterAll(() => opened.close())

const send = (...trajectories: object[]) =>
  opened.acme.post(url, { model_id: modelId, trajectory_groups: [{ trajectories }] })

async function stored(...trajectories: object[]) {
  const { status, body } = await send(...trajectories)
  expect(body).toMatchObject({ id: expect.any(String) })
  expect(status).toBe(200)
  const { id, warnings } = jobSchema.parse(body)
  const row = await opened.app.stores.catalog
    .selectFrom("training_jobs")
    .selectAll()
    .where("id", "=", id)
    .executeTakeFirstOrThrow()
  const text = await readFile(path.join(opened.config.dataDir, row.data_path), "utf8")
  const lines = text.split("\n").filter(Boolean)
  const config = storedJobConfig.parse(row.config)
  return {
    warnings,
    policyNames: config.kind === "rl" ? config.engine.policy_names : undefined,
    lines: lines.map((line) => specTrajectory.parse(JSON.parse(line))),
  }
}

async function generationsOf(...calls: object[]) {
  const { lines } = await stored(captured(1, ...calls))
  return lines[0]?.captured?.generations ?? []
}

async function refusal(trajectory: object) {
  const { status, body } = await send(sampledTrajectory(0), trajectory)
  expect(status).toBe(422)
  const { detail } = body as { detail: { loc: unknown[]; msg: string }[] }
  return detail[0]
}

const choicesOf = ({ exchange }: CapturedCall) => exchange.response["choices"] as [Record<string, unknown>]

const tokens = { prompt_token_ids: [1, 2, 3], token_ids: [41, 42], logprobs: [-0.5, -0.25] }

describe("art-0.5.23 2: bodies", () => {
  test("art-0.5.23 2: fields that equal their default may be absent at every level", async () => {
    const { body, status } = await opened.acme.post(url, {
      model_id: modelId,
      trajectory_groups: [{}, { exceptions: [] }, { trajectories: [{}] }],
    })
    expect(jobSchema.parse(body).warnings).toEqual([])
    expect(status).toBe(200)
    expect((await stored({})).lines).toEqual([
      { group: 0, index: 0, reward: 0, histories: [{ items: [], tools: null }] },
    ])
  })

  test("art-0.5.23 2: metadata of groups and trajectories is any JSON object", async () => {
    const metadata = { env: { seed: 7, path: ["a", { b: null }] } }
    const trajectory = { ...captured(1, chatCall(policy, tokens)), metadata }
    const { status } = await opened.acme.post(url, {
      model_id: modelId,
      trajectory_groups: [{ trajectories: [trajectory], metadata }],
    })
    expect(status).toBe(200)
  })

  test("art-0.5.23 5: exchanges beside choices are refused", async () => {
    const both = { ...sampledTrajectory(1), ...captured(1, chatCall(policy, tokens)) }
    expect(await refusal(both)).toMatchObject({
      loc: ["body", "trajectory_groups", 0, "trajectories", 1, "exchanges"],
      msg: expect.stringContaining("not both"),
    })
  })

  test("empty lists of exchanges beside choices are none", async () => {
    const { lines } = await stored({ ...sampledTrajectory(1), exchanges: { chat_completions: [], completions: null } })
    expect(lines[0]).not.toHaveProperty("captured")
    expect(lines[0]?.histories[0]?.items).toHaveLength(2)
  })

  test("a field of a trajectory that is not known is named in a warning", async () => {
    const { warnings } = await stored({ ...sampledTrajectory(1), segments: [1] }, { segments: [2] }, { other: null })
    expect(warnings).toEqual(['2 trajectories have a field "segments", which is not known here and is not trained'])
  })
})

describe("art-0.5.23 4.2: sampling runs of each kind", () => {
  const expected = { ...tokens, model: expect.any(String), truncated: false }

  test.each([
    ["chat_completions 0, choice 0", chatCall],
    ["completions 0, choice 0", completionCall],
    ["responses 0, generation 0", responsesCall],
    ["messages 0", messagesCall],
  ])("art-0.5.23 4.2: %s gives its ids and log-probabilities", async (place, call) => {
    expect(await generationsOf(call(policy, tokens))).toEqual([{ ...expected, model: policy, place }])
  })

  test("art-0.5.23 4.2: the prompt of the answer serves a choice without one; strings spell ids", async () => {
    const call = chatCall(policy, tokens)
    const [{ prompt_token_ids: _, token_ids: __, ...choice }] = choicesOf(call)
    Object.assign(call.exchange.response, { choices: [choice], prompt_token_ids: [9, 8] })
    expect(await generationsOf(call)).toMatchObject([{ prompt_token_ids: [9, 8], token_ids: [41, 42] }])
  })

  test("art-0.5.23 4.2: an echoed prompt is cut off", async () => {
    const { prompt_token_ids, token_ids } = tokens
    const ids = [...prompt_token_ids, ...token_ids]
    const call = completionCall(policy, { prompt_token_ids, token_ids: ids, logprobs: [null, -3, -2, -0.5, -0.25] })
    Object.assign(call.exchange.request, { echo: true })
    expect(await generationsOf(call)).toMatchObject([tokens])
  })

  test("art-0.5.23 4.2: each of several prompts has its choices", async () => {
    const call = completionCall(policy, tokens)
    const [{ prompt_token_ids: _, ...choice }] = choicesOf(call)
    const choices = [choice, choice, choice, { ...choice, prompt_index: 0 }]
    Object.assign(call.exchange.response, { choices, prompt_token_ids: [[1], [2]] })
    const prompts = (await generationsOf(call)).map((run) => run.prompt_token_ids)
    expect(prompts).toEqual([[1], [1], [2], [1]])
  })

  test("art-0.5.23 6: the short form of token_generations, and an answer that was cut off", async () => {
    const call = responsesCall(policy, tokens)
    const short = { prompt_token_ids: [1], token_ids: [5], compact_logprobs: [-1], output_indices: [0] }
    Object.assign(call.exchange.response, { token_generations: [short], status: "incomplete" })
    expect(await generationsOf(call)).toEqual([
      {
        model: policy,
        place: "responses 0, generation 0",
        prompt_token_ids: [1],
        token_ids: [5],
        logprobs: [-1],
        truncated: true,
      },
    ])
  })

  test("art-0.5.23 5: what an answer lacks is null, for the engine to tell of", async () => {
    const lacking = [chatCall, completionCall, messagesCall].map((call, at) =>
      call(policy, { prompt_token_ids: [], token_ids: [], logprobs: [] }, at),
    )
    const bare = responsesCall(policy, tokens, 3)
    Object.assign(bare.exchange.response, { token_generations: null })
    for (const run of await generationsOf(...lacking, bare)) {
      expect(run).toMatchObject({ prompt_token_ids: null, token_ids: null })
    }
  })

  test("art-0.5.23 3: turns are in the order of their calls, to the microsecond, whatever list they are in", async () => {
    const at = (start_time: string, call: CapturedCall) => {
      Object.assign(call.exchange, { start_time, end_time: "2026-11-22T16:00:00Z" })
      return call
    }
    const places = await generationsOf(
      at("2026-11-22T15:57:01.000002Z", chatCall(policy, tokens)),
      at("2026-11-22T15:57:01.5Z", chatCall(policy, tokens)),
      at("2026-11-22T15:57:01.000001Z", messagesCall(policy, tokens)),
      at("2026-11-22T15:57:01Z", responsesCall(policy, tokens)),
    )
    expect(places.map(({ place }) => place.split(",")[0])).toEqual([
      "responses 0",
      "messages 0",
      "chat_completions 0",
      "chat_completions 1",
    ])
  })
})

describe("art-0.5.23 4.1: which calls are the policy's", () => {
  test("art-0.5.23 4.1: every name of the model counts; others are left out", async () => {
    const short = `${policy.split("/").at(-1)}@2`
    const own = [policy, `${policy}:latest`, `${policy}:step3`, `${policy}:v1`, policy.replace("///", "//"), short]
    const elsewhere = `wandb-artifact:///rival/tests/${policy.split("/").at(-1)}`
    const calls = [...own, elsewhere, "gpt-9", "heddle/tiny"].map((name, at) => chatCall(name, tokens, at))
    const { lines, policyNames } = await stored(captured(1, ...calls))
    expect(policyNames).toEqual(own)
    expect(lines[0]?.captured?.generations.map(({ model }) => model)).toEqual([...own, elsewhere])
    expect(lines[0]?.captured?.other_models).toEqual(["gpt-9", "heddle/tiny"])
  })

  test("art-0.5.23 4.1: a call of another model is not read", async () => {
    const judge = chatCall("gpt-9", tokens)
    Object.assign(judge.exchange.response, { choices: "nonsense" })
    expect(await generationsOf(judge, chatCall(policy, tokens, 1))).toHaveLength(1)
  })
})

describe("art-0.5.23 5: a malformed exchange is 422 with group, trajectory, kind and index", () => {
  const changed = (call: CapturedCall, response: object, request: object = {}) => {
    Object.assign(call.exchange.response, response)
    Object.assign(call.exchange.request, request)
    return call
  }
  const choice = (changes: object) => ({ choices: [{ token_ids: [1], prompt_token_ids: [2], ...changes }] })
  const generation = (changes: object) => ({
    token_generations: [
      { prompt_token_ids: [1], output_tokens: [{ token_id: 2, logprob: -1 }], output_indices: [0], ...changes },
    ],
  })

  test.each<[string, CapturedCall, (string | number)[], string]>([
    ["no choices", changed(chatCall("", tokens), { choices: null }), ["response", "choices"], "Field required"],
    [
      "ids and strings that differ",
      changed(chatCall("", tokens), choice({ logprobs: { content: [{ token: "token_id:7", logprob: -1 }] } })),
      ["response", "choices", 0],
      "disagree at token 0 (1 and 7)",
    ],
    [
      "lengths that differ",
      changed(completionCall("", tokens), choice({ logprobs: { token_logprobs: [-1, -2] } })),
      ["response", "choices", 0],
      "1 token ids but 2 log-probabilities",
    ],
    [
      "an id that is none",
      changed(messagesCall("", tokens), { token_ids: [1, -4] }),
      ["response", "token_ids", 1],
      "received -4",
    ],
    [
      "log-probabilities that are objects",
      changed(messagesCall("", tokens), { logprobs: [{}, {}] }),
      ["response", "logprobs", 0],
      "expected a finite number",
    ],
    [
      "a log-probability above that of a certain token",
      changed(messagesCall("", tokens), { logprobs: [-1, 7] }),
      ["response", "logprobs", 1],
      "at most 0, or null, received 7",
    ],
    [
      "an unknown kind of log-probabilities",
      changed(chatCall("", tokens), choice({ logprobs_mode: "scaled" })),
      ["response", "choices", 0, "logprobs_mode"],
      '"scaled"',
    ],
    ["a suffix", changed(completionCall("", tokens), {}, { suffix: "end" }), ["request", "suffix"], "leave it out"],
    [
      "no generation",
      changed(responsesCall("", tokens), { token_generations: [] }),
      ["response", "token_generations"],
      "empty list",
    ],
    [
      "a generation without a prompt",
      changed(responsesCall("", tokens), generation({ prompt_token_ids: [] })),
      ["response", "token_generations", 0, "prompt_token_ids"],
      "whole prompt",
    ],
    [
      "an output token without an id",
      changed(responsesCall("", tokens), generation({ output_tokens: [{ logprob: -1 }] })),
      ["response", "token_generations", 0, "output_tokens", 0, 0],
      "expected a token id",
    ],
    [
      "indices out of range",
      changed(responsesCall("", tokens), generation({ output_indices: [1] })),
      ["response", "token_generations", 0, "output_indices"],
      "indices of the 1 output items",
    ],
    [
      "an item that no generation made",
      changed(responsesCall("", tokens), generation({ output_indices: [] })),
      ["response", "token_generations"],
      "made the output item 0",
    ],
  ])("art-0.5.23 5: %s", async (_, call, where, why) => {
    const { kind, exchange } = call
    const trajectory = captured(1, { kind, exchange: { ...exchange, model: policy } })
    expect(await refusal(trajectory)).toMatchObject({
      loc: ["body", "trajectory_groups", 0, "trajectories", 1, "exchanges", kind, 0, ...where],
      msg: expect.stringContaining(why),
    })
  })

  test.each([
    ["a kind that is not known", { embeddings: [{}] }, ["embeddings"]],
    [
      "no response",
      { messages: [{ start_time: "2026-11-22T15:57:01Z", end_time: "2026-11-22T15:57:01Z", request: {} }] },
      ["messages", 0, "response"],
    ],
    [
      "no time",
      { responses: [{ request: {}, response: {}, end_time: "2026-11-22T15:57:01Z" }] },
      ["responses", 0, "start_time"],
    ],
  ])("art-0.5.23 3: %s", async (_, exchanges, where) => {
    expect(await refusal({ exchanges })).toMatchObject({
      loc: ["body", "trajectory_groups", 0, "trajectories", 1, "exchanges", ...where],
    })
  })
})
