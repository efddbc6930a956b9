/** Runs as the wandb SDK records them: made by the requests that it sends. */
import type { Heddle } from "./heddle.ts"

interface FilledRun {
  name: string
  displayName: string
  tags?: string[]
  groupName?: string
  jobType?: string
  notes?: string
  /** null: it goes on. */
  exitCode: number | null
  steps: number
  settings?: Settings
  /** What was logged beside the numbers: it is written over the rows of these steps. */
  logged?: Readonly<Record<number, object>>
}

interface Settings {
  lr?: number
  optimizer?: string
  /** What `define_metric` was told, as the client writes it into the config. */
  definitions?: object[]
  /** Charts of `wandb.plot`, as the client writes them into the config. */
  visualize?: object
}

const configOf = ({ lr = 0.0003, optimizer = "adamw", definitions = [], visualize = {} }: Settings) => ({
  lr: { value: lr },
  batch_size: { value: 32 },
  seed: { value: 4_611_686_018_427_387_923n },
  optimizer: { value: { name: optimizer, betas: [0.9, 0.95] } },
  _wandb: {
    value: {
      m: definitions,
      visualize,
      cli_version: "0.31.0",
      e: {
        w1: {
          os: "Linux-6.8-x86_64",
          python: "CPython 3.12.4",
          program: "train.py",
          gpu: "NVIDIA H100",
          cpu_count: 16,
        },
      },
    },
  },
})

const mutation = `mutation UpsertBucket($input: UpsertBucketInput) { upsertBucket(input: $input) { bucket { id } } }`
const filesMutation = `mutation($entity: String, $project: String, $run: String!, $files: [String!]!) {
  createRunFiles(input: { entityName: $entity, projectName: $project, runName: $run, files: $files }) {
    files { name uploadUrl } } }`

/** Whole numbers past 2^53 as the client writes them. */
export const jsonOf = (value: unknown) =>
  JSON.stringify(value, (_, one: unknown) => (typeof one === "bigint" ? `#${one}#` : one)).replaceAll(
    /"#(\d+)#"/g,
    "$1",
  )

/** Where a run's loss has a peak of one step, however long it is. */
export const peakStep = 1234
export const peak = 9

const entity = "local"

export async function fillRuns(heddle: Heddle, project: string): Promise<string> {
  await fillRun(heddle, project, {
    name: "old1",
    displayName: "first-try",
    exitCode: 1,
    steps: 40,
    tags: ["baseline"],
    settings: { lr: 0.001, optimizer: "sgd" },
  })
  await fillRun(heddle, project, {
    name: "w1jkb71d",
    displayName: "wide-layers-7",
    exitCode: 0,
    steps: 3000,
    groupName: "sweep-a",
    jobType: "train",
    tags: ["baseline", "wide"],
    notes: "Twice as wide as the first try.",
  })
  await fillRun(heddle, project, {
    name: "live1",
    displayName: "longer-context",
    exitCode: null,
    steps: 120,
    jobType: "train",
  })
  return `${entity}/${project}`
}

export async function fillRun(heddle: Heddle, project: string, run: FilledRun): Promise<void> {
  const { name, exitCode, steps, settings = {}, logged = {}, ...fields } = run
  const id = `${entity}/${project}`
  const input = { entityName: entity, modelName: project, name, host: "node-7", jobProgram: "train.py", ...fields }
  await heddle.send("POST", "/graphql", {
    query: mutation,
    variables: { input: { ...input, config: jsonOf(configOf(settings)) } },
  })
  const began = Date.now() / 1000 - steps
  const rows = Array.from({ length: steps }, (_, step) => ({ ...rowAt(step, steps, began), ...logged[step] }))
  const events = Array.from({ length: 40 }, (_, index) => ({
    "system.cpu": 30 + 20 * Math.sin(index / 4),
    "system.memory_percent": 40 + index / 10,
    "system.gpu.0.gpu": index === 20 ? 3 : 92 + (index % 5),
    "system.gpu.0.temp": 60 + (index % 7),
    _wandb: true,
    _timestamp: began + (index * steps) / 40,
  }))
  await heddle.send("POST", `/files/${id}/${name}/file_stream`, {
    files: {
      "wandb-history.jsonl": { offset: 0, content: rows.map((row) => JSON.stringify(row)) },
      "wandb-events.jsonl": { offset: 0, content: events.map((row) => JSON.stringify(row)) },
      "wandb-summary.json": {
        offset: 0,
        content: [
          JSON.stringify({ ...rows.at(-1), best: 0.125 }).replace('"best":0.125', '"best":0.125,"diverged":NaN'),
        ],
      },
    },
  })
  const files = { "config.yaml": "lr: 0.0003\n", "output.log": "begin\nend\n", "media/notes 1.txt": "a note" }
  await storeRunFiles(heddle, { project, run: name }, files)
  if (exitCode !== null) {
    await heddle.send("POST", `/files/${id}/${name}/file_stream`, { complete: true, exitcode: exitCode })
  }
}

/** By their paths. */
export async function storeRunFiles(
  heddle: Heddle,
  { project, run }: { project: string; run: string },
  files: Readonly<Record<string, string | Buffer>>,
): Promise<void> {
  const { data } = await heddle.send<{
    data: { createRunFiles: { files: { name: string; uploadUrl: string }[] } }
  }>("POST", "/graphql", { query: filesMutation, variables: { entity, project, run, files: Object.keys(files) } })
  for (const { name, uploadUrl } of data.createRunFiles.files) {
    const stored = await fetch(uploadUrl, { method: "PUT", body: new Uint8Array(Buffer.from(files[name] ?? "")) })
    if (!stored.ok) throw new Error(`PUT ${name}: ${stored.status}`)
  }
}

function rowAt(step: number, steps: number, began: number) {
  const done = step / steps
  const noise = Math.sin(step * 12.9898) * 0.08
  return {
    epoch: Math.floor(done * 3),
    "train/loss": step === peakStep ? peak : 2 * Math.exp(-3 * done) + 0.4 + noise,
    "train/accuracy": 1 - Math.exp(-2.5 * done) + noise / 4,
    "train/grad_norm": 1 + Math.abs(noise) * 8,
    lr: 0.0003 * (1 - done),
    ...(step % 10 === 0
      ? { "val/loss": 2 * Math.exp(-2.6 * done) + 0.5, "val/accuracy": 0.96 - Math.exp(-2.2 * done) }
      : {}),
    _step: step,
    _runtime: step,
    _timestamp: began + step,
  }
}
