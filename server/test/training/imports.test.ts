/** Adapters that peft made become steps of a model, by the real engine, by route and by command. */
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import path from "node:path"
import { afterAll, beforeAll, expect, test } from "vitest"
import { readCheckpoint } from "../../src/wire/training/checkpoint.ts"
import { runProgram } from "../support/run-program.ts"
import { type Caller, openTestApp, type TestApp } from "../support/test-app.ts"
import { newModel, sampledTrajectory, trained } from "../support/training-app.ts"

const engineFolder = path.resolve(import.meta.dirname, "../../../engine")
const python = process.env["HEDDLE_PYTHON"] ?? path.join(engineFolder, ".venv/bin/python")
const shipped = path.join(engineFolder, "models/heddle-tiny")
const command = path.resolve(import.meta.dirname, "../../../scripts/heddle.mjs")
const script = path.join(import.meta.dirname, "../support/make-adapters.py")
const questions = ["3 + 4 = ?", "10 + 2 = ?", "hello", "What is your name?"]

let folder: string
let real: TestApp
let url: string
let prompts: number[][]
/** Tokens that peft samples with the adapter, for each question. */
let expected: number[][]
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "heddle-imports-"))
  real = await openTestApp({ engine: "process", python })
  url = await real.app.server.listen({ port: 0, host: "127.0.0.1" })
  const { name } = await newModel(real.acme)
  prompts = await Promise.all(questions.map(async (question) => (await greedy(name, 0, question)).prompt_token_ids))
  const input = JSON.stringify(prompts)
  const stdout = await runProgram(python, [script, shipped, path.join(folder, "adapter")], { cwd: folder, input })
  expected = JSON.parse(stdout.trim().split("\n").at(-1) ?? "") as number[][]
}, 300_000)
afterAll(async () => {
  await real.close()
  await rm(folder, { recursive: true, force: true })
})

async function greedy(name: string, step: number, content: string) {
  const model = `wandb-artifact:///acme/tests/${name}:step${step}`
  const settings = { max_tokens: 5, temperature: 0 }
  const answer = await real.acme.post("/v1/chat/completions", {
    model,
    messages: [{ role: "user", content }],
    ...settings,
  })
  const [choice] = (answer.body as { choices: { prompt_token_ids: number[]; token_ids: number[] }[] }).choices
  if (choice === undefined) throw new Error(`no choice: ${JSON.stringify(answer.body)}`)
  return choice
}

async function sampledAt(name: string, step: number): Promise<number[][]> {
  return Promise.all(questions.map(async (question) => (await greedy(name, step, question)).token_ids))
}

/** Tokens of peft, cut to the length of the server's answers, because peft does not stop at the end of a turn. */
const byPeft = (sampled: number[][]) => sampled.map(({ length }, index) => expected[index]?.slice(0, length))

async function packed(...args: string[]): Promise<Buffer> {
  await runProgram("tar", ["-cf", "upload.tar", ...args], { cwd: folder })
  return readFile(path.join(folder, "upload.tar"))
}

async function upload(model: string, body: Buffer, query = "", caller: Caller = real.acme) {
  const answer = await fetch(`${url}/v1/preview/models/${model}/checkpoints?${query}`, {
    method: "POST",
    headers: { authorization: `Bearer ${caller.key}`, "content-type": "application/x-tar" },
    body: new Uint8Array(body),
  })
  return { status: answer.status, body: (await answer.json()) as { detail?: string } }
}

test(
  "an adapter of peft is served as the next step, samples what peft samples, and is trained on",
  { timeout: 240_000 },
  async () => {
    const { id, name } = await newModel(real.acme)
    const { status, body } = await upload(id, await packed("adapter"))
    expect([status, readCheckpoint.parse(body)]).toMatchObject([
      200,
      { step: 1, job_id: null, base_model: "heddle/tiny", artifact: `wandb-artifact:///acme/tests/${name}:step1` },
    ])
    const sampled = await sampledAt(name, 1)
    expect(sampled).toEqual(byPeft(sampled))
    expect(sampled).not.toEqual(await sampledAt(name, 0))
    await trained(real.acme, id, [{ trajectories: [sampledTrajectory(0, 8), sampledTrajectory(1, 3)] }])
    const latest = await real.acme.get(`/v1/preview/models/${id}/checkpoints/latest`)
    expect(latest.body).toMatchObject({ step: 2 })
    // The next step was trained in the same modules as the import.
    const files = await real.acme.get(`/v1/preview/models/${id}/checkpoints/2/files`)
    expect(files.body).toMatchObject({ step: 2 })
    const config = await real.acme.get(`/v1/preview/models/${id}/checkpoints/1/files/adapter_config.json`)
    const targets = ["down_proj", "q_proj", "v_proj"]
    expect(JSON.parse(config.body as string)).toMatchObject({ r: 4, lora_alpha: 16, target_modules: targets })
    await real.restart()
    expect(await sampledAt(name, 1)).toEqual(sampled)
    url = await real.app.server.listen({ port: 0, host: "127.0.0.1" })
  },
)

test("the command takes a folder, and a step of its own; a step is not replaced", { timeout: 120_000 }, async () => {
  const { id, name } = await newModel(real.acme)
  const env = { ...process.env, HEDDLE_URL: url, HEDDLE_API_KEY: real.acme.key }
  const args = ["import", "--what", "checkpoint", "--project", "acme/tests", "--name", name, "--in", "adapter"]
  expect(await runProgram(process.execPath, [command, ...args, "--step", "5"], { cwd: folder, env })).toBe(
    `step 5 of ${name}: wandb-artifact:///acme/tests/${name}:step5\n`,
  )
  const again = await upload(id, await packed("adapter"), "step=5")
  expect(again).toMatchObject({ status: 409, body: { detail: expect.stringContaining("choose 6 or a higher one") } })
  const pickle = [command, ...args.slice(0, -1), "adapter-pickle"]
  await expect(runProgram(process.execPath, pickle, { cwd: folder, env })).rejects.toThrow(
    /adapter_model.bin, a pickle/,
  )
})

test(
  "an adapter that cannot be served is refused with its fault, and no step or file is left",
  { timeout: 120_000 },
  async () => {
    const { id } = await newModel(real.acme)
    const { id: foreign } = await newModel(real.rival)
    const refusals: [Buffer, number, RegExp][] = [
      [await packed("adapter-pickle"), 400, /adapter_model.bin, a pickle, which can run code/],
      [await packed("adapter-rank"), 400, /layer 0 \w+ has rank 4, and adapter_config.json says 8/],
      [
        await packed("-P", "--transform", "s,^adapter,../adapter,", "adapter"),
        400,
        /\.\.\/adapter.*which leads out of it/,
      ],
      [Buffer.from("no archive"), 400, /not a whole tar file/],
      [Buffer.alloc(0), 400, /tar|adapter_config.json/],
    ]
    for (const [body, status, reason] of refusals) {
      const answer = await upload(id, body)
      expect([answer.status, answer.body.detail]).toEqual([status, expect.stringMatching(reason)])
    }
    expect((await upload(foreign, await packed("adapter"))).status).toBe(404)
    expect((await upload(id, await packed("adapter"), "step=one")).status).toBe(422)
    const { body } = await real.acme.get(`/v1/preview/models/${id}/checkpoints`)
    expect((body as { data: { step: number }[] }).data.map(({ step }) => step)).toEqual([0])
    const { dataDir } = real.config
    expect(await readdir(path.join(dataDir, "checkpoint-imports"))).toEqual([])
    expect(await readdir(path.join(dataDir, "checkpoints", id)).catch(() => [])).toEqual([])
  },
)
