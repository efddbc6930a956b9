/** Along which axis a metric of a run is drawn. */
import { formatDurationTick } from "../../../../format/durations.ts"
import { formatNumber } from "../../../../format/numbers.ts"
import { formatWholeTime } from "../../../../format/times.ts"
import type { RunMetrics } from "../../../../api/runs/runs.ts"

export type Source = "history" | "system"
export type RunCurve = RunMetrics["data"][number]

export interface CurveAxis {
  /** In a sentence: "train/loss by step". */
  name: string
  /** The column of the history whose numbers are the places; undefined: each point has its place already. */
  column: string | undefined
  /** Whether it is the one that the program defined for the metric. */
  isOwn: boolean
  /** Whether the places are times of day, or seconds since the run began. */
  isTime: boolean
  isDuration: boolean
  format: (x: number) => string
}

const byStep: CurveAxis = {
  name: "step",
  column: undefined,
  isOwn: false,
  isTime: false,
  isDuration: false,
  format: formatStep,
}
const byClock: CurveAxis = {
  name: "time",
  column: undefined,
  isOwn: false,
  isTime: true,
  isDuration: false,
  format: (at) => formatWholeTime(new Date(at)),
}
const seconds = { name: "time", isOwn: false, isTime: false, isDuration: true, format: formatSeconds }
/** How long the program had run, as the client notes it in each row. */
const byRuntime: CurveAxis = { ...seconds, column: "_runtime" }
/** Rows of the machine have no such column: they are counted from the first of them. */
const sinceFirst: CurveAxis = { ...seconds, column: undefined }

interface AxisChoice {
  source: Source
  /** undefined: what the program defined. */
  x: "step" | "time" | undefined
  /** Runs that began at different times share the time since each began. */
  isCompared: boolean
  /** What the program defined for the metric. */
  stepMetric: string | undefined
}

export function curveAxis({ source, x, isCompared, stepMetric }: AxisChoice): CurveAxis {
  // Steps of the machine's metrics are no steps of the program.
  if (source === "system") return isCompared ? sinceFirst : byClock
  if (x === "time") return isCompared ? byRuntime : byClock
  if (x === "step" || stepMetric === undefined) return byStep
  return { name: stepMetric, column: stepMetric, isOwn: true, isTime: false, isDuration: false, format: formatNumber }
}

/** The curve with its places on the axis, where those are neither its steps nor its times. */
export function onAxis(curve: RunCurve, axis: CurveAxis): RunCurve {
  if (axis !== sinceFirst) return curve
  const times = curve.at.map((at) => Date.parse(at))
  const [first = 0] = times
  return { ...curve, x: times.map((time) => (time - first) / 1000) }
}

/** Between two steps there is none. */
function formatStep(step: number): string {
  return Number.isInteger(step) ? `${step}` : ""
}

/** "2 h" and "2 h 30 min". */
function formatSeconds(count: number): string {
  return formatDurationTick(count * 1000).replace(/ 00\s\w+$/, "")
}
