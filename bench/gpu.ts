/**
 * Measures the engine on a GPU against the targets of its design: how near decoding and training come to what the card
 * can do, and to a plain loop of peft over transformers.
 */
import { readFileSync } from "node:fs"
import { spawnSync } from "node:child_process"
import { hfPython } from "./harness/environments.ts"
import { describeMachine } from "./harness/machine.ts"
import type { Options } from "./harness/options.ts"
import { fromRoot, pythonScript } from "./harness/paths.ts"
import { atLeast, atMost, type Bar, type Findings, measurement } from "./harness/result.ts"

export const options = {
  /** A file with what `bench/python/gpu.py` printed on another machine; without it the script runs here. */
  from: { type: "string", default: "" },
  /** One of the models of `gpu_models.py` instead of the two that the targets are of. */
  model: { type: "string", default: "" },
} as const

/** Printed by `gpu.py`. */
interface Figures {
  gpu: string
  /** The one that was asked for. */
  model: string | null
  machine: { cpu: string; cores: number; memory_gib: number; system: string }
  versions: Record<string, string>
  /** By what was measured, with its unit in parentheses where it has one. */
  figures: Record<string, number[]>
}

const SMALL = "Qwen3-0.6B"
const LARGE = "Qwen3-8B"
const SHARED = "8 completions on prompts of 2,048"

export async function run(given: Options): Promise<Findings> {
  const found = JSON.parse(await printed(given)) as Figures
  const middle = (name: string) => {
    const values = found.figures[name]?.toSorted((a, b) => a - b)
    return values?.[Math.floor(values.length / 2)]
  }
  return {
    method: [
      `The engine's own classes in one process, bf16, on random weights of the shapes of ${found.model ?? `${SMALL} and ${LARGE}`} and their vocabularies, LoRA of rank 16 on all linear modules, of a mixture on those of the attention.`,
      "Decode: every row has a prompt of 1,024 tokens; a step gives each one token, sampling included. The roofline is the time to read the weights and the rows' keys and values at the speed of a copy on the device; of a mixture those of the experts that so many rows reach by even chance, and what delta nets remember is read and written.",
      "Training: forward and backward of all rows. Mixed lengths: 48 rows with prompts of 32 to 900 and completions of 32 to 700 tokens; full length: 8 rows of 4,096, of which the last 3,072 are trained; shared: 2 groups of 8 completions of 256 on a prompt of 2,048. Tokens are those of all rows, each with its prompt. The share of the matrix product counts 4 operations for each weight of the layers that computes a token, no attention and no head.",
      "Plain loop: peft on transformers, right-padded batches of neighbours by length, 8 rows where memory suffices, each layer computed again where it has to be.",
    ],
    versions: found.versions,
    settings: { gpu: found.gpu, ...(found.model !== null && { model: found.model }) },
    machine: { ...found.machine, node: describeMachine().node, gpu: found.gpu },
    measurements: Object.entries(found.figures).map(([name, values]) => {
      const [, what = name, unit = "×"] = /^(.*?)(?:: tokens\/s| \(([^)]*)\))$/.exec(name) ?? []
      return measurement(what, name.endsWith("tokens/s") ? "tokens/s" : unit, values)
    }),
    bars: bars(middle, found.model),
    caveats: [],
  }
}

async function printed(given: Options): Promise<string> {
  if (given["from"]) return readFileSync(String(given["from"]), "utf8")
  const model = given["model"] ? ["--model", String(given["model"])] : []
  const done = spawnSync(await hfPython(), [pythonScript("gpu.py"), ...model], {
    env: { ...process.env, PYTHONPATH: fromRoot("engine") },
    stdio: ["ignore", "pipe", "inherit"],
    encoding: "utf8",
    maxBuffer: 1 << 26,
  })
  if (done.status !== 0) throw new Error("gpu.py failed: its reason stands above")
  return done.stdout
}

/** The targets of the design, which are of two models; those of another `model` are the same where they make sense. */
function bars(middle: (name: string) => number | undefined, model: string | null): Bar[] {
  const small = model ?? SMALL
  const found: Bar[] = []
  const bar = (make: typeof atLeast, what: string, bound: number, measured: number | undefined, unit: string) => {
    if (measured !== undefined && Number.isFinite(measured)) found.push(make(what, bound, measured, unit))
  }
  const ratio = (one: string, other: string) => (middle(one) ?? Number.NaN) / (middle(other) ?? Number.NaN)
  for (const [workload, bound] of [
    ["mixed lengths", 2.5],
    ["full length", 1.3],
    [SHARED, 4],
  ] as const) {
    const of = (who: string, what: string) => `${who}, ${small}, ${workload}: ${what}`
    const speed = ratio(of("training", "tokens/s"), of("plain loop", "tokens/s"))
    bar(atLeast, `training, ${small}, ${workload}, against the plain loop`, bound, speed, "×")
    if (model !== null) continue
    const peak = "peak above the weights (GiB)"
    const memory = ratio(of("training", peak), of("plain loop", peak))
    bar(atMost, `memory of training, ${SMALL}, ${workload}, against the plain loop`, 0.6, memory, "×")
  }
  const name = model ?? LARGE
  const large = (what: string) => middle(what.replace("MODEL", name))
  if (model === null) {
    bar(
      atLeast,
      `training, ${LARGE}, full length`,
      0.5,
      large("training, MODEL, full length: share of the matrix product"),
      "of the matrix product",
    )
  }
  for (const rows of [64, 128]) {
    bar(
      atLeast,
      `decode, ${name}, ${rows} rows`,
      0.6,
      large(`decode, MODEL, ${rows} rows: share of roofline`),
      "of the roofline",
    )
    bar(
      atMost,
      `decode, ${name}, ${rows} rows, one adapter`,
      1.08,
      large(`decode, MODEL, ${rows} rows, one adapter: times the base`),
      "×",
    )
    bar(
      atMost,
      `decode, ${name}, ${rows} rows, 8 adapters`,
      1.2,
      large(`decode, MODEL, ${rows} rows, 8 adapters: times the base`),
      "×",
    )
  }
  bar(
    atMost,
    `a step of 16 rows, one of them with top_p, ${name}`,
    1.1,
    large("decode, MODEL, 16 rows with top_p: times without"),
    "×",
  )
  bar(atMost, `publish to first token, ${name}`, 50, large("publish to first token, MODEL (ms)"), "ms")
  bar(
    atMost,
    `32 streams beside training, ${name}: p99`,
    3,
    large("32 streams beside training, MODEL: p99 times that alone"),
    "× alone",
  )
  bar(
    atLeast,
    `training beside 32 streams, ${name}`,
    0.7,
    large("training beside 32 streams, MODEL: share of its speed alone"),
    "of its speed alone",
  )
  return found
}
