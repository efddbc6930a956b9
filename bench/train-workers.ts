/** Compares RL training in several processes with one, each on one core, on groups that share a prompt. */
import { baseModel, modelSizes } from "./harness/base-models.ts"
import { engineVersions, enginePython } from "./harness/environments.ts"
import { type Contender, median, pairwiseRatio, rates, takeTurns } from "./harness/measure.ts"
import { count, dtypes, oneOf, type Options } from "./harness/options.ts"
import { fromRoot, temporaryFolder } from "./harness/paths.ts"
import { startWorker } from "./harness/python-worker.ts"
import { atLeast, atMost, type Findings, measurement } from "./harness/result.ts"

export const options = {
  /** Base model: tiny or small. */
  model: { type: "string", default: "small" },
  /** Processes that train, of which one is the engine. */
  trainers: { type: "string", default: "2" },
  /** Groups of trajectories in a step. */
  groups: { type: "string", default: "4" },
  /** Trajectories in a group. */
  size: { type: "string", default: "8" },
  /** Tokens of the prompt that a group shares. */
  prompt: { type: "string", default: "2048" },
  /** How often each side is timed. */
  rounds: { type: "string", default: "3" },
  /** Number format: fp32 or bf16. */
  dtype: { type: "string", default: "fp32" },
} as const

/** Of the ideal, which is a share for each process in the same time. */
const efficiencyBar = 0.9
const differenceBar = 1e-6

interface Job {
  step_seconds: number
  checkpoint: string
}

export async function run(given: Options): Promise<Findings> {
  const base = await baseModel(oneOf(modelSizes, given, "model"))
  const workload = { groups: count(given, "groups"), size: count(given, "size"), prompt: count(given, "prompt") }
  const [trainers, rounds] = [count(given, "trainers"), count(given, "rounds")]
  const dtype = oneOf(dtypes, given, "dtype")
  const folder = temporaryFolder()
  const python = await enginePython()
  const path = { PYTHONPATH: fromRoot("engine") }
  await using workers = new AsyncDisposableStack()

  const sides = [
    { name: "one process", trainers: 1, jobs: [] as Job[] },
    { name: `${trainers} processes`, trainers, jobs: [] as Job[] },
  ] as const
  let tokens = 0
  const contenders: Contender[] = []
  for (const side of sides) {
    const worker = workers.use(startWorker(python, "workers_training.py", `workers-training-${side.trainers}`, path))
    const load = {
      base: base.folder,
      folder: `${folder}/${side.trainers}`,
      trainers: side.trainers,
      dtype,
      ...workload,
    }
    ;({ tokens } = await worker.call<{ tokens: number }>("load", load))
    contenders.push({
      name: side.name,
      pid: worker.pid,
      async run(round) {
        side.jobs.push(await worker.call<Job>("job", { number: round }))
        return tokens
      },
    })
  }
  const samples = await takeTurns(contenders, rounds)
  const [one, several] = sides
  const compare = { one: one.jobs.at(-1)?.checkpoint, other: several.jobs.at(-1)?.checkpoint }
  const judge = workers.use(startWorker(python, "workers_training.py", "workers-training-compare", path))
  const { difference } = await judge.call<{ difference: number }>("compare", compare)

  const stepRates = ({ jobs }: { jobs: Job[] }) => jobs.slice(1).map((job) => tokens / job.step_seconds)
  const perCpu = (name: string) => (samples.get(name) ?? []).map((sample) => tokens / (sample.cpuSeconds ?? Number.NaN))
  const faster = pairwiseRatio(rates(samples.get(several.name)), rates(samples.get(one.name)))
  return {
    method: [
      `RL jobs of one optimizer step over ${workload.groups} groups of ${workload.size} completions (64 to 128 random tokens) with shared prompts of ${workload.prompt} tokens, LoRA rank 8; base model in ${dtype}.`,
      `Whole jobs through the engine's TrainingJob: data read, step taken, checkpoint written and synced. Each process computes on one core; the ${trainers} processes are the engine and its workers, started before. Both sides take turns.`,
      "Tokens/s count every trajectory with its prompt. The adapters compared are those of the last jobs, learning rate 1e-4.",
    ],
    versions: engineVersions("torch"),
    settings: { model: base.title, trainers, ...workload, dtype, rounds },
    measurements: [
      ...sides.map(({ name }) => measurement(name, "tokens/s", rates(samples.get(name)))),
      ...sides.map((side) => measurement(`${side.name}, until the gradient step`, "tokens/s", stepRates(side))),
      ...sides.map(({ name }) => measurement(name, "tokens per CPU second", perCpu(name))),
      measurement(`${several.name} / ${one.name}`, "×", faster),
      measurement("largest difference of the adapters", "", [difference]),
    ],
    bars: [
      atLeast(`training with ${trainers} processes against one`, efficiencyBar * trainers, median(faster), "×"),
      atMost("difference of the adapters", differenceBar, difference, ""),
    ],
    caveats: [],
  }
}
