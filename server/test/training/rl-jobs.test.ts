import { readdir, readFile } from "node:fs/promises"
import path from "node:path"
import { gzipSync, zstdCompressSync } from "node:zlib"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { specTrajectory } from "../../src/wire/engine/train.ts"
import { job as jobSchema, storedJobConfig } from "../../src/wire/training/job.ts"
import { groupsOf, newModel, openTrainingApp, sampledTrajectory, type TrainingApp } from "../support/training-app.ts"

const url = "/v1/preview/training-jobs"
let opened: TrainingApp
let modelId: string
beforeAll(async () => {
  opened = await openTrainingApp({ maximumBodyBytes: 30 * 1024 * 1024 })
  modelId = (await newModel(opened.acme)).id
})
afterAll(() => opened.close())

const create = (body: object | string) => opened.acme.post(url, body)

async function storedJob(id: string) {
  const row = await opened.app.stores.catalog
    .selectFrom("training_jobs")
    .selectAll()
    .where("id", "=", id)
    .executeTakeFirstOrThrow()
  return { ...row, config: storedJobConfig.parse(row.config) }
}

async function configFor(experimentalConfig: object) {
  const { status, body } = await create({
    model_id: modelId,
    trajectory_groups: groupsOf([0, 1]),
    experimental_config: experimentalConfig,
  })
  expect(body).toMatchObject({ id: expect.any(String) })
  expect(status).toBe(200)
  const job = await storedJob((body as { id: string }).id)
  if (job.config.kind !== "rl") throw new Error("not an RL job")
  return { ...job, config: job.config }
}

async function dataLines(jobId: string) {
  const { data_path } = await storedJob(jobId)
  const text = await readFile(path.join(opened.config.dataDir, data_path), "utf8")
  return text
    .split("\n")
    .filter(Boolean)
    .map((line) => specTrajectory.parse(JSON.parse(line)))
}

async function storedThings(): Promise<{ rows: number; blobs: number; temporary: number }> {
  const rows = await opened.app.stores.catalog.selectFrom("training_jobs").select("id").execute()
  const files = await readdir(path.join(opened.config.dataDir, "blobs"), { recursive: true, withFileTypes: true })
  const blobs = files.filter((file) => file.isFile())
  const temporary = blobs.filter((file) => file.parentPath.endsWith("tmp"))
  return { rows: rows.length, blobs: blobs.length, temporary: temporary.length }
}

describe("training-api 2.1: the body of an RL job", () => {
  test("the answer is a job with an id, a status and no output yet (training-api 2.3)", async () => {
    const { status, body } = await create({ model_id: modelId, trajectory_groups: groupsOf([0, 1]) })
    expect(status).toBe(200)
    expect(jobSchema.strict().parse(body)).toMatchObject({ model_id: modelId, kind: "rl", output_step: null })
  })

  test("the engine's file has one line per trajectory with what training reads", async () => {
    const withTools = {
      ...sampledTrajectory(0.25),
      tools: [
        { name: "lookup", parameters: { type: "object" } },
        { type: "function", function: { name: "other" } },
      ],
      additional_histories: [
        { messages_and_choices: [{ role: "tool", name: "lookup", content: "7", tool_call_id: "c" }] },
      ],
    }
    const groups = [{ trajectories: [] }, { trajectories: [sampledTrajectory(1), withTools] }]
    const { body } = await create({ model_id: modelId, trajectory_groups: groups })
    const lines = await dataLines((body as { id: string }).id)
    expect(lines.map(({ group, index, reward }) => ({ group, index, reward }))).toEqual([
      { group: 1, index: 0, reward: 1 },
      { group: 1, index: 1, reward: 0.25 },
    ])
    expect(lines[1]?.histories).toEqual([
      {
        items: [
          { message: { role: "user", content: "one plus one" } },
          {
            choice: {
              message: { role: "assistant", content: "two", refusal: null },
              finish_reason: "stop",
              token_ids: [100, 101],
              prompt_token_ids: [1, 2, 3],
              logprobs: [
                { token: "token_id:100", logprob: -0.5 },
                { token: "token_id:101", logprob: -0.5 },
              ],
              ledger_key: null,
              ledger: null,
            },
          },
        ],
        tools: [
          { type: "function", function: { name: "lookup", parameters: { type: "object" } } },
          { type: "function", function: { name: "other" } },
        ],
      },
      { items: [{ message: { role: "tool", name: "lookup", content: "7", tool_call_id: "c" } }], tools: null },
    ])
  })

  test("U+0000, U+2028 and emoji in texts survive (training-api 1.4)", async () => {
    const content = "zero\u0000 line\u2028 thread 🧵"
    const trajectory = { messages_and_choices: [{ role: "user", content }], reward: 1 }
    const exceptions = [{ type: "E", message: content, traceback: content }]
    const { body } = await create({
      model_id: modelId,
      trajectory_groups: [{ trajectories: [trajectory], exceptions }],
    })
    const [line] = await dataLines((body as { id: string }).id)
    expect(line?.histories[0]?.items[0]).toEqual({ message: { role: "user", content } })
  })

  test("no groups at all, and groups without trajectories, are jobs like any other", async () => {
    for (const groups of [[], [{ trajectories: [] }]]) {
      const { status, body } = await create({ model_id: modelId, trajectory_groups: groups })
      expect(status).toBe(200)
      expect(await dataLines((body as { id: string }).id)).toEqual([])
    }
  })

  test("reward and metrics of the data wait for the checkpoint they belong to (training-api 2.4)", async () => {
    const [first] = groupsOf([0, 1])
    const second = { ...groupsOf([3])[0], exceptions: [{ type: "E", message: "m", traceback: "t" }] }
    const { body } = await create({ model_id: modelId, trajectory_groups: [first, second] })
    const { config } = await storedJob((body as { id: string }).id)
    expect(config).toMatchObject({
      checkpoint_metrics: { "train/reward": 4 / 3, "train/reward_std_dev": 0.5, "train/exception_rate": 0.25 },
    })
  })

  const good = JSON.stringify(sampledTrajectory(1))
  test.each([
    ["a null reward", good.replace('"reward":1', '"reward":null'), ["reward"]],
    ["a reward of the wrong type", good.replace('"reward":1', '"reward":"1"'), ["reward"]],
    ["1e999, which JavaScript reads as Infinity", good.replace('"reward":1', '"reward":1e999'), ["reward"]],
    ["a reward whose square is no number", good.replace('"reward":1', '"reward":1e200'), ["reward"]],
    ["NaN", good.replace('"reward":1', '"reward":NaN'), []],
    ["an unknown role", good.replace('"role":"user"', '"role":"robot"'), ["messages_and_choices", 0, "role"]],
    [
      "a null logprob",
      good.replace('"logprob":-0.5', '"logprob":null'),
      ["messages_and_choices", 1, "logprobs", "content", 0, "logprob"],
    ],
    [
      "a logprob of no probability",
      good.replace('"logprob":-0.5', '"logprob":5'),
      ["messages_and_choices", 1, "logprobs", "content", 0, "logprob"],
    ],
    ["a token id below 0", good.replace("[100,101]", "[100,-101]"), ["messages_and_choices", 1, "token_ids", 1]],
    ["fewer token ids than logprobs", good.replace("[100,101]", "[100]"), ["messages_and_choices", 1, "token_ids"]],
    [
      "an unknown finish reason",
      good.replace('"finish_reason":"stop"', '"finish_reason":"abort"'),
      ["messages_and_choices", 1, "finish_reason"],
    ],
    ["a metric that is a text", good.replace('"metrics":{}', '"metrics":{"a":"b"}'), ["metrics", "a"]],
    [
      "a metric with U+0000 in its name",
      good.replace('"metrics":{}', String.raw`"metrics":{"a\u0000b":1}`),
      ["metrics", "a\0b"],
    ],
    [
      "a metric with half a character in its name",
      good.replace('"metrics":{}', String.raw`"metrics":{"a\ud800":1}`),
      ["metrics", "a\ud800"],
    ],
    ["no object", "7", []],
  ])("%s: 422 at its group and trajectory, and nothing is stored", async (_, bad, where) => {
    const before = await storedThings()
    const body = `{"model_id":"${modelId}","trajectory_groups":[{"trajectories":[]},{"trajectories":[${good},${bad}]}]}`
    const answer = await create(body)
    expect(answer.status).toBe(422)
    expect((answer.body as { detail: object[] }).detail[0]).toMatchObject({
      loc: ["body", "trajectory_groups", 1, "trajectories", 1, ...where],
      msg: expect.any(String),
      type: expect.any(String),
    })
    expect(await storedThings()).toEqual(before)
  })

  test.each([
    [{ trajectory_groups: [] }, ["body", "model_id"]],
    [{ model_id: 7, trajectory_groups: [] }, ["body", "model_id"]],
    [{ model_id: "x" }, ["body", "trajectory_groups"]],
    [{ model_id: "x", trajectory_groups: {} }, ["body", "trajectory_groups"]],
    [{ model_id: "x", trajectory_groups: [7] }, ["body", "trajectory_groups", 0]],
    [{ model_id: "x", trajectory_groups: [{ trajectories: null }] }, ["body", "trajectory_groups", 0, "trajectories"]],
    [
      { model_id: "x", trajectory_groups: [{ trajectories: [], exceptions: [{}] }] },
      ["body", "trajectory_groups", 0, "exceptions", 0, "type"],
    ],
    [[], ["body"]],
  ])("%j: 422", async (body, loc) => {
    const answer = await create(body)
    expect(answer.status).toBe(422)
    expect((answer.body as { detail: { loc: unknown }[] }).detail[0]?.loc).toEqual(loc)
  })

  test.each(["", "{", "{]", '{"a":1} x', '{"a" 1}'])("%j is no JSON: 400", async (body) => {
    expect((await create(body)).status).toBe(400)
  })

  test.each(["messages_and_choices", "experimental_config"])(
    "%s nested a hundred thousand deep: 413",
    async (where) => {
      const deep = "[".repeat(100_000) + "]".repeat(100_000)
      const turns = where === "messages_and_choices" ? `{"role":"user","content":"x","deep":${deep}}` : ""
      const config = where === "experimental_config" ? `{"deep":${deep}}` : "{}"
      const groups = `[{"trajectories":[{"messages_and_choices":[${turns}],"reward":1}]}]`
      const body = `{"model_id":"${modelId}","trajectory_groups":${groups},"experimental_config":${config}}`
      const answer = await create(body)
      expect(answer).toMatchObject({ status: 413, body: { detail: expect.stringContaining("nested too deep") } })
    },
  )

  test("an unknown, deleted or foreign model: 404, and nothing is stored", async () => {
    const foreign = await newModel(opened.rival)
    const dead = await newModel(opened.acme)
    await opened.acme.delete(`/v1/preview/models/${dead.id}`)
    const before = await storedThings()
    for (const id of [foreign.id, dead.id, "5f0c3a80-0000-4000-8000-000000000000", "nonsense"]) {
      expect((await create({ model_id: id, trajectory_groups: groupsOf([0, 9]) })).status).toBe(404)
    }
    expect(await storedThings()).toEqual(before)
  })
})

describe("training-api 1.6: large and encoded bodies", () => {
  const body = () => JSON.stringify({ model_id: modelId, trajectory_groups: groupsOf([0, 1]) })
  const inject = (payload: Buffer, encoding: string) =>
    opened.app.server.inject({
      method: "POST",
      url,
      headers: {
        authorization: `Bearer ${opened.acme.key}`,
        "content-type": "application/json",
        "content-encoding": encoding,
      },
      payload,
    })

  test("gzip and zstd are decoded; another encoding is 415, a broken one 400", async () => {
    expect((await inject(gzipSync(body()), "gzip")).statusCode).toBe(200)
    expect((await inject(zstdCompressSync(body()), "zstd")).statusCode).toBe(200)
    expect((await inject(Buffer.from(body()), "rot13")).statusCode).toBe(415)
    expect((await inject(Buffer.from(body()), "gzip")).statusCode).toBe(400)
  })

  test("beyond the limit: 413, also when it only grows there by decoding; nothing is stored", async () => {
    const before = await storedThings()
    const bomb = gzipSync(`{"model_id":"${modelId}","trajectory_groups":[${" ".repeat(40 * 1024 * 1024)}]}`)
    expect((await inject(bomb, "gzip")).statusCode).toBe(413)
    expect((await create(" ".repeat(31 * 1024 * 1024))).status).toBe(413)
    expect(await storedThings()).toEqual(before)
  })

  test("20 MB are taken while other requests are answered", async () => {
    const trajectory = JSON.stringify(sampledTrajectory(1, 2000))
    const count = Math.floor((20 * 1024 * 1024) / trajectory.length)
    const large = `{"model_id":"${modelId}","trajectory_groups":[{"trajectories":[${Array.from({ length: count }, () => trajectory).join()}]}]}`
    let done = false
    const answer = create(large).finally(() => (done = true))
    let answeredMeanwhile = 0
    while (!done) {
      expect((await opened.acme.get("/v1/health")).status).toBe(200)
      answeredMeanwhile += 1
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
    const { status, body: job } = await answer
    expect(status).toBe(200)
    expect(await dataLines((job as { id: string }).id)).toHaveLength(count)
    expect(answeredMeanwhile).toBeGreaterThan(10)
  })
})

describe("training-api 2.2: experimental_config", () => {
  test("nothing set, or everything null: every default", async () => {
    const defaults = {
      learning_rate: 5e-6,
      loss_fn: "cispo",
      epsilon: 1,
      epsilon_high: 4,
      importance_sampling_level: "token",
      advantage_balance: 0,
      scale_rewards: true,
      max_negative_advantage_importance_sampling_weight: null,
      mask_prob_ratio: false,
      kimi_k2_tau: null,
      precalculate_logprobs: false,
      truncated_importance_sampling: null,
      kl_penalty_coef: 0,
      kl_penalty_source: "current_learner",
      allow_training_without_logprobs: false,
      logprob_calculation_chunk_size: 1024,
      packed_sequence_length: null,
      num_trajectories_learning_rate_multiplier_power: 0,
      learning_rate_multiplier: 1,
      loss_type: "bnpo",
      max_completion_length: null,
      normalize_by_length: true,
      grad_accumulation_sequences: 1,
    }
    const nulls = {
      learning_rate: null,
      loss_fn: null,
      ppo: null,
      epsilon: null,
      kl_penalty_reference_step: null,
      plot_tensors: null,
      loss_type: null,
      max_completion_length: null,
      normalize_by_length: null,
      grad_accumulation_sequences: null,
    }
    for (const asked of [{}, nulls]) {
      const { config, warnings } = await configFor(asked)
      expect(config).toMatchObject({ engine: defaults, kl_reference: null })
      expect(warnings).toEqual([])
    }
  })

  test.each([
    [{ ppo: true }, { loss_fn: "ppo", epsilon: 0.2, epsilon_high: 0.2 }],
    [
      { loss_fn: "ppo", epsilon: 0.3 },
      { epsilon: 0.3, epsilon_high: 0.3 },
    ],
    [
      { loss_fn: "ppo", ppo: true, epsilon_high: 0.28 },
      { epsilon: 0.2, epsilon_high: 0.28 },
    ],
    [{ scale_rewards: false }, { scale_rewards: false }],
    [{ normalize_advantages: false }, { scale_rewards: false }],
    [{ scale_rewards: true, normalize_advantages: true }, { scale_rewards: true }],
    [
      { kl_penalty_coef: 0.1, kl_penalty_source: "sample" },
      { kl_penalty_coef: 0.1, kl_penalty_source: "sample" },
    ],
    [{ packed_sequence_length: 4096 }, { packed_sequence_length: 4096 }],
    [
      { advantage_balance: -1, kimi_k2_tau: 0.5 },
      { advantage_balance: -1, kimi_k2_tau: 0.5 },
    ],
    [{ loss_type: "grpo" }, { loss_type: "grpo", max_completion_length: null }],
    [
      { loss_type: "dr_grpo", max_completion_length: 512, normalize_by_length: false },
      { loss_type: "dr_grpo", max_completion_length: 512, normalize_by_length: false },
    ],
    [{ grad_accumulation_sequences: 8 }, { grad_accumulation_sequences: 8 }],
  ])("%j becomes %j, and there is nothing to warn of", async (asked, engine) => {
    const { config, warnings } = await configFor(asked)
    expect(config.engine).toMatchObject(engine)
    expect(warnings).toEqual([])
  })

  test("unknown settings are stored as sent and named in a warning", async () => {
    const asked = { learning_rate: 1e-5, mystery: [1], nothing: null, valueOf: 1 }
    const { requested_config, warnings } = await configFor(asked)
    expect(requested_config).toEqual(asked)
    expect(warnings).toEqual([
      "experimental_config.mystery is not known here and has no effect",
      "experimental_config.valueOf is not known here and has no effect",
    ])
  })

  test.each([
    [{ loss_fn: "grpo" }, "loss_fn"],
    [{ loss_fn: "cispo", ppo: true }, "loss_fn"],
    [{ loss_fn: "ppo", ppo: false }, "loss_fn"],
    [{ importance_sampling_level: "word" }, "importance_sampling_level"],
    [{ advantage_balance: 1.5 }, "advantage_balance"],
    [{ learning_rate: -1 }, "learning_rate"],
    [{ learning_rate: "5e-6" }, "learning_rate"],
    [{ kl_penalty_reference_step: 0, kl_penalty_step_lag: 1 }, "kl_penalty_reference_step"],
    [{ kl_penalty_reference_step: 1_000_000 }, "kl_penalty_reference_step"],
    [{ kl_penalty_reference_step: 2 ** 31 }, "kl_penalty_reference_step"],
    [{ kl_ref_adapter_path: "wandb-artifact:///acme/tests/absent:step99999999999" }, "kl_ref_adapter_path"],
    [{ kl_ref_adapter_path: "wandb-artifact:///acme/zero\0/absent:step1" }, "kl_ref_adapter_path"],
    [{ kl_penalty_step_lag: 0 }, "kl_penalty_step_lag"],
    [{ kl_ref_adapter_path: "/home/me/adapter" }, "kl_ref_adapter_path"],
    [{ kl_ref_adapter_path: "wandb-artifact:///acme/tests/absent:step0" }, "kl_ref_adapter_path"],
    [{ packed_sequence_length: 1500 }, "packed_sequence_length"],
    [{ mask_prob_ratio: 1 }, "mask_prob_ratio"],
    [{ loss_type: "dapo" }, "loss_type"],
    [{ loss_type: "dr_grpo", max_completion_length: 0 }, "max_completion_length"],
    [{ loss_type: "dr_grpo", max_completion_length: 1.5 }, "max_completion_length"],
    [{ normalize_by_length: 1 }, "normalize_by_length"],
    [{ num_trajectories_learning_rate_multiplier_power: 11 }, "num_trajectories_learning_rate_multiplier_power"],
    [{ grad_accumulation_sequences: 0 }, "grad_accumulation_sequences"],
    [{ grad_accumulation_sequences: "2" }, "grad_accumulation_sequences"],
  ])("%j: 422 on %s", async (experimentalConfig, field) => {
    const { status, body } = await create({
      model_id: modelId,
      trajectory_groups: groupsOf([0, 1]),
      experimental_config: experimentalConfig,
    })
    expect(status).toBe(422)
    expect((body as { detail: { loc: unknown }[] }).detail[0]?.loc).toEqual(["body", "experimental_config", field])
  })

  test.each([
    [{ loss_type: "dr_grpo" }, ['loss_type "dr_grpo"', "max_completion_length"]],
    [{ loss_type: "dr_grpo", max_completion_length: null }, ['loss_type "dr_grpo"', "max_completion_length"]],
    [{ max_completion_length: 512 }, ['loss_type "bnpo"', "max_completion_length, 512", 'loss_type "dr_grpo"']],
    [{ loss_type: "grpo", max_completion_length: 512 }, ['loss_type "grpo"', "max_completion_length, 512"]],
  ])("%j: 422 that names both settings", async (asked, named) => {
    const { status, body } = await create({ model_id: modelId, trajectory_groups: [], experimental_config: asked })
    expect(status).toBe(422)
    const [issue] = (body as { detail: { loc: unknown; msg: string }[] }).detail
    expect(issue?.loc).toEqual(["body", "experimental_config", "max_completion_length"])
    for (const part of named) expect(issue?.msg).toContain(part)
  })

  test("KL references: a step that is there, a lag, a checkpoint of another model", async () => {
    const other = await newModel(opened.acme)
    expect((await configFor({ kl_penalty_reference_step: 0 })).config.kl_reference).toEqual({ step: 0 })
    expect((await configFor({ kl_penalty_step_lag: 3 })).config.kl_reference).toEqual({ lag: 3 })
    const uri = `wandb-artifact:///acme/tests/${other.name}:step0`
    expect((await configFor({ kl_ref_adapter_path: uri })).config.kl_reference).toEqual({ model_id: other.id, step: 0 })
  })

  test("another tenant's checkpoint is no KL reference", async () => {
    const foreign = await newModel(opened.rival)
    const uri = `wandb-artifact:///rival/tests/${foreign.name}:step0`
    const { status } = await create({
      model_id: modelId,
      trajectory_groups: [],
      experimental_config: { kl_ref_adapter_path: uri },
    })
    expect(status).toBe(422)
  })

  test("training-api 7.6: scaling by reward deviation reads the history of train/reward_std_dev", async () => {
    const { id } = await newModel(opened.acme)
    const { catalog } = opened.app.stores
    for (const [step, deviation] of [
      [1, 0.4],
      [2, 0.3],
      [3, 0.2],
    ] as const) {
      const metrics = JSON.stringify({ "train/reward_std_dev": deviation })
      await catalog
        .insertInto("checkpoints")
        .values({ model_id: id, step, metrics, path: null, size_bytes: 0 })
        .execute()
    }
    const { body } = await create({
      model_id: id,
      trajectory_groups: groupsOf([0, 1]),
      experimental_config: { scale_learning_rate_by_reward_std_dev: true },
    })
    const { config } = await storedJob((body as { id: string }).id)
    // The history is the line 0.5 − 0.1·step: 0.2 at the last step, divided by the intercept 0.5.
    expect((config.engine as { learning_rate_multiplier: number }).learning_rate_multiplier).toBeCloseTo(0.4, 12)
  })
})
