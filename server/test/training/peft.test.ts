/** peft computes the server's log-probabilities with a checkpoint that the real engine trained. */
import { execFile } from "node:child_process"
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import path from "node:path"
import { promisify } from "node:util"
import { afterAll, beforeAll, expect, test } from "vitest"
import { openTestApp, type TestApp } from "../support/test-app.ts"
import { newModel, sampledTrajectory, trained } from "../support/training-app.ts"

const run = promisify(execFile)
const engineFolder = path.resolve(import.meta.dirname, "../../../engine")
const python = process.env["HEDDLE_PYTHON"] ?? path.join(engineFolder, ".venv/bin/python")

let folder: string
let real: TestApp
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "heddle-peft-"))
  real = await openTestApp({ engine: "process", python })
}, 60_000)
afterAll(async () => {
  await real.close()
  await rm(folder, { recursive: true, force: true })
})

test(
  "peft computes what the server computed: the same log-probabilities of the same tokens",
  { timeout: 300_000 },
  async () => {
    const { id, name: trainedName } = await newModel(real.acme)
    const model = `wandb-artifact:///acme/tests/${trainedName}`
    await trained(real.acme, id, [{ trajectories: [sampledTrajectory(0, 8), sampledTrajectory(1, 3)] }])
    const chat = async (step: number) => {
      const messages = [{ role: "user", content: "3 + 4 = ?" }]
      const body = { model: `${model}:step${step}`, messages, max_tokens: 8, temperature: 0, logprobs: true }
      const answer = await real.acme.post("/v1/chat/completions", body)
      const { choices } = answer.body as {
        choices: {
          prompt_token_ids: number[]
          token_ids: number[]
          logprobs: { content: { logprob: number }[] }
        }[]
      }
      const [choice] = choices
      if (choice === undefined) throw new Error(`no choice: ${JSON.stringify(answer.body)}`)
      return { ...choice, logprobs: choice.logprobs.content.map(({ logprob }) => logprob) }
    }
    const [before, served] = [await chat(0), await chat(1)]
    expect(served.logprobs).not.toEqual(before.logprobs)

    const archive = await real.app.server.inject({
      url: `/v1/preview/models/${id}/checkpoints/latest/download`,
      headers: { authorization: `Bearer ${real.acme.key}` },
    })
    await writeFile(path.join(folder, "step.tar"), archive.rawPayload)
    await run("tar", ["-xf", "step.tar"], { cwd: folder })
    const script = path.join(import.meta.dirname, "../support/peft-logprobs.py")
    const base = path.join(engineFolder, "models/heddle-tiny")
    const ids = [served.prompt_token_ids, served.token_ids].map((list) => JSON.stringify(list))
    const { stdout } = await run(python, [script, base, path.join(folder, `${trainedName}-step1`), ...ids])
    const computed = JSON.parse(stdout.trim().split("\n").at(-1) ?? "") as number[]
    expect(computed).toHaveLength(served.logprobs.length)
    for (const [place, logprob] of served.logprobs.entries()) expect(computed[place]).toBeCloseTo(logprob, 4)
  },
)
