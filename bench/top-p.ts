/** Measures how much longer a decoding step takes where one of its rows has top_p, on a vocabulary of real size. */
import { type BaseModel, wideModel } from "./harness/base-models.ts"
import { engineVersions, enginePython } from "./harness/environments.ts"
import { machineCores } from "./harness/machine.ts"
import { median, pairwiseRatio, progress } from "./harness/measure.ts"
import { count, type Options } from "./harness/options.ts"
import { fromRoot } from "./harness/paths.ts"
import { startWorker } from "./harness/python-worker.ts"
import { atMost, type Bar, type Findings, measurement, type Measurement } from "./harness/result.ts"

export const options = {
  /** Rows that decode together. */
  rows: { type: "string", default: "16" },
  /** Steps of a round, without top_p and with it. */
  steps: { type: "string", default: "50" },
  /** Rounds of each kind of batch. */
  rounds: { type: "string", default: "5" },
} as const

const TOP_P = 0.9

/** A batch: the temperature of all rows but one, and that of the one which may have top_p. */
interface Batch {
  name: string
  others: number
  one: number
}

/** Seconds and CPU seconds. */
type Step = [number, number]

interface Sample {
  batch: Batch
  without: Step[]
  withOne: Step[]
}

/** On this model few tokens have most of the weight at temperature 1, and tens of thousands at 5. */
const BATCHES: Batch[] = [
  { name: "peaked weights", others: 1, one: 1 },
  { name: "flat weights", others: 5, one: 5 },
  { name: "the others greedy", others: 0, one: 1 },
]

export async function run(given: Options): Promise<Findings> {
  const base = await wideModel()
  const [rows, steps, rounds] = [count(given, "rows"), count(given, "steps"), count(given, "rounds")]
  const path = { PYTHONPATH: fromRoot("engine") }
  await using engine = startWorker(await enginePython(), "heddle_decoding.py", "heddle-decoding", path)
  await engine.call("load", { base: base.folder, threads: machineCores() })

  const samples: Sample[] = []
  for (let round = 0; round <= rounds; round++) {
    for (const batch of BATCHES) {
      const batches = rowsOf(batch, rows)
      const [without = [], withOne = []] = await engine.call<Step[][]>("decode", { batches, steps })
      if (round > 0) samples.push({ batch, without, withOne })
      progress(`${round === 0 ? "warm-up" : `round ${round}`} ${batch.name}: ${ratioOf(without, withOne).toFixed(3)}`)
    }
  }
  return {
    method: method(base, rows, steps),
    versions: engineVersions("torch"),
    settings: { model: base.title, rows, steps, rounds },
    ...findings(samples, rows),
    caveats: [],
  }
}

/** The sampling parameters of both contenders, without top_p and with it. */
function rowsOf({ others, one }: Batch, rows: number): object[][] {
  const plain = Array.from({ length: rows - 1 }, () => ({ temperature: others }))
  return [
    [...plain, { temperature: one }],
    [...plain, { temperature: one, top_p: TOP_P }],
  ]
}

/** The median of the ratios of neighbouring steps. */
const ratioOf = (without: Step[], withOne: Step[]) =>
  median(
    pairwiseRatio(
      withOne.map(([seconds]) => seconds),
      without.map(([seconds]) => seconds),
    ),
  )

function method(base: BaseModel, rows: number, steps: number): string[] {
  return [
    `The engine's batcher on ${base.title} (hidden 512, 4 layers), in process: ${rows} rows without adapter get a token in each of ${steps} steps of a round. The same batch runs with and without top_p ${TOP_P} on one of its rows, and the two take turns after each step; a ratio is the median of those of neighbouring steps.`,
    "Peaked weights: all rows at temperature 1, where a few tokens reach top_p. Flat weights: all at 5, where it takes tens of thousands. The others greedy: that row alone is drawn, at temperature 1.",
  ]
}

function findings(samples: Sample[], rows: number): Pick<Findings, "measurements" | "bars"> {
  const measurements: Measurement[] = []
  const bars: Bar[] = []
  for (const batch of BATCHES) {
    const mine = samples.filter((sample) => sample.batch === batch)
    const ratio = mine.map(({ without, withOne }) => ratioOf(without, withOne))
    measurements.push(
      ...times(
        batch.name,
        mine.map(({ without }) => without),
      ),
      ...times(
        `${batch.name}, one row with top_p`,
        mine.map(({ withOne }) => withOne),
      ),
      measurement(`with / without top_p, ${batch.name}`, "×", ratio),
    )
    bars.push(atMost(`step of ${rows} rows, one of them with top_p, ${batch.name}`, 1.1, median(ratio), "×"))
  }
  return { measurements, bars }
}

/** The median step of each round, by the clock and by the processors. */
const times = (name: string, rounds: Step[][]): Measurement[] => [
  measurement(
    name,
    "ms a step",
    rounds.map((steps) => 1000 * median(steps.map(([seconds]) => seconds))),
  ),
  measurement(
    name,
    "CPU ms a step",
    rounds.map((steps) => 1000 * median(steps.map(([, cpu]) => cpu))),
  ),
]
