/** A mixture of experts (Qwen3-MoE) through the public surface, by the real engine: sampled, trained, served, exported. */
import { execFile } from "node:child_process"
import { mkdtemp, readFile, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import path from "node:path"
import { promisify } from "node:util"
import { afterAll, beforeAll, expect, test } from "vitest"
import { downloadedStep, trainedOnAnswers } from "../support/sampled-training.ts"
import { openTestApp, type TestApp } from "../support/test-app.ts"

const python = process.env["HEDDLE_PYTHON"] ?? path.resolve(import.meta.dirname, "../../../engine/.venv/bin/python")
const script = path.join(import.meta.dirname, "../support/make-mixture.py")
const run = promisify(execFile)

interface Choice {
  token_ids: number[]
  prompt_token_ids: number[]
}

let folder: string
let real: TestApp
let id: string
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "heddle-mixtures-"))
  await run(python, [script, folder], { env: { ...process.env, HF_HUB_OFFLINE: "1" } })
  real = await openTestApp({ engine: "process", python, baseModels: ["*"] })
  const named = { project: "tests", name: "mixture", base_model: path.join(folder, "model") }
  const answer = await real.acme.post("/v1/preview/models", named)
  expect(answer.status, JSON.stringify(answer.body)).toBe(200)
  id = (answer.body as { id: string }).id
}, 300_000)
afterAll(async () => {
  await real.close()
  await rm(folder, { recursive: true, force: true })
})

async function sampled(step: number, settings: object): Promise<Choice[]> {
  const model = `wandb-artifact:///acme/tests/mixture:step${step}`
  const body = { model, messages: [question], max_tokens: 12, ignore_eos: true, ...settings }
  const answer = await real.acme.post("/v1/chat/completions", body)
  if (answer.status !== 200) throw new Error(JSON.stringify(answer.body))
  return (answer.body as { choices: Choice[] }).choices
}

const question = { role: "user", content: "which expert?" }

const exported = (format: string) => downloadedStep(real, id, format, folder)

test(
  "training-api 7.6: RL trains the attention on what was sampled; the new step is served and exported",
  { timeout: 300_000 },
  async () => {
    const choices = await sampled(0, { n: 6, temperature: 1, logprobs: true })
    const step = await trainedOnAnswers(real, id, question, choices)
    expect(step?.["num_trainable_tokens"]).toBe(6 * 12)
    expect(step?.["mismatch_rms"]).toBeLessThan(1e-5)

    const config = await real.acme.get(`/v1/preview/models/${id}/checkpoints/1/files/adapter_config.json`)
    const attention = ["k_proj", "o_proj", "q_proj", "v_proj"]
    expect(JSON.parse(config.body as string)).toMatchObject({ r: 8, lora_alpha: 16, target_modules: attention })
    expect((await sampled(1, { temperature: 0 }))[0]?.token_ids).toHaveLength(12)

    const read =
      "import gguf, sys; r = gguf.GGUFReader(sys.argv[1]); " +
      "print(r.fields['qwen3moe.expert_count'].contents(), " +
      "next(t.shape.tolist() for t in r.tensors if t.name == 'blk.0.ffn_down_exps.weight'))"
    expect((await run(python, ["-c", read, await exported("gguf")])).stdout).toBe("8 [40, 64, 8]\n")
    const { stdout } = await run("tar", ["-xOf", await exported("merged"), "mixture-step1-merged/config.json"])
    expect(JSON.parse(stdout)).toMatchObject({ architectures: ["Qwen3MoeForCausalLM"], num_experts_per_tok: 3 })
  },
)

test("an adapter that changes the experts is refused by the name of its tensor", { timeout: 120_000 }, async () => {
  await run("tar", ["-cf", "adapter.tar", "adapter"], { cwd: folder })
  const answer = await real.app.server.inject({
    method: "POST",
    url: `/v1/preview/models/${id}/checkpoints?any_base=true`,
    headers: { authorization: `Bearer ${real.acme.key}`, "content-type": "application/x-tar" },
    payload: await readFile(path.join(folder, "adapter.tar")),
  })
  expect(answer.statusCode).toBe(400)
  expect(answer.json<{ detail: string }>().detail).toMatch(
    /layers\.0\.mlp\.experts\.\w+; .* LoRA on q_proj, k_proj, v_proj, o_proj; in a mixture .* is frozen/,
  )
})
