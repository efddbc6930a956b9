/** With the real engine, jobs made from calls train as jobs whose client sends the same data. */
import path from "node:path"
import { afterAll, beforeAll, expect, test } from "vitest"
import { uuid } from "../support/completed-call.ts"
import { type SampledAnswer, TrainFromApp, withoutTokens } from "../support/training-from.ts"

const python = process.env["HEDDLE_PYTHON"] ?? path.resolve(import.meta.dirname, "../../../engine/.venv/bin/python")

let from: TrainFromApp
beforeAll(async () => (from = await TrainFromApp.open({ engine: "process", python })), 60_000)
afterAll(() => from.close())

/** Waits for the job's end; returns the figures of each gradient step that do not depend on time. */
async function steps(jobId: string) {
  expect((await from.ended(jobId)).status).toBe("succeeded")
  type Page = { data: { type: string; data: Record<string, number> }[] }
  const { body } = await from.acme.get(`/v1/preview/training-jobs/${jobId}/events?limit=100`)
  return (body as Page).data.flatMap(({ type, data }) => {
    const { tokens_per_second: _, ...metrics } = data
    return type === "gradient_step" ? [metrics] : []
  })
}

test(
  "rewards that come later train as the same trajectories do: loss and gradient of each step are equal",
  { timeout: 300_000 },
  async () => {
    const { project, model, name } = await from.world()
    const artifact = `wandb-artifact:///${project}/${name}`
    const answers: SampledAnswer[] = []
    const rewards = [1, 0, 0.5, 1, 0, 0.25]
    const question = (n: number) => ({ role: "user", content: n < 3 ? "4+5=" : "2+6=" })
    for (const n of rewards.keys()) {
      const body = { model: artifact, messages: [question(n)], max_tokens: 6, temperature: 1, seed: n }
      answers.push((await from.acme.post("/v1/chat/completions", body)).body as SampledAnswer)
    }
    const trajectory = (n: number) => ({
      messages_and_choices: [question(n), answers[n]?.choices[0]],
      reward: rewards[n],
    })
    const trajectory_groups = [
      [0, 1, 2],
      [3, 4, 5],
    ].map((group) => ({ trajectories: group.map(trajectory) }))
    const sent = await from.acme.post("/v1/preview/training-jobs", { model_id: model, trajectory_groups })
    const expected = await steps((sent.body as { id: string }).id)
    // Without step 1, the next job begins where that one did.
    await from.acme.delete(`/v1/preview/models/${model}/checkpoints`, { steps: [1] })

    await from.store(
      project,
      answers.map((output, n) => ({ question: question(n).content, output: withoutTokens(output) })),
    )
    for (const [n, reward] of rewards.entries()) await from.score(project, n + 1, reward)
    const { job } = await from.made({
      model_id: model,
      source: { kind: "calls", project_id: project },
      target: { kind: "rl", reward: [{ field: "feedback.[quality].payload.value" }] },
    })
    const found = await steps(job.id)
    expect(found).toHaveLength(expected.length)
    for (const [index, step] of expected.entries()) {
      expect(found[index]?.["policy_loss"]).toBeCloseTo(step["policy_loss"] ?? Number.NaN, 6)
      expect(found[index]?.["grad_norm"]).toBeCloseTo(step["grad_norm"] ?? Number.NaN, 6)
      expect(found[index]?.["num_trainable_tokens"]).toBe(step["num_trainable_tokens"])
    }
    expect(expected.length).toBeGreaterThan(0)
    expect((await from.usesOf(project, { call_ids: [uuid(2)] })).uses).toMatchObject([{ output_step: 2, score: 0 }])
  },
)

test(
  "corrections become the answer, and the next dry run tells from this job how long one takes",
  { timeout: 300_000 },
  async () => {
    const { project, model } = await from.world()
    await from.store(
      project,
      [1, 2, 3, 4].map((n) => ({ question: `${n}+1=`, answer: "?" })),
    )
    for (const n of [1, 2, 3, 4]) await from.score(project, n, `${n + 1}`, "fix")
    const body = {
      model_id: model,
      source: { kind: "calls", project_id: project },
      target: { kind: "sft", corrections: ["feedback.[fix].payload.value"] },
      config: { batch_size: 2, learning_rate: 0.001 },
    }
    const { job, lines } = await from.made(body)
    expect(lines.map(({ messages }) => messages.at(-1)?.content)).toEqual(["2", "3", "4", "5"])
    const done = await steps(job.id)
    expect(done.map(({ num_trajectories }) => num_trajectories)).toEqual([2, 2])
    const { time } = await from.dry(body)
    expect(time.tokens_per_second).toBeGreaterThan(0)
    expect(time.reason).toBe("as fast as the newest sft job of heddle/tiny that ended well")
  },
)

test(
  "training-api 7.7: it learns from pairs, and its events say margin, accuracy and rewards",
  { timeout: 300_000 },
  async () => {
    const { project, model } = await from.world()
    const questions = Array.from({ length: 8 }, (_, n) => ({ question: `${n}+2=`, right: `${n + 2}`, wrong: "?" }))
    await from.store(
      project,
      questions.flatMap(({ question, right, wrong }) => [
        { question, answer: right },
        { question, answer: wrong },
      ]),
    )
    for (const n of questions.keys()) {
      await from.score(project, 2 * n + 1, 1)
      await from.score(project, 2 * n + 2, 0)
    }
    const body = {
      model_id: model,
      source: { kind: "calls", project_id: project },
      target: { kind: "dpo", pairs: { from: "score", score: [{ field: "feedback.[quality].payload.value" }] } },
      config: { learning_rate: 0.001, batch_size: 2 },
    }
    const { job } = await from.made(body)
    const done = await steps(job.id)
    expect(done.map(({ num_pairs }) => num_pairs)).toEqual([2, 2, 2, 2])
    // At first the model equals its reference, so there is no margin yet.
    expect(done[0]).toMatchObject({ loss: expect.closeTo(Math.LN2, 5), reward_margin: 0, accuracy: 0 })
    expect(done.at(-1)).toMatchObject({ accuracy: 1 })
    expect(done.at(-1)?.["reward_margin"]).toBeGreaterThan(0)
    expect(done.at(-1)?.["chosen_reward"]).toBeGreaterThan(done.at(-1)?.["rejected_reward"] ?? 0)
    expect((await from.dry(body)).time.reason).toBe("as fast as the newest dpo job of heddle/tiny that ended well")
  },
)

test(
  "a row that is longer than the model takes is counted by its tokenizer and left out",
  { timeout: 120_000 },
  async () => {
    const { project, model } = await from.world()
    await from.store(project, [
      { question: "1+1=", answer: "2" },
      { question: "1+1=".repeat(4000), answer: "2" },
    ])
    const answer = await from.dry({
      model_id: model,
      source: { kind: "calls", project_id: project },
      target: { kind: "sft" },
    })
    expect(answer).toMatchObject({ rows: 1, drops: [{ cause: "too_long", count: 1, examples: [{ id: uuid(2) }] }] })
    expect(answer.drops[0]?.examples[0]?.detail).toMatch(/^it has \d{4,} tokens; at most \d+ are trained on$/)
  },
)
