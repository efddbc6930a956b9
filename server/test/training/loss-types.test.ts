/** What the settings of the loss do to a job of the real engine, through HTTP. */
import path from "node:path"
import { afterAll, beforeAll, expect, test, vi } from "vitest"
import { openTestApp, type TestApp } from "../support/test-app.ts"
import { newModel } from "../support/training-app.ts"

const python = process.env["HEDDLE_PYTHON"] ?? path.resolve(import.meta.dirname, "../../../engine/.venv/bin/python")

interface Choice {
  message: object
  token_ids: number[]
  prompt_token_ids: number[]
  logprobs: { content: { logprob: number }[] }
}
type Metrics = Record<string, number>

const groups = [
  { question: "4+5=", rewards: [1, 0, 0.25], lengths: [2, 9, 14] },
  { question: "2+6=", rewards: [0, 1, 0.25], lengths: [3, 20, 7] },
  { question: "1+7=", rewards: [0.75, 0, 1], lengths: [5, 11, 17] },
]

let opened: TestApp
/** Sampled at step 0, at which every model is the same. */
let choices: Choice[][]

beforeAll(async () => {
  opened = await openTestApp({ engine: "process", python })
  const { name } = await newModel(opened.acme)
  choices = await Promise.all(
    groups.map(({ question, lengths }) =>
      Promise.all(
        lengths.map(async (max_tokens, seed) => {
          const messages = [{ role: "user", content: question }]
          const model = `wandb-artifact:///acme/tests/${name}`
          const asked = { model, messages, max_tokens, seed, temperature: 1, ignore_eos: true }
          const { status, body } = await opened.acme.post("/v1/chat/completions", asked)
          if (status !== 200) throw new Error(JSON.stringify(body))
          const [choice] = (body as { choices: Choice[] }).choices
          if (choice?.token_ids.length !== max_tokens) throw new Error("not sampled to its limit")
          return choice
        }),
      ),
    ),
  )
}, 120_000)
afterAll(() => opened.close())

/** Gradient steps of a job on a model of its own. */
async function steps(experimental_config: object): Promise<Metrics[]> {
  const { id: model_id } = await newModel(opened.acme)
  const trajectory_groups = groups.map(({ question, rewards }, group) => ({
    trajectories: rewards.map((reward, index) => ({
      messages_and_choices: [{ role: "user", content: question }, choices[group]?.[index]],
      reward,
    })),
  }))
  const made = await opened.acme.post("/v1/preview/training-jobs", { model_id, trajectory_groups, experimental_config })
  expect(made).toMatchObject({ status: 200, body: { warnings: [] } })
  const url = `/v1/preview/training-jobs/${(made.body as { id: string }).id}`
  const read = async () => (await opened.acme.get(url)).body as { status: string; error_message: string | null }
  await vi.waitUntil(async () => !["queued", "running"].includes((await read()).status), {
    timeout: 120_000,
    interval: 50,
  })
  expect(await read()).toMatchObject({ status: "succeeded", error_message: null })
  type Page = { data: { type: string; data: Metrics }[] }
  const { data: events } = (await opened.acme.get(`${url}/events?limit=100`)).body as Page
  const found = events.filter(({ type }) => type === "gradient_step").map(({ data }) => data)
  expect(events[0]).toMatchObject({ type: "training_started", data: { num_sequences: found.length } })
  return found
}

const sum = (values: number[]) => values.reduce((total, value) => total + value, 0)

/** Loss of the first step, at which the ratio of every token is 1: training-api 7.2 and 7.4. */
function expectedLoss(lossType: "bnpo" | "grpo" | "dr_grpo", byLength: boolean, length = 0): number {
  const tokens = groups.flatMap(({ rewards }, group) => {
    const mean = sum(rewards) / rewards.length
    const deviation = Math.sqrt(sum(rewards.map((reward) => (reward - mean) ** 2)) / rewards.length)
    return rewards.map((reward, index) => {
      const logprobs = choices[group]?.[index]?.logprobs.content.map(({ logprob }) => logprob) ?? []
      return { logprobs, advantage: (reward - mean) / (deviation + 1e-6), weight: byLength ? 1 / logprobs.length : 1 }
    })
  })
  const total = sum(tokens.map(({ logprobs }) => logprobs.length))
  const weight = sum(tokens.map((one) => one.weight * one.logprobs.length)) / total
  const scale = sum(tokens.map((one) => (Math.abs(one.advantage) * one.weight * one.logprobs.length) / weight)) / total
  const losses = tokens.map(({ logprobs, advantage, weight: own }) => ({
    loss: sum(logprobs.map((logprob) => ((-logprob * advantage) / scale) * (own / weight))),
    count: logprobs.length,
  }))
  if (lossType === "grpo") return sum(losses.map(({ loss, count }) => loss / count)) / losses.length
  return sum(losses.map(({ loss }) => loss)) / (lossType === "bnpo" ? total : losses.length * length)
}

test.each([
  [{ normalize_by_length: false }, () => expectedLoss("bnpo", false)],
  [{ loss_type: "bnpo" }, () => expectedLoss("bnpo", true)],
  [{ loss_type: "grpo", normalize_by_length: false }, () => expectedLoss("grpo", false)],
  [{ loss_type: "grpo" }, () => expectedLoss("grpo", true)],
  [
    { loss_type: "dr_grpo", max_completion_length: 12, normalize_by_length: false },
    () => expectedLoss("dr_grpo", false, 12),
  ],
] as const)(
  "training-api 7.4: with %j a job of one row reports the loss of the formula",
  { timeout: 180_000 },
  async (asked, expected) => {
    const [first, ...others] = await steps(asked)
    expect(others).toEqual([])
    expect(first?.["num_trainable_tokens"]).toBe(88)
    expect(first?.["policy_loss"]).toBeCloseTo(expected(), 3)
  },
)

test("each loss type is one of its own", () => {
  const found = [expectedLoss("bnpo", false), expectedLoss("grpo", false), expectedLoss("dr_grpo", false, 12)]
  found.push(expectedLoss("bnpo", true), expectedLoss("grpo", true))
  const apart = found.flatMap((a, i) => found.slice(i + 1).map((b) => Math.abs(a - b)))
  expect(Math.min(...apart)).toBeGreaterThan(0.001)
})

test(
  "training-api 7.3: grad_accumulation_sequences takes so many rows together in each optimizer step",
  { timeout: 180_000 },
  async () => {
    const small = { packed_sequence_length: 48, logprob_calculation_chunk_size: 16 }
    const single = await steps(small)
    expect(single.length).toBeGreaterThan(2)
    const pairs = await steps({ ...small, grad_accumulation_sequences: 2 })
    expect(pairs).toHaveLength(Math.ceil(single.length / 2))
    const tokens = single.map((step) => step["num_trainable_tokens"] ?? 0)
    expect(pairs.map((step) => step["num_trainable_tokens"])).toEqual(
      pairs.map((_, n) => (tokens[2 * n] ?? 0) + (tokens[2 * n + 1] ?? 0)),
    )
    const [all, ...none] = await steps({ ...small, grad_accumulation_sequences: single.length })
    expect(none).toEqual([])
    expect(all?.["policy_loss"]).toBeCloseTo(expectedLoss("bnpo", true), 3)
  },
)

test(
  "training-api 3.3: each step says how far the policy is from the one that sampled, and so do the model's metrics",
  { timeout: 180_000 },
  async () => {
    const [first] = await steps({})
    expect(first).toMatchObject({
      "loss/importance_ratio_mean": expect.closeTo(1, 3),
      "loss/importance_ratio_p95": expect.closeTo(1, 2),
      "loss/importance_ratio_p99": expect.closeTo(1, 2),
      "loss/clipped_token_fraction": 0,
      "loss/probs_corr": expect.closeTo(1, 3),
      effective_sample_fraction: expect.closeTo(1, 3),
    })
    const { data } = (await opened.acme.get("/v1/preview/training-jobs?limit=1")).body as {
      data: { model_id: string }[]
    }
    const query = `model_id=${data[0]?.model_id}&metric=loss/importance_ratio_mean`
    const { body } = await opened.acme.get(`/v1/preview/model-metrics?${query}`)
    expect(body).toMatchObject({
      data: [{ curves: [{ metric: "loss/importance_ratio_mean", step: [1], mean: [expect.closeTo(1, 3)] }] }],
    })
  },
)
