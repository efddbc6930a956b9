/** Log-probabilities of prompts, and embeddings, by the real engine over HTTP: inference-api 3 and 9. */
import path from "node:path"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { embeddings } from "../../src/wire/inference/embeddings.ts"
import { chatCompletion } from "../../src/wire/inference/chat.ts"
import { textCompletion } from "../../src/wire/inference/text-completion.ts"
import { type Answer, openTestApp, type TestApp } from "../support/test-app.ts"

const python = process.env["HEDDLE_PYTHON"] ?? path.resolve(import.meta.dirname, "../../../engine/.venv/bin/python")

let opened: TestApp
beforeAll(async () => (opened = await openTestApp({ engine: "process", python })), 60_000)
afterAll(() => opened.close())

const model = "heddle/tiny"

/** The ids of `4`, `+`, `5`, `=`, `9` and a line feed. Expected values are those of transformers' own forward pass. */
const ids = [22, 13, 23, 31, 27, 201]
const prompt = "4+5=9\n"
const logprobs = [-12.2338, -4.8782, -13.8071, -6.8186, -9.4102]

function rounded(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value), (_, each: unknown) =>
    typeof each === "number" && !Number.isInteger(each) ? Math.round(each * 1e4) / 1e4 : each,
  )
}

async function complete(fields: object) {
  const answer = await opened.acme.post("/v1/completions", { model, ...fields })
  expect(answer).toMatchObject({ status: 200 })
  return textCompletion.parse(answer.body)
}

function errorOf(answer: Answer): unknown {
  return [answer.status, (answer.body as { error: unknown }).error]
}

describe("inference-api 9: echo", () => {
  test("answers each token of the prompt with its logprob, nothing sampled", async () => {
    const { choices, usage } = await complete({ prompt, echo: true, max_tokens: 0, logprobs: 1 })
    expect(rounded(choices)).toEqual([
      {
        index: 0,
        text: prompt,
        logprobs: {
          tokens: ["4", "+", "5", "=", "9", "\n"],
          token_logprobs: [null, ...logprobs],
          top_logprobs: [
            null,
            { "+": -12.2338, "<|im_end|>": -0.5177 },
            { "5": -4.8782, ".": -2.0594 },
            { "=": -13.8071, "<|im_end|>": -0.2064 },
            { "9": -6.8186, "<|im_end|>": -1.9781 },
            { "\n": -9.4102, "<|im_end|>": -0.4009 },
          ],
          text_offset: [0, 1, 2, 3, 4, 5],
        },
        finish_reason: "length",
        stop_reason: null,
        token_ids: [],
        prompt_token_ids: ids,
      },
    ])
    expect(usage).toMatchObject({ prompt_tokens: 6, completion_tokens: 0, total_tokens: 6 })
  }, 60_000)

  // The request and the read fields of `local-completions` in lm-evaluation-harness 0.4.9, for a loglikelihood.
  test("lm-evaluation-harness finds the likelihood of a continuation and whether it is the likeliest", async () => {
    const requests = [[...ids, 19], ids]
    const { choices } = await complete({
      prompt: requests,
      temperature: 0,
      max_tokens: 1,
      logprobs: 1,
      seed: 1234,
      echo: true,
    })
    const read = choices.map(({ logprobs: found }, place) => {
      const context = place === 0 ? 6 : 4
      const ownLogprobs = found?.token_logprobs.slice(context, -1) as number[]
      const tops = found?.top_logprobs.slice(context, -1) as Record<string, number>[]
      const isGreedy = ownLogprobs.every((value, at) => value === Math.max(...Object.values(tops[at] ?? {})))
      return [rounded(ownLogprobs), isGreedy]
    })
    expect(read).toEqual([
      [[-1.1088], true],
      [[-6.8186, -9.4102], false],
    ])
    expect(choices.map(({ text }) => text.startsWith("4+5=9\n"))).toEqual([true, true])
    expect(choices.map(({ logprobs: found }) => found?.tokens.length)).toEqual([8, 7])
  })

  test("text and offsets go on after the prompt; other names, and answers without logprobs, work too", async () => {
    const both = { prompt, echo: true, max_tokens: 2, temperature: 0, ignore_eos: true }
    const [named, plain] = await Promise.all([
      complete({ ...both, logprobs: 0, return_tokens_as_token_ids: true, n: 2 }),
      complete(both),
    ])
    const [first, second] = named.choices
    expect(first?.text.slice(0, 7)).toBe("4+5=9\n1")
    expect(first?.logprobs?.tokens.slice(0, 7)).toEqual([...ids, 19].map((id) => `token_id:${id}`))
    expect(first?.logprobs?.text_offset.slice(4)).toEqual([4, 5, 6, 7])
    expect({ ...second, index: 0 }).toEqual(first)
    expect(plain.choices[0]).toMatchObject({ text: first?.text, logprobs: null })
  })

  test("a character of several tokens is whole in the text, and each of its tokens begins where it does", async () => {
    const { choices } = await complete({ prompt: "žu", echo: true, max_tokens: 0, return_token_ids: true })
    const again = await complete({ prompt: choices[0]?.prompt_token_ids, echo: true, max_tokens: 0, logprobs: 0 })
    expect(again.choices[0]?.text).toBe("žu")
    expect(again.choices[0]?.logprobs).toMatchObject({ tokens: ["\ufffd", "\ufffd", "u"], text_offset: [0, 0, 1] })
  })
})

describe("inference-api 3: prompt_logprobs", () => {
  const asText = async (url: string, body: object) => {
    const response = await opened.app.server.inject({
      method: "POST",
      url,
      headers: { authorization: `Bearer ${opened.acme.key}`, "content-type": "application/json" },
      payload: JSON.stringify({ model, ...body }),
    })
    return response.body
  }

  test("of a text completion are in its choice, the prompt's own token first", async () => {
    const text = await asText("/v1/completions", { prompt, max_tokens: 0, prompt_logprobs: 1 })
    const { choices } = textCompletion.parse(JSON.parse(text))
    expect(choices[0]).toMatchObject({ text: "", logprobs: null, finish_reason: "length" })
    const found = choices[0]?.prompt_logprobs
    expect(rounded(found)).toEqual([
      null,
      {
        "13": { logprob: -12.2338, rank: 277, decoded_token: "+" },
        "2": { logprob: -0.5177, rank: 1, decoded_token: "<|im_end|>" },
      },
      {
        "23": { logprob: -4.8782, rank: 17, decoded_token: "5" },
        "16": { logprob: -2.0594, rank: 1, decoded_token: "." },
      },
      {
        "31": { logprob: -13.8071, rank: 432, decoded_token: "=" },
        "2": { logprob: -0.2064, rank: 1, decoded_token: "<|im_end|>" },
      },
      {
        "27": { logprob: -6.8186, rank: 72, decoded_token: "9" },
        "2": { logprob: -1.9781, rank: 1, decoded_token: "<|im_end|>" },
      },
      {
        "201": { logprob: -9.4102, rank: 91, decoded_token: "\n" },
        "2": { logprob: -0.4009, rank: 1, decoded_token: "<|im_end|>" },
      },
    ])
    expect(text.indexOf('{"13":{')).toBeLessThan(text.indexOf('"2":{'))
    expect(text).toContain('{"13":{')
  })

  test("of a chat are beside its choices, for the prompt as the template rendered it", async () => {
    const messages = [{ role: "user", content: "hi" }]
    const text = await asText("/v1/chat/completions", { messages, max_tokens: 1, prompt_logprobs: 0 })
    const { prompt_logprobs: found, prompt_token_ids: rendered } = chatCompletion.parse(JSON.parse(text))
    expect(found?.[0]).toBeNull()
    expect(found?.slice(1).map((entry) => Object.keys(entry ?? {}))).toEqual(rendered?.slice(1).map((id) => [`${id}`]))
    const scored = await complete({ prompt: rendered, max_tokens: 0, prompt_logprobs: 0 })
    expect(rounded(scored.choices[0]?.prompt_logprobs)).toEqual(rounded(found))
  })

  test.each([
    ["/v1/completions", { prompt, echo: true, stream: true }, "echo: not together with stream: true"],
    [
      "/v1/completions",
      { prompt, prompt_logprobs: 1, stream: true },
      "prompt_logprobs: not together with stream: true",
    ],
    [
      "/v1/completions",
      { prompt, max_tokens: 0 },
      "max_tokens: must be at least 1, or 0 with echo: true or prompt_logprobs",
    ],
    [
      "/v1/chat/completions",
      { messages: [{ role: "user", content: "a" }], prompt_logprobs: 1, stream: true },
      "prompt_logprobs: not together with stream: true",
    ],
    [
      "/v1/chat/completions",
      { messages: [{ role: "user", content: "a" }], echo: true },
      "echo: only for /v1/completions; the prompt's ids are in prompt_token_ids",
    ],
  ])("%s refuses %j", async (url, body, message) => {
    const param = message.slice(0, message.indexOf(":"))
    expect(errorOf(await opened.acme.post(url, { model, ...body }))).toMatchObject([400, { param, message }])
  })

  test.each([-1, 21])("%i alternatives are refused by name", async (count) => {
    const answer = await opened.acme.post("/v1/completions", { model, prompt, prompt_logprobs: count })
    expect(answer.status).toBe(422)
    expect(JSON.stringify(answer.body)).toContain("prompt_logprobs")
  })
})

describe("inference-api 9: embeddings", () => {
  const embed = async (fields: object) => {
    const answer = await opened.acme.post("/v1/embeddings", { model, ...fields })
    expect(answer).toMatchObject({ status: 200 })
    return embeddings.parse(answer.body)
  }

  test("are the mean of the base's last hidden states, of length 1", async () => {
    const { data, model: named, usage } = await embed({ input: [prompt, "the rain"] })
    const vectors = data.map(({ embedding }) => embedding as number[])
    expect(vectors.map((vector) => [vector.length, rounded(vector.slice(0, 4))])).toEqual([
      [128, [-0.0809, 0.1194, -0.0241, 0.0481]],
      [128, [-0.1745, 0.1335, 0.0523, -0.0903]],
    ])
    for (const vector of vectors) expect(vector.reduce((sum, value) => sum + value ** 2, 0)).toBeCloseTo(1, 5)
    expect(data.map(({ index }) => index)).toEqual([0, 1])
    expect([named, usage]).toEqual([model, { prompt_tokens: 11, total_tokens: 11 }])
  })

  test("come of token ids, as numbers or as float32 in base64", async () => {
    const [numbers, packed] = await Promise.all([
      embed({ input: ids, encoding_format: "float" }),
      embed({ input: [ids], encoding_format: "base64" }),
    ])
    const bytes = Buffer.from(packed.data[0]?.embedding as string, "base64")
    expect(bytes.length).toBe(512)
    const [first = 0] = (numbers.data[0]?.embedding ?? []) as number[]
    expect(bytes.readFloatLE(0)).toBeCloseTo(first, 6)
    expect(first).toBeCloseTo(-0.0809, 4)
  })

  test("are counted like other requests", async () => {
    const answer = await opened.rival.post("/v1/embeddings", { model, input: [prompt, prompt] })
    expect(answer.status).toBe(200)
    const usage = await opened.rival.get(
      `/v1/organization/usage/completions?start_time=${Math.floor(Date.now() / 1000) - 3600}&bucket_width=1d`,
    )
    expect(JSON.stringify(usage.body)).toContain(
      '"input_tokens":12,"input_cached_tokens":0,"output_tokens":0,"num_model_requests":1',
    )
  })

  test.each([
    ["an empty text", { input: "" }, 400, "The prompt has no tokens."],
    ["a token of another model", { input: [600] }, 400, "prompt_token_ids names token 600"],
    [
      "a text that is too long",
      { input: "a ".repeat(2100) },
      400,
      "This model's maximum context length is 2048 tokens.",
    ],
    [
      "dimensions",
      { input: "a", dimensions: 64 },
      400,
      "dimensions: vectors have as many as the model's hidden states",
    ],
    [
      "too many texts",
      { input: Array.from({ length: 2049 }, () => "a") },
      400,
      "input: at most 2048 inputs in one request",
    ],
    ["an unknown model", { input: "a", model: "no/such" }, 404, "no/such"],
    ["an empty list", { input: [] }, 422, "no list may be empty"],
    ["another encoding", { input: "a", encoding_format: "int8" }, 422, "encoding_format"],
  ])("%s is refused", async (_, fields, status, text) => {
    const answer = await opened.acme.post("/v1/embeddings", { model, ...fields })
    expect([answer.status, JSON.stringify(answer.body)]).toEqual([status, expect.stringContaining(text)])
  })
})
