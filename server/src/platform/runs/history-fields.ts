/** Fields of a run that read its history: platform-wandb 7. */
import { HeddleError } from "../../errors.ts"
import { mayChangeNumbers, parseExact } from "../../json/exact-json.ts"
import { membersOf, objectText } from "../../json/json-members.ts"
import { withoutNotFinite } from "../../json/json-parts.ts"
import { isJsonObject, tryParse } from "../../json/parsed-json.ts"
import { historyEnd, historyKeys, readHistory, type StepTexts } from "../../storage/traces/runs/run-history.ts"
import type { RunKey } from "../../storage/traces/runs/run-tables.ts"
import type { TraceStore } from "../../storage/traces/store/trace-store.ts"
import { columnOf } from "./history-columns.ts"

const defaultSamples = 500
const mostSamples = 10_000
const mostSpecs = 20
const mostKeys = 500

/** Rows that were logged for one step are one row: of a key that comes again the later value counts. */
function rowText({ texts }: StepTexts): string {
  const [only = "{}"] = texts
  return texts.length <= 1 ? only : objectText(new Map(texts.flatMap((text) => membersOf(text))))
}

/** Steps are of a scalar that GraphQL does not look into. */
interface HistoryArguments {
  samples?: number | null
  minStep?: unknown
  maxStep?: unknown
}

/** JSON texts of rows, ascending. Without a range a sample of the whole run. */
export async function historyField(traces: TraceStore, run: RunKey, given: HistoryArguments): Promise<string[]> {
  const range = { from: stepOf("minStep", given.minStep), to: stepOf("maxStep", given.maxStep), keys: [] }
  const steps = await readHistory(traces, run, range, samplesOf(given.samples))
  return steps.map(rowText)
}

/** null: none is given. @throws {HeddleError} `invalid_request`. */
function stepOf(name: string, value: unknown): number | null {
  if (value === undefined || value === null) return null
  const step = integer(value)
  if (step !== null) return step
  throw new HeddleError(
    "invalid_request",
    `history: ${name} is ${JSON.stringify(value).slice(0, 100)}, and no whole number`,
  )
}

function samplesOf(samples: unknown): number {
  return typeof samples === "number" ? Math.min(Math.max(Math.trunc(samples), 1), mostSamples) : defaultSamples
}

/** For each spec, which is a JSON text, the rows that have all of its keys, with only those. */
export async function sampledHistoryField(
  traces: TraceStore,
  run: RunKey,
  specs: readonly unknown[] | null | undefined,
): Promise<unknown[][]> {
  if ((specs?.length ?? 0) > mostSpecs)
    throw new HeddleError("invalid_request", `sampledHistory takes ${mostSpecs} specs`)
  const answers: unknown[][] = []
  for (const text of specs ?? []) {
    const { keys, range, samples } = specOf(text)
    const steps = await readHistory(traces, run, range, samples)
    answers.push(steps.map((step) => pick(rowText(step), keys)))
  }
  return answers
}

function specOf(text: unknown) {
  const spec = typeof text === "string" ? tryParse(text) : null
  const keys: unknown = isJsonObject(spec) ? spec["keys"] : null
  if (!isJsonObject(spec) || !Array.isArray(keys) || !keys.every((key) => typeof key === "string")) {
    throw new HeddleError("invalid_request", "a spec of sampledHistory is a JSON text with keys, a list of names")
  }
  if (keys.length > mostKeys)
    throw new HeddleError("invalid_request", `a spec of sampledHistory has at most ${mostKeys} keys`)
  const samples = samplesOf(spec["samples"])
  const [from, to] = [integer(spec["minStep"]), integer(spec["maxStep"])]
  // wandb 0.28 and later asks for `samples` steps with an inclusive end; 0.25 means an exclusive one.
  const isInclusive = from !== null && to !== null && spec["samples"] === to - from + 1
  const range = { from, to: to !== null && isInclusive ? to + 1 : to, keys: [...new Set(keys)] }
  return { keys, range, samples }
}

function integer(value: unknown): number | null {
  return Number.isSafeInteger(value) ? (value as number) : null
}

function pick(text: string, keys: readonly string[]): Record<string, unknown> {
  const row = readRow(text)
  return Object.fromEntries(keys.map((key) => [key, columnOf(row, key)]))
}

/** As JSON can say it: `NaN` and the infinities become their names, and numbers keep their spelling. */
function readRow(text: string): Record<string, unknown> {
  const named = namesOfNotFinite(text)
  const row: unknown = mayChangeNumbers(named) ? parseExact(named) : JSON.parse(named)
  return isJsonObject(row) ? row : {}
}

function namesOfNotFinite(text: string): string {
  return withoutNotFinite(text, (token) => `"${token}"`)
}

/** Which keys the history has, of what types and with what values last. */
export async function historyKeysField(traces: TraceStore, run: RunKey): Promise<unknown> {
  const { lastStep } = await historyEnd(traces, run)
  const found = await historyKeys(traces, run)
  const lastSteps = [...new Set(found.map((key) => key.lastStep))]
  const rows = new Map<number, Record<string, unknown>>()
  // Nearly every key is in the last row; those that are older than this have no last value here.
  for (const step of lastSteps.toSorted((one, two) => two - one).slice(0, 20)) {
    const all = await readHistory(traces, run, { from: step, to: step + 1, keys: [] }, 1)
    rows.set(step, Object.assign({}, ...all.map((row) => readRow(rowText(row)))) as Record<string, unknown>)
  }
  const keys = new Map<string, { typeCounts: object[]; monotonic: boolean; previousValue: unknown; lastStep: number }>()
  for (const { key, type, count, lastStep: step } of found) {
    const known = keys.get(key) ?? {
      typeCounts: [],
      monotonic: key === "_step",
      previousValue: null,
      lastStep: -Infinity,
    }
    known.typeCounts.push({ type, count })
    if (step > known.lastStep) {
      const row = rows.get(step)
      known.previousValue = row === undefined ? null : (columnOf(row, key) ?? null)
      known.lastStep = step
    }
    keys.set(key, known)
  }
  const entries = Array.from(keys, ([key, { typeCounts, monotonic, previousValue }]) => [
    key,
    { typeCounts, monotonic, previousValue },
  ])
  return { sets: [], keys: Object.fromEntries(entries) as unknown, lastStep }
}

/** The last row as the client reads it at a resume: a JSON list of JSON texts. */
export async function historyTailField(traces: TraceStore, run: RunKey): Promise<string> {
  const { lastStep } = await historyEnd(traces, run)
  if (lastStep < 0) return "[]"
  const [last] = await readHistory(traces, run, { from: lastStep, to: lastStep + 1, keys: [] }, 1)
  return JSON.stringify(last === undefined ? [] : [rowText(last)])
}

/** There are no Parquet files: every row is live. The client takes from here which steps it reads as pages. */
export async function parquetHistoryField(traces: TraceStore, run: RunKey): Promise<unknown> {
  const { firstStep, lastStep } = await historyEnd(traces, run)
  const steps = lastStep < 0 ? [] : [...new Set([firstStep, lastStep])]
  return { parquetUrls: [], liveData: steps.map((step) => ({ _step: step })) }
}
