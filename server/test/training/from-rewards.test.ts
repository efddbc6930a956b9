/** Groups of answers with rewards, made from calls. */
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { uuid } from "../support/completed-call.ts"
import { causes, fromSource, type SampledAnswer, TrainFromApp, withoutTokens } from "../support/training-from.ts"

let from: TrainFromApp
beforeAll(async () => (from = await TrainFromApp.open()))
afterAll(() => from.close())

describe("rewards", () => {
  /** Samples answers of the model, so that the ledger has their tokens. */
  async function sampled(count: number) {
    const own = await from.world()
    const model = `wandb-artifact:///${own.project}/${own.name}`
    const answers: SampledAnswer[] = []
    for (let n = 0; n < count; n++) {
      const messages = [{ role: "user", content: n < 3 ? "one" : "two" }]
      const { body, text, status } = await from.acme.post("/v1/chat/completions", { model, messages, max_tokens: 3 })
      expect([status, text]).toEqual([200, text])
      answers.push(body as SampledAnswer)
    }
    return { ...own, answers }
  }
  const first = (answers: readonly SampledAnswer[]) => answers[0] ?? expect.unreachable()

  test("answers are grouped by question, with the answer's or the ledger's tokens and weighted rewards; those without are left out", async () => {
    const { project, model, answers } = await sampled(5)
    const question = (n: number) => (n < 3 ? "one" : "two")
    await from.store(project, [
      // The first answer has its token ids; those of the others are in the ledger only.
      ...answers.map((output, n) => ({
        question: question(n),
        answer: "",
        output: n === 0 ? output : withoutTokens(output),
      })),
      { question: "one", answer: "elsewhere" },
      { question: "three", answer: "", output: { ...withoutTokens(first(answers)), id: "chatcmpl-gone" } },
    ])
    const grades = ["yes", "no", "partly", "yes", "yes", "no", "no"]
    for (const [n, grade] of grades.entries()) await from.score(project, n + 1, grade)
    await from.score(project, 1, true, "kind")
    const body = {
      model_id: model,
      source: { kind: "calls", project_id: project },
      target: {
        kind: "rl",
        reward: [
          { field: "feedback.[quality].payload.value", weight: 0.5, values: { yes: 1, no: 0, partly: 0.5 } },
          { field: "feedback.[kind].payload.value", missing: 0 },
        ],
      },
    }
    const answer = await from.dry(body)
    expect(answer).toMatchObject({
      kind: "rl",
      read: 7,
      rows: 5,
      groups: 2,
      groups_without_contrast: 1,
      groups_of_one: 0,
    })
    expect(answer).toMatchObject({ tokens: 30, trained_tokens: 15, tokens_are_estimated: false })
    expect(causes(answer)).toEqual({ no_tokens: 2 })
    expect(answer.drops[0]?.examples).toContainEqual({
      id: uuid(7),
      detail: "neither it nor the ledger has tokens of chatcmpl-gone:0",
    })
    const { job, lines, config } = await from.made(body)
    expect(lines.map(({ group, index, reward }) => [group, index, reward])).toEqual([
      [0, 0, 1.5],
      [0, 1, 0],
      [0, 2, 0.25],
      [1, 0, 0.5],
      [1, 1, 0.5],
    ])
    const choices = lines.map(({ histories: [history] }) => history?.items.at(-1)?.choice)
    expect(choices[0]).toMatchObject({ prompt_token_ids: [1, 2, 3], token_ids: [100, 101, 102], ledger: null })
    const entry = { prompt_token_ids: [1, 2, 3], token_ids: [100, 101, 102], logprobs: [-0.5, -0.625, -0.75] }
    expect(choices[1]).toMatchObject({ token_ids: null, ledger_key: null, ledger: entry })
    expect(config).toMatchObject({
      kind: "rl",
      checkpoint_metrics: { "train/reward": 0.55, "train/exception_rate": 0 },
    })
    expect((await from.rowsOf(job.id)).data[2]).toMatchObject({
      row: 2,
      group: 0,
      index: 2,
      call_id: uuid(3),
      score: 0.25,
    })
    expect((await from.ended(job.id)).status).toBe("succeeded")
  })

  test("answers of another model, and a row that is too long, are left out", async () => {
    const { project, answers } = await sampled(1)
    const other = await from.world()
    await from.store(project, [
      { question: "one", answer: "", output: withoutTokens(first(answers)) },
      {
        question: "one",
        answer: "",
        output: {
          id: "x",
          model: `wandb-artifact:///${other.project}/${other.name}:step0`,
          choices: [
            {
              index: 0,
              finish_reason: "stop",
              message: { role: "assistant", content: "long" },
              prompt_token_ids: Array(2048).fill(1),
              token_ids: [1],
              logprobs: { content: [{ token: "token_id:1", logprob: -1, bytes: [1], top_logprobs: [] }] },
            },
          ],
        },
      },
    ])
    await from.score(project, 1, 1)
    await from.score(project, 2, 0)
    const reward = [{ field: "feedback.[quality].payload.value" }]
    const answer = await from.dry({
      model_id: other.model,
      source: { kind: "calls", project_id: project },
      target: { kind: "rl", reward },
    })
    expect(answer).toMatchObject({ rows: 0, groups: 0 })
    expect(causes(answer)).toEqual({ no_tokens: 1, too_long: 1 })
    expect(answer.drops.find(({ cause }) => cause === "too_long")?.examples).toEqual([
      { id: uuid(2), detail: "it has 2049 tokens; at most 2048 are trained on" },
    ])
  })

  test("rewards that are all equal make no job, and the answer says the way out", async () => {
    const { project, model, answers } = await sampled(2)
    await from.store(
      project,
      answers.map((output) => ({ question: "one", answer: "", output: withoutTokens(output) })),
    )
    await from.score(project, 1, 1)
    await from.score(project, 2, 1)
    const target = { kind: "rl", reward: [{ field: "feedback.[quality].payload.value" }] }
    const body = { model_id: model, source: { kind: "calls", project_id: project }, target }
    expect((await from.dry(body)).warnings).toEqual([expect.stringContaining("no group has two different rewards")])
    const answer = await from.acme.post(fromSource, body)
    expect(answer).toMatchObject({ status: 422, body: { detail: [{ loc: ["body", "target", "reward"] }] } })
    expect(answer.text).toContain("group by what several answers have in common")
    expect(await from.jobsOf(model)).toBe(0)
  })
})
