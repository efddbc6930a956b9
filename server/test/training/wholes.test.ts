/** A Qwen3.5 as the hub has it, with what reads pictures: its text is sampled, trained and exported by the real engine. */
import { execFile } from "node:child_process"
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import path from "node:path"
import { promisify } from "node:util"
import { afterAll, beforeAll, expect, test } from "vitest"
import { downloadedStep, trainedOnAnswers } from "../support/sampled-training.ts"
import { openTestApp, type TestApp } from "../support/test-app.ts"

const engine = path.resolve(import.meta.dirname, "../../../engine")
const python = process.env["HEDDLE_PYTHON"] ?? path.join(engine, ".venv/bin/python")
const run = promisify(execFile)
const question = { role: "user", content: "what do you read?" }

let folder: string
let real: TestApp
let id: string
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "heddle-wholes-"))
  const make =
    "import sys, pathlib; from tests.models import make_model; make_model('qwen3_5_whole', pathlib.Path(sys.argv[1]))"
  const env = { ...process.env, HF_HUB_OFFLINE: "1" }
  await run(python, ["-c", make, path.join(folder, "model")], { cwd: engine, env })
  real = await openTestApp({ engine: "process", python, baseModels: ["*"] })
  const named = { project: "tests", name: "whole", base_model: path.join(folder, "model") }
  const answer = await real.acme.post("/v1/preview/models", named)
  expect(answer.status, JSON.stringify(answer.body)).toBe(200)
  id = (answer.body as { id: string }).id
}, 300_000)
afterAll(async () => {
  await real.close()
  await rm(folder, { recursive: true, force: true })
})

const chat = (step: number, settings: object) =>
  real.acme.post("/v1/chat/completions", {
    model: `wandb-artifact:///acme/tests/whole:step${step}`,
    messages: [question],
    max_tokens: 12,
    ignore_eos: true,
    ...settings,
  })

const downloaded = (format: string) => downloadedStep(real, id, format, folder)

test("inference-api 4: a message with a picture is refused by the name of its part", { timeout: 120_000 }, async () => {
  const parts = [
    { type: "text", text: "what is this?" },
    { type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } },
  ]
  const answer = await chat(0, { messages: [{ role: "user", content: parts }] })
  expect(answer.status).toBe(400)
  expect(answer.body).toMatchObject({
    error: {
      message: "Content part 'image_url' is not supported: models are given text only.",
      param: "messages[0].content[1]",
    },
  })
})

test(
  "RL trains what was sampled; adapters and merged models have the names of the whole",
  { timeout: 300_000 },
  async () => {
    const sampled = await chat(0, { n: 6, temperature: 1, logprobs: true })
    expect(sampled.status, JSON.stringify(sampled.body)).toBe(200)
    const { choices } = sampled.body as { choices: object[] }
    const step = await trainedOnAnswers(real, id, question, choices)
    expect(step?.["num_trainable_tokens"]).toBe(6 * 12)
    expect(step?.["mismatch_rms"]).toBeLessThan(1e-5)
    expect((await chat(1, { temperature: 0 })).status).toBe(200)

    const list = "import sys; from safetensors import safe_open; print(*safe_open(sys.argv[1], 'np').keys())"
    await run("tar", ["-xf", await downloaded("merged"), "-C", folder])
    const merged = path.join(folder, "whole-step1-merged")
    const names = (await run(python, ["-c", list, path.join(merged, "model.safetensors")])).stdout.split(" ")
    const before = (await run(python, ["-c", list, path.join(folder, "model/model.safetensors")])).stdout.split(" ")
    expect(names.toSorted()).toEqual(before.toSorted())
    expect(names.some((name) => name.startsWith("model.visual."))).toBe(true)

    const adapter = await real.app.server.inject({
      url: `/v1/preview/models/${id}/checkpoints/1/files/adapter_model.safetensors`,
      headers: { authorization: `Bearer ${real.acme.key}` },
    })
    await writeFile(path.join(folder, "adapter.safetensors"), adapter.rawPayload)
    const changed = (await run(python, ["-c", list, path.join(folder, "adapter.safetensors")])).stdout.trim().split(" ")
    expect(changed.every((name) => name.startsWith("base_model.model.model.language_model.layers."))).toBe(true)
  },
)
