/**
 * Runs one benchmark and prints what it found.
 *
 * Usage: npm run bench -- NAME [--json] [--save] [options of the benchmark]
 * `--json`: the last line on standard output is the result as one JSON object.
 * `--save`: also writes bench/results/NAME.json, from which `bench/report.ts` makes docs/benchmarks.md.
 * Changes: .heddle (environments and models of the peers); everything else is temporary.
 */
import { mkdirSync, writeFileSync } from "node:fs"
import { parseArgs, type ParseArgsOptionsConfig } from "node:util"
import { describeMachine, machineCpuSeconds, treeCpuSeconds } from "./harness/machine.ts"
import type { Options } from "./harness/options.ts"
import { fromRoot } from "./harness/paths.ts"
import { type BenchResult, type Findings, printFindings, subjectOf } from "./harness/result.ts"

interface Benchmark {
  options: ParseArgsOptionsConfig
  run(options: Options): Promise<Findings>
}

const benchmarks: Record<string, () => Promise<Benchmark>> = {
  against: () => import("./against.ts"),
  annotation: () => import("./annotation.ts"),
  attacks: () => import("./attacks.ts"),
  "calls-growth": () => import("./calls-growth.ts"),
  "calls-ids": () => import("./calls-ids.ts"),
  "calls-read": () => import("./calls-read.ts"),
  decode: () => import("./decode.ts"),
  "dry-run": () => import("./dry-run.ts"),
  export: () => import("./export.ts"),
  gpu: () => import("./gpu.ts"),
  ingest: () => import("./ingest.ts"),
  "kv-memory": () => import("./kv-memory.ts"),
  labelling: () => import("./labelling.ts"),
  latency: () => import("./latency.ts"),
  loading: () => import("./loading.ts"),
  loop: () => import("./loop.ts"),
  mismatch: () => import("./mismatch.ts"),
  otel: () => import("./otel.ts"),
  protocols: () => import("./protocols.ts"),
  retention: () => import("./retention.ts"),
  scoring: () => import("./scoring.ts"),
  "sft-start": () => import("./sft-start.ts"),
  stalls: () => import("./stalls.ts"),
  soak: () => import("./soak.ts"),
  start: () => import("./start.ts"),
  "tables-read": () => import("./tables-read.ts"),
  "top-p": () => import("./top-p.ts"),
  train: () => import("./train.ts"),
  "train-workers": () => import("./train-workers.ts"),
  wandb: () => import("./wandb.ts"),
  "web-curves": () => import("./web-curves.ts"),
  "web-json": () => import("./web-json.ts"),
  "web-start": () => import("./web-start.ts"),
  "web-table": () => import("./web-table.ts"),
  "web-tail": () => import("./web-tail.ts"),
  "web-trace": () => import("./web-trace.ts"),
}

const common = {
  json: { type: "boolean", default: false },
  save: { type: "boolean", default: false },
} as const

async function main(name: string | undefined, args: string[]): Promise<void> {
  const load = Object.hasOwn(benchmarks, name ?? "") ? benchmarks[name ?? ""] : undefined
  if (name === undefined || load === undefined) {
    throw new Error(`unknown benchmark ${name ?? "(none)"}: choose one of ${Object.keys(benchmarks).join(", ")}`)
  }
  const benchmark = await load()
  const { values } = parseArgs({ args, options: { ...benchmark.options, ...common } })
  const result = await measured(name, () => benchmark.run(values))
  if (values.save) save(result)
  printFindings(result)
  if (values.json) console.log(JSON.stringify(result))
}

async function measured(bench: string, work: () => Promise<Findings>): Promise<BenchResult> {
  const busy = () => (machineCpuSeconds() ?? Number.NaN) - (treeCpuSeconds(process.pid) ?? Number.NaN)
  const before = busy()
  const began = performance.now()
  const findings = await work()
  const seconds = (performance.now() - began) / 1000
  const foreign = (busy() - before) / seconds
  return {
    bench,
    date: new Date().toISOString(),
    machine: describeMachine(),
    seconds: Math.round(seconds),
    foreign_cores: Number.isFinite(foreign) ? Math.max(0, Number(foreign.toFixed(2))) : null,
    ...findings,
  }
}

/** Writes the result to a file of its own for each benchmark, model and variant. */
function save(result: BenchResult): void {
  const folder = fromRoot("bench", "results")
  mkdirSync(folder, { recursive: true })
  const [bench, ...rest] = subjectOf(result)
  const suffixes = rest.map((part) => `-${part.replace(/[^a-zA-Z0-9]+/g, "-").toLowerCase()}`)
  writeFileSync(`${folder}/${bench}${suffixes.join("")}.json`, `${JSON.stringify(result, null, 2)}\n`)
}

const [name, ...args] = process.argv.slice(2)
try {
  await main(name, args)
} catch (error) {
  process.stderr.write(`bench: ${error instanceof Error ? error.stack : String(error)}\n`)
  process.exitCode = 1
}
