/** Compares RL training tokens a second, on groups that share a prompt: the engine, plain peft, and TRL. */
import { baseModel, modelSizes } from "./harness/base-models.ts"
import { engineVersions, enginePython, hfPython, peerVersions } from "./harness/environments.ts"
import { machineCores } from "./harness/machine.ts"
import { type Contender, median, pairwiseRatio, rates, type Sample, takeTurns } from "./harness/measure.ts"
import { count, type Dtype, dtypes, oneOf, type Options } from "./harness/options.ts"
import { fromRoot, temporaryFolder } from "./harness/paths.ts"
import { startWorker } from "./harness/python-worker.ts"
import { atLeast, atMost, type Bar, type Findings, measurement, type Measurement } from "./harness/result.ts"

export const options = {
  /** Base model: tiny or small. */
  model: { type: "string", default: "small" },
  /** Groups of trajectories in a step. */
  groups: { type: "string", default: "8" },
  /** Trajectories in a group. */
  size: { type: "string", default: "4" },
  /** Tokens of the prompt that a group shares; 2048 with --groups 1 --size 8 is the case of long prompts. */
  prompt: { type: "string", default: "256" },
  /** How often each trainer is timed. */
  rounds: { type: "string", default: "3" },
  /** Number format of all trainers: fp32 or bf16. In bf16 the engine's fp32 is measured too. */
  dtype: { type: "string", default: "fp32" },
  /** Leave out TRL. */
  "no-trl": { type: "boolean", default: false },
} as const

/** The largest relative difference of gradients that rounding explains in fp32. */
const gradientBar = 1e-4

/** In bf16: how much further from fp32 than peft's the engine's gradient may be. Each rounds in another order. */
const roundingBar = 1.1

/** The bar against peers that compute a prompt once for each completion: higher where the prompt is most of the work. */
const ratioBar = ({ size, prompt }: Workload) => (size >= 8 && prompt >= 2048 ? 6 : 3)

interface Workload {
  groups: number
  size: number
  prompt: number
}

/** The rollouts that all contenders train on. */
interface Rollouts {
  sha256: string
  tokens: number
  trained_tokens: number
}

interface Distance {
  relative_error: number
}

/** Relative distances from the gradient that peft computes in fp32. */
interface Unrounded {
  heddle: number
  peft: number
}

interface Gradients {
  /** Heddle's from peft's. */
  apart: number
  /** null: both are in fp32. */
  fromFp32: Unrounded | null
}

interface Job {
  step_seconds: number
  checkpoint: string
}

export async function run(given: Options): Promise<Findings> {
  const base = await baseModel(oneOf(modelSizes, given, "model"))
  const workload = { groups: count(given, "groups"), size: count(given, "size"), prompt: count(given, "prompt") }
  const rounds = count(given, "rounds")
  const dtype = oneOf(dtypes, given, "dtype")
  const ownDtypes = dtype === "fp32" ? (["fp32"] as const) : (["bf16", "fp32"] as const)
  const threads = machineCores()
  const hf = await hfPython()
  const folder = temporaryFolder()
  const files = { adapter: `${folder}/adapter`, data: `${folder}/data.jsonl` }
  const logprobs = `${folder}/logprobs.json`
  await using workers = new AsyncDisposableStack()

  const plain = workers.use(startWorker(hf, "plain_training.py", "plain-training"))
  await plain.call("load", { base: base.folder, adapter: files.adapter, threads, dtype })
  const rollouts = await plain.call<Rollouts>("prepare", { data: files.data, logprobs, ...workload })

  const path = { PYTHONPATH: fromRoot("engine") }
  const engine = workers.use(startWorker(await enginePython(), "heddle_training.py", "heddle-training", path))
  const place = { folder: `${folder}/jobs`, sha256: rollouts.sha256 }
  await engine.call("load", { base: base.folder, ...files, ...place, threads, dtypes: ownDtypes })

  const jobs: Job[] = []
  const contenders: Contender[] = [
    ...ownDtypes.map((own) => ({
      name: own === dtype ? "heddle" : `heddle in ${own}`,
      pid: engine.pid,
      async run(round: number) {
        const job = await engine.call<Job>("job", { number: round, dtype: own })
        if (own === dtype) jobs.push(job)
        return rollouts.tokens
      },
    })),
    { name: "peft", pid: plain.pid, run: async () => (await plain.call("step"), rollouts.tokens) },
  ]
  if (!given["no-trl"]) {
    const trl = workers.use(startWorker(hf, "trl_training.py", "trl-training"))
    await trl.call("load", { base: base.folder, folder: `${folder}/trl`, ...workload, threads, dtype })
    contenders.push({ name: "trl", pid: trl.pid, run: async () => (await trl.call("step"), rollouts.tokens) })
  }
  const samples = await takeTurns(contenders, rounds)
  const checkpoint = jobs.at(-1)?.checkpoint
  const gradient = await plain.call<Distance>("compare", { checkpoint })
  const unrounded = async (): Promise<Unrounded> => {
    const exact = workers.use(startWorker(hf, "plain_training.py", "plain-training-fp32"))
    await exact.call("load", { base: base.folder, adapter: `${folder}/exact`, threads, dtype: "fp32" })
    await exact.call("prepare_alike", { logprobs, ...workload })
    const file = `${folder}/gradient.safetensors`
    await plain.call("save_gradient", { file })
    const heddle = await exact.call<Distance>("compare", { checkpoint })
    const peft = await exact.call<Distance>("compare_saved", { file })
    return { heddle: heddle.relative_error, peft: peft.relative_error }
  }
  const gradients = { apart: gradient.relative_error, fromFp32: dtype === "fp32" ? null : await unrounded() }
  return {
    method: method(workload, rollouts, dtype),
    versions: { ...engineVersions("torch"), ...peerVersions("hf", "transformers", "peft", "trl") },
    settings: { model: base.title, ...variantOf(workload, dtype), ...workload, dtype, rounds },
    ...compare(samples, rollouts.tokens, jobs.slice(1), { workload, gradients }),
    caveats: [],
  }
}

/** Empty for the usual workload in fp32, whatever the number of groups. */
function variantOf({ size, prompt }: Workload, dtype: Dtype): { variant?: string } {
  const isUsual = String(size) === options.size.default && String(prompt) === options.prompt.default
  const parts = [
    ...(isUsual ? [] : [`groups of ${size} on prompts of ${prompt}`]),
    ...(dtype === "fp32" ? [] : [dtype]),
  ]
  return parts.length === 0 ? {} : { variant: parts.join(", ") }
}

function method(workload: Workload, rollouts: Rollouts, dtype: Dtype): string[] {
  return [
    `One optimizer step over ${workload.groups} groups of ${workload.size} completions (64 to 128 random tokens) with shared prompts of ${workload.prompt} tokens: ` +
      `${rollouts.tokens} trajectory tokens, ${rollouts.trained_tokens} of them trained; LoRA rank 8 on all seven linear modules, learning rate 0; base model in ${dtype}, adapters in fp32.`,
    "heddle: whole jobs through the engine's TrainingJob with ART's CISPO loss, in process: reads the data, takes the step, writes and syncs the checkpoint.",
    "peft: a plain loop over transformers, a group a micro-batch up to 4,096 tokens and less where it has more, which is no slower, computing only the logits of completions; the same loss, from the same formulas. trl: GRPOTrainer with its default loss on the same tokens, in such micro-batches too, nothing generated. Both take only the step.",
    "Tokens/s count every trajectory with its prompt, for all alike. The gradients compared are those that AdamW sees, after clipping.",
    ...(dtype === "fp32"
      ? []
      : [
          "Both round, so both gradients are held against the one that peft computes in fp32 on the same rollouts with the same recorded log-probabilities.",
        ]),
  ]
}

function compare(
  samples: Map<string, Sample[]>,
  tokens: number,
  jobs: Job[],
  { workload, gradients: { apart, fromFp32 } }: { workload: Workload; gradients: Gradients },
): Pick<Findings, "measurements" | "bars"> {
  const rate = (name: string) => rates(samples.get(name))
  const perCpu = (name: string) => (samples.get(name) ?? []).map((sample) => tokens / (sample.cpuSeconds ?? Number.NaN))
  const names = [...samples.keys()]
  const stepRates = jobs.map((job) => tokens / job.step_seconds)
  const measurements: Measurement[] = [
    ...names.map((name) => measurement(name, "tokens/s", rate(name))),
    measurement("heddle, until the last gradient step", "tokens/s", stepRates),
    ...names.map((name) => measurement(name, "tokens per CPU second", perCpu(name))),
    measurement("relative distance of the gradients of heddle and peft", "", [apart]),
    ...(fromFp32 === null
      ? []
      : [
          measurement("relative distance of heddle's gradient from peft's in fp32", "", [fromFp32.heddle]),
          measurement("relative distance of peft's gradient from its own in fp32", "", [fromFp32.peft]),
        ]),
  ]
  const bars: Bar[] = []
  for (const peer of names.filter((name) => name !== "heddle")) {
    const faster = pairwiseRatio(rate("heddle"), rate(peer))
    measurements.push(measurement(`heddle / ${peer}`, "×", faster))
    measurements.push(measurement(`heddle / ${peer}, by CPU time`, "×", pairwiseRatio(perCpu("heddle"), perCpu(peer))))
    const bar = ratioBar(workload)
    if (!peer.startsWith("heddle")) bars.push(atLeast(`RL training tokens/s against ${peer}`, bar, median(faster), "×"))
  }
  bars.push(
    fromFp32 === null
      ? atMost("gradient against peft", gradientBar, apart, "relative")
      : atMost("distance from the gradient in fp32, against peft's", roundingBar, fromFp32.heddle / fromFp32.peft, "×"),
  )
  return { measurements, bars }
}
