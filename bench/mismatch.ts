/** Measures how far log-probabilities of training are from those of sampling, and both from a plain forward pass. */
import { baseModel, modelSizes } from "./harness/base-models.ts"
import { engineVersions, hfPython, peerVersions } from "./harness/environments.ts"
import { type HeddleServer, startHeddle } from "./harness/heddle-server.ts"
import {
  type Choice,
  checkpointFolder,
  checkpointName,
  register,
  sampleChoices,
  submitJob,
  type TrainableModel,
  trajectoryGroup,
  waitForEvents,
} from "./harness/heddle-training.ts"
import { machineCores } from "./harness/machine.ts"
import { progress, rootMeanSquare } from "./harness/measure.ts"
import { count, type Dtype, dtypes, oneOf, type Options } from "./harness/options.ts"
import { temporaryFolder } from "./harness/paths.ts"
import { startWorker } from "./harness/python-worker.ts"
import { atMost, type Findings, measurement } from "./harness/result.ts"

export const options = {
  /** Base model: tiny or small. */
  model: { type: "string", default: "tiny" },
  /** Number format of engine and plain forward pass: fp32 or bf16. */
  dtype: { type: "string", default: "fp32" },
  /** How often the prompt says its question. */
  repeat: { type: "string", default: "1" },
  /** Training jobs, each on answers of the step before it. */
  jobs: { type: "string", default: "10" },
} as const

const QUESTION = "What is 3 + 4? "
/** The largest RMS in nats that rounding explains. */
const bars = { fp32: 1e-5, bf16: 0.02 }
/** High enough that every step clearly changes the adapter. */
const LEARNING_RATE = 2e-3
const ANSWERS = 8

export async function run(given: Options): Promise<Findings> {
  const base = await baseModel(oneOf(modelSizes, given, "model"))
  const jobs = count(given, "jobs")
  const dtype = oneOf(dtypes, given, "dtype")
  const prompt = QUESTION.repeat(count(given, "repeat")).trim()
  const data = temporaryFolder()
  await using server = await startHeddle(data, { env: { HEDDLE_ENGINE_DTYPE: dtype } })
  const model = await register(server, "mismatch", base.name)
  const rms: number[] = []
  let promptTokens = 0
  for (let step = 0; step < jobs; step++) {
    const choices = await sample(server, model, prompt, step)
    promptTokens = choices[0]?.prompt_token_ids.length ?? 0
    const group = trajectoryGroup(
      prompt,
      choices,
      choices.map((_, index) => index / ANSWERS),
    )
    const job = await submitJob(server, model, [group], { learning_rate: LEARNING_RATE })
    const events = await waitForEvents(server, job.id, "training_ended", 20)
    const first = events.find((event) => event.type === "gradient_step")
    rms.push(Number(first?.data["mismatch_rms"]))
    progress(`job ${step + 1}: mismatch ${rms.at(-1)?.toExponential(2)} nats`)
  }
  const distance = await distanceToPlain(
    { base: base.folder, dtype },
    checkpointFolder(data, model, jobs),
    await sample(server, model, prompt, jobs),
  )
  return {
    method: [
      `${jobs} jobs on one model, each on ${ANSWERS} answers that its newest step sampled over HTTP at temperature 1. Mismatch: root mean square, over a job's trained tokens, of the trainer's log-probability before the gradient step less the sampler's; the trainer's figure of each job's first step.`,
      "Then the last step answers once more, and a plain forward pass of transformers with peft, from the checkpoint's PEFT folder, scores the same tokens.",
    ],
    versions: { ...engineVersions("torch"), ...peerVersions("hf", "transformers", "peft") },
    settings: { model: base.title, ...(dtype !== "fp32" && { variant: dtype }), jobs, prompt: promptTokens, dtype },
    measurements: [
      measurement("sampled against trained, RMS", "nats", rms),
      measurement("sampled against a plain forward pass, RMS", "nats", [distance]),
    ],
    bars: [atMost("mismatch between sampled and trained, worst job", bars[dtype], Math.max(...rms), "nats")],
    caveats: [],
  }
}

const sample = (server: HeddleServer, model: TrainableModel, prompt: string, step: number) =>
  sampleChoices(server, checkpointName(model, step), prompt, {
    n: ANSWERS,
    max_tokens: 64,
    seed: step,
  })

async function distanceToPlain(
  { base, dtype }: { base: string; dtype: Dtype },
  adapter: string,
  choices: Choice[],
): Promise<number> {
  await using plain = startWorker(await hfPython(), "peft_generate.py", "peft-logprobs")
  await plain.call("load", { base, adapters: { last: adapter }, threads: machineCores(), dtype })
  const distances: number[] = []
  for (const choice of choices) {
    const params = {
      prompt_ids: choice.prompt_token_ids,
      token_ids: choice.token_ids,
      adapter: "last",
    }
    const logprobs = await plain.call<number[]>("logprobs", params)
    distances.push(...choice.logprobs.content.map((token, place) => token.logprob - (logprobs[place] ?? Number.NaN)))
  }
  return rootMeanSquare(distances)
}
