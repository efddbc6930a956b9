/** RL training tokens a second on groups that share their prompts: the engine against plain peft and TRL. */
import { baseModel, modelSizes } from "./harness/base-models.ts"
import { engineVersions, enginePython, hfPython, peerVersions } from "./harness/environments.ts"
import { machineCores } from "./harness/machine.ts"
import { median, pairwiseRatio, progress, takeTurns, type Contender } from "./harness/measure.ts"
import { oneOf, type Options } from "./harness/options.ts"
import { fromRoot, temporaryFolder } from "./harness/paths.ts"
import { type PythonWorker, startWorker } from "./harness/python-worker.ts"
import { atLeast, atMost, type Findings, measurement, type Measurement } from "./harness/result.ts"

export const options = {
  model: { type: "string", default: "small" },
  groups: { type: "string", default: "8" },
  size: { type: "string", default: "4" },
  prompt: { type: "string", default: "256" },
  rounds: { type: "string", default: "3" },
  /** Measure TRL too: several minutes. */
  trl: { type: "boolean", default: false },
} as const

interface Workload {
  groups: number
  size: number
  prompt: number
}

interface Job {
  seconds: number
  step_seconds: number
  steps: { grad_norm: number }[]
  checkpoint: string
}

export async function run(given: Options): Promise<Findings> {
  const base = await baseModel(oneOf(modelSizes, given, "model"))
  const workload = { groups: Number(given["groups"]), size: Number(given["size"]), prompt: Number(given["prompt"]) }
  using folder = temporaryFolder()
  const adapter = `${folder.path}/adapter`
  const data = `${folder.path}/data.jsonl`
  const hf = await hfPython()
  await using plain = startWorker(hf, "plain_training.py", "plain-training")
  await plain.call("load", { base: base.folder, adapter, threads: machineCores() })
  const made = await plain.call<{ sha256: string; tokens: number; trained_tokens: number }>("prepare", {
    data,
    ...workload,
  })
  await using engine = startWorker(await enginePython(), "heddle_training.py", "heddle-training", {
    PYTHONPATH: fromRoot("engine"),
  })
  const jobs = { base: base.folder, adapter, data, sha256: made.sha256, folder: `${folder.path}/jobs` }
  await engine.call("load", { ...jobs, threads: machineCores() })

  const stepSeconds: number[] = []
  let last: Job | null = null
  const contenders: Contender[] = [
    {
      name: "heddle",
      pid: engine.pid,
      async run(round) {
        last = await engine.call<Job>("job", { number: round })
        if (round > 0) stepSeconds.push(last.step_seconds)
        return made.tokens
      },
    },
    { name: "peft", pid: plain.pid, run: async () => (await plain.call("step"), made.tokens) },
  ]
  const samples = await takeTurns(contenders, Number(given["rounds"]))
  const own = (samples.get("heddle") ?? []).map((sample) => sample.rate)
  const peft = (samples.get("peft") ?? []).map((sample) => sample.rate)
  const gradient = await plain.call<{ relative_error: number; parameters: number }>("compare", {
    checkpoint: (last as Job | null)?.checkpoint,
  })
  const perCpu = (name: string) =>
    (samples.get(name) ?? []).map((sample) => made.tokens / (sample.cpuSeconds ?? Number.NaN))
  const ratio = pairwiseRatio(own, peft)
  const measurements: Measurement[] = [
    measurement("Heddle, whole job (data, step, checkpoint)", "tokens/s", own),
    measurement("Heddle, to the last gradient step", "tokens/s", stepSeconds.map((seconds) => made.tokens / seconds)),
    measurement("peft + transformers with logits_to_keep", "tokens/s", peft),
    measurement("Heddle", "tokens per CPU second", perCpu("heddle")),
    measurement("peft + transformers", "tokens per CPU second", perCpu("peft")),
    measurement("Heddle / peft", "×", ratio),
    measurement("Heddle / peft by CPU time", "×", pairwiseRatio(perCpu("heddle"), perCpu("peft"))),
    measurement("relative distance of the clipped gradients", "", [gradient.relative_error]),
  ]
  const bars = [
    atLeast("RL training tokens/s against plain peft", 3, median(ratio), "×"),
    atMost("gradient against plain peft", 1e-4, gradient.relative_error, "relative"),
  ]
  if (given["trl"]) {
    const trl = await runTrl(hf, base.folder, folder.path, workload, Number(given["rounds"]))
    const against = median(own) / median(trl)
    measurements.push(measurement("TRL GRPOTrainer, canned rollouts", "tokens/s", trl))
    measurements.push(measurement("Heddle / TRL", "×", [against]))
    bars.push(atLeast("RL training tokens/s against TRL", 3, against, "×"))
  }
  return {
    method: [
      `One optimizer step over ${workload.groups} groups of ${workload.size} completions (64 to 128 tokens) with shared prompts of ${workload.prompt} tokens: ` +
        `${made.tokens} trajectory tokens, ${made.trained_tokens} of them trained; LoRA rank 8 on all seven linear modules, fp32, CISPO.`,
      "Heddle runs whole jobs through its TrainingJob: it reads the data, takes the step, writes and syncs the checkpoint. The peer takes only the step, one group a micro-batch, and computes only the logits of completions.",
      "Tokens/s count every trajectory with its prompt, for all contenders alike. The gradient is compared before AdamW uses it.",
    ],
    versions: { ...engineVersions("torch"), ...peerVersions("hf", "transformers", "peft", "trl") },
    settings: { model: base.name.startsWith("/") ? "random Qwen3, 107 M" : base.name, ...workload, rounds: Number(given["rounds"]) },
    measurements,
    bars,
    caveats: given["trl"] ? ["TRL ran after the interleaved rounds, alone."] : [],
  }
}

/** Tokens/s of each of TRL's steps but the first, which warms up. */
async function runTrl(python: string, base: string, folder: string, workload: Workload, rounds: number): Promise<number[]> {
  progress("TRL GRPOTrainer …")
  await using worker: PythonWorker = startWorker(python, "trl_training.py", "trl-training")
  const trained = await worker.call<{ seconds: number[]; tokens: number }>("train", {
    base,
    folder: `${folder}/trl`,
    ...workload,
    steps: rounds + 1,
    threads: machineCores(),
  })
  return trained.seconds.slice(1).map((seconds) => trained.tokens / seconds)
}
