/** Times contenders that take turns, so that other programs on the machine disturb all of them alike. */
import { machineCpuSeconds, treeCpuSeconds } from "./machine.ts"

/** A contender; the process `pid` and its descendants do the work, and their CPU time is counted. */
export interface Contender {
  name: string
  pid: number
  /** Does the work once and returns its amount, in the unit of the rate. */
  run(round: number): Promise<number>
}

export interface Sample {
  seconds: number
  /** Units of work a second. */
  rate: number
  /** CPU seconds that the contender's processes used; null where /proc is missing. */
  cpuSeconds: number | null
  /** Cores that programs other than the benchmark's own kept busy meanwhile. */
  foreignCores: number | null
}

/**
 * Runs every contender once to warm up, then `rounds` times in turn: A B C, C B A, … So being first is no advantage.
 */
export async function takeTurns(contenders: Contender[], rounds: number): Promise<Map<string, Sample[]>> {
  const samples = new Map(contenders.map((contender): [string, Sample[]] => [contender.name, []]))
  for (let round = 0; round <= rounds; round++) {
    for (const contender of round % 2 === 0 ? contenders : contenders.toReversed()) {
      const sample = await timed(contender, round)
      if (round > 0) samples.get(contender.name)?.push(sample)
      report(contender.name, round, sample)
    }
  }
  return samples
}

async function timed(contender: Contender, round: number): Promise<Sample> {
  const before = snapshot(contender.pid)
  const began = performance.now()
  const amount = await contender.run(round)
  const seconds = (performance.now() - began) / 1000
  const after = snapshot(contender.pid)
  const foreign = subtract(subtract(after.machine, before.machine), subtract(after.own, before.own))
  return {
    seconds,
    rate: amount / seconds,
    cpuSeconds: subtract(after.contender, before.contender),
    foreignCores: foreign === null ? null : Math.max(0, foreign / seconds),
  }
}

const snapshot = (pid: number) => ({
  machine: machineCpuSeconds(),
  own: treeCpuSeconds(process.pid),
  contender: treeCpuSeconds(pid),
})

const subtract = (a: number | null, b: number | null) => (a === null || b === null ? null : a - b)

function report(name: string, round: number, sample: Sample): void {
  const foreign = sample.foreignCores === null ? "" : `, other programs ${sample.foreignCores.toFixed(1)} cores`
  progress(
    `${round === 0 ? "warm-up" : `round ${round}`} ${name}: ${sample.rate.toFixed(1)}/s in ${sample.seconds.toFixed(2)} s${foreign}`,
  )
}

/** Prints one line of progress on standard error; standard output belongs to the result. */
export function progress(text: string): void {
  process.stderr.write(`bench: ${text}\n`)
}

export const rates = (samples: Sample[] | undefined) => (samples ?? []).map((sample) => sample.rate)

/** Ratios `a[i] / b[i]`, because each such pair was measured in the same minutes. */
export const pairwiseRatio = (a: number[], b: number[]) => a.map((value, index) => value / (b[index] ?? Number.NaN))

export const median = (values: number[]) => quantile(values, 0.5)

/** The quantile by linear interpolation between the nearest ranks; NaN without values. */
export function quantile(values: number[], q: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  const place = (sorted.length - 1) * q
  const low = sorted[Math.floor(place)] ?? Number.NaN
  const high = sorted[Math.ceil(place)] ?? Number.NaN
  return low + (high - low) * (place - Math.floor(place))
}

export const rootMeanSquare = (values: number[]) =>
  Math.sqrt(values.reduce((sum, value) => sum + value * value, 0) / values.length)
