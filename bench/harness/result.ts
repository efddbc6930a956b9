/** The form of a benchmark's result, the same for all, so that one report can read them. */
import type { Machine } from "./machine.ts"
import { median } from "./measure.ts"

export interface Measurement {
  what: string
  unit: string
  values: number[]
  median: number
}

export interface Bar {
  what: string
  required: string
  measured: number
  unit: string
  reached: boolean
}

/** The findings that a benchmark returns to `bench.ts`, which adds date and machine. */
export interface Findings {
  /** Sentences for the reader of the report that say what was run. */
  method: string[]
  versions: Record<string, string>
  /** Where the figures are of another machine than the one that reports them. */
  machine?: Machine
  settings: Record<string, string | number>
  measurements: Measurement[]
  bars: Bar[]
  /** Facts that the reader needs to judge the figures: noise, differences that could not be removed. */
  caveats: string[]
}

export interface BenchResult extends Findings {
  bench: string
  date: string
  machine: Machine
  seconds: number
  /** Cores that other programs kept busy during the whole benchmark, on average. */
  foreign_cores: number | null
}

/** What a result is about, as its file and its heading tell: the benchmark, the model, a workload that is not the usual. */
export const subjectOf = ({ bench, settings }: BenchResult): string[] =>
  [bench, settings["model"], settings["variant"]].filter((part) => typeof part === "string")

export const measurement = (what: string, unit: string, values: number[]): Measurement => ({
  what,
  unit,
  values: values.map(significant),
  median: significant(median(values)),
})

export const atLeast = (what: string, bound: number, measured: number, unit: string): Bar => ({
  what,
  required: `≥ ${bound} ${unit}`,
  measured: significant(measured),
  unit,
  reached: measured >= bound,
})

export const atMost = (what: string, bound: number, measured: number, unit: string): Bar => ({
  what,
  required: `≤ ${bound} ${unit}`,
  measured: significant(measured),
  unit,
  reached: measured <= bound,
})

/** Rounds to four significant digits; more would be noise. */
const significant = (value: number) => Number(value.toPrecision(4))

export function printFindings(result: BenchResult): void {
  for (const one of result.measurements) {
    const spread = one.values.length > 1 ? `  (${Math.min(...one.values)} … ${Math.max(...one.values)})` : ""
    console.log(`${one.what}: ${one.median} ${one.unit}${spread}`)
  }
  for (const bar of result.bars) {
    console.log(`${bar.reached ? "reached" : "MISSED "}  ${bar.what}: ${bar.measured} ${bar.unit} (${bar.required})`)
  }
  for (const caveat of result.caveats) console.log(`note: ${caveat}`)
}
