/** Merged weights and GGUF files that the real engine writes load in transformers and the reader of gguf. */
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import path from "node:path"
import { afterAll, beforeAll, expect, test } from "vitest"
import { runProgram } from "../support/run-program.ts"
import { openTestApp, type TestApp } from "../support/test-app.ts"
import { newModel, sampledTrajectory, trained } from "../support/training-app.ts"

const engineFolder = path.resolve(import.meta.dirname, "../../../engine")
const python = process.env["HEDDLE_PYTHON"] ?? path.join(engineFolder, ".venv/bin/python")
const shipped = path.join(engineFolder, "models/heddle-tiny")

interface Sampled {
  prompt: number[]
  tokens: number[]
}

let folder: string
let real: TestApp
let name: string
let id: string
let served: Sampled[]
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "heddle-exports-"))
  real = await openTestApp({ engine: "process", python })
  const model = await newModel(real.acme)
  id = model.id
  name = model.name
  await trained(real.acme, id, [{ trajectories: [sampledTrajectory(0, 8), sampledTrajectory(1, 3)] }])
  served = await Promise.all(Array.from({ length: 50 }, (_, index) => greedy(`${index} + ${(index * 7) % 23} = ?`)))
}, 240_000)
afterAll(async () => {
  await real.close()
  await rm(folder, { recursive: true, force: true })
})

async function greedy(content: string): Promise<Sampled> {
  const model = `wandb-artifact:///acme/tests/${name}:step1`
  const body = { model, messages: [{ role: "user", content }], max_tokens: 6, temperature: 0 }
  const answer = await real.acme.post("/v1/chat/completions", body)
  const [choice] = (answer.body as { choices: { prompt_token_ids: number[]; token_ids: number[] }[] }).choices
  if (choice === undefined) throw new Error(`no choice: ${JSON.stringify(answer.body)}`)
  return { prompt: choice.prompt_token_ids, tokens: choice.token_ids }
}

const run = (command: string, args: string[], input = "") => runProgram(command, args, { cwd: folder, input })

const checks = path.join(import.meta.dirname, "../support/check-exports.py")

async function download(query: string): Promise<{ file: string; headers: Record<string, unknown> }> {
  const answer = await real.app.server.inject({
    url: `/v1/preview/models/${id}/checkpoints/latest/download?${query}`,
    headers: { authorization: `Bearer ${real.acme.key}` },
  })
  if (answer.statusCode !== 200) throw new Error(answer.body)
  const named = /filename="(.+)"/.exec(String(answer.headers["content-disposition"]))?.[1] ?? ""
  await writeFile(path.join(folder, named), answer.rawPayload)
  expect(Number(answer.headers["content-length"])).toBe(answer.rawPayload.length)
  return { file: named, headers: answer.headers }
}

test(
  "merged weights in 32 bits sample in transformers what the step samples here: 50 prompts, each token",
  { timeout: 240_000 },
  async () => {
    const { file, headers } = await download("format=merged&dtype=float32")
    expect([file, headers["content-type"]]).toEqual([`${name}-step1-merged-float32.tar`, "application/x-tar"])
    await run("tar", ["-xf", file])
    const merged = path.join(folder, `${name}-step1-merged-float32`)
    expect((await readdir(merged)).toSorted()).toEqual([
      "chat_template.jinja",
      "config.json",
      "generation_config.json",
      "model.safetensors",
      "tokenizer.json",
      "tokenizer_config.json",
    ])

    const files: string[] = []
    for (const dtype of ["float32", "float16", "bfloat16"]) {
      files.push((await download(`format=gguf&dtype=${dtype}`)).file)
    }
    expect(files).toEqual(["float32", "float16", "bfloat16"].map((dtype) => `${name}-step1-${dtype}.gguf`))
    const stdout = await run(python, [checks, merged, ...files], JSON.stringify(served))
    const found = JSON.parse(stdout.trim().split("\n").at(-1) ?? "") as {
      merged: number[][]
      gguf: number[][]
      files: { kinds: string[]; distance: number; beside: string[] }[]
    }
    const sampled = served.map(({ tokens }) => tokens)
    expect(found.merged).toEqual(sampled)
    // Transformers converts the GGUF file back into weights, which sample the same.
    expect(found.gguf).toEqual(sampled)
    expect(found.files.map(({ kinds, beside }) => [kinds, beside])).toEqual([
      [["F32"], []],
      [["F16"], []],
      [["BF16"], []],
    ])
    const [exact, half, brief] = found.files.map(({ distance }) => distance)
    // Each value is rounded once, to 11 bits in F16 and to 8 bits in BF16.
    expect(exact).toBe(0)
    expect(half).toBeLessThanOrEqual(2 ** -11)
    expect(brief).toBeLessThanOrEqual(2 ** -8)
  },
)

test(
  "an export without a dtype has the base model's, and step 0 is the base model itself",
  { timeout: 120_000 },
  async () => {
    const { file } = await download("format=merged")
    await run("tar", ["-xf", file])
    const script =
      "import sys; from safetensors import safe_open; t = safe_open(sys.argv[1], 'np'); " +
      "print(sorted({t.get_slice(k).get_dtype() for k in t.keys()}))"
    expect(await run(python, ["-c", script, `${name}-step1-merged/model.safetensors`])).toBe("['F32']\n")
    const answer = await real.app.server.inject({
      url: `/v1/preview/models/${id}/checkpoints/0/download?format=merged`,
      headers: { authorization: `Bearer ${real.acme.key}` },
    })
    await writeFile(path.join(folder, "zero.tar"), answer.rawPayload)
    await run("tar", ["-xf", "zero.tar"])
    const compare =
      "import sys, numpy; from safetensors.numpy import load_file; a, b = map(load_file, sys.argv[1:]); " +
      "alike = lambda x, y: x.dtype == y.dtype and numpy.array_equal(x, y); " +
      "print(a.keys() == b.keys() and all(alike(a[k], b[k]) for k in a))"
    const files = [`${name}-step0-merged/model.safetensors`, `${shipped}/model.safetensors`]
    expect(await run(python, ["-c", compare, ...files])).toBe("True\n")
  },
)
