/** A metric of one run, with how sure it is. */
import { type Interval, intervalKind, meanInterval, meanOf, shareInterval } from "../statistics/intervals.ts"
import type { Metric } from "./metrics.ts"
import { type RunRows, rowValues } from "./run-rows.ts"

export interface RunFigure {
  metric: Metric
  mean: number
  /** 95 %, over rows: trials of one row are no independent values. null: of one row alone. */
  interval: Interval | null
  /** How the interval was found, in words. */
  method: string
  /** Rows. */
  count: number
  /** Trials that have the value. A prediction that failed has no score, so the mean says nothing of it. */
  scored: number
  trials: number
}

/** Cache of a run's figures, which a table shows again and again. */
const figures = new WeakMap<RunRows, Map<string, RunFigure | undefined>>()

/** undefined: no row has the metric. */
export function runFigure(run: RunRows, metric: Metric): RunFigure | undefined {
  const ofRun = figures.get(run) ?? new Map<string, RunFigure | undefined>()
  figures.set(run, ofRun)
  if (!ofRun.has(metric.id)) ofRun.set(metric.id, figureOf(run, metric))
  const figure = ofRun.get(metric.id)
  return figure && { ...figure, metric }
}

function figureOf(run: RunRows, metric: Metric): RunFigure | undefined {
  const values = rowValues(run, metric.id)
  if (values.length === 0) return undefined
  const isYesNo = metric.kind === "share" && values.every((value) => value === 0 || value === 1)
  const interval = isYesNo
    ? shareInterval(values.filter((value) => value === 1).length, values.length)
    : meanInterval(values)
  const method = isYesNo ? "Wilson's interval" : `${intervalKind(values.length)} interval`
  const trials = [...run.rows.values()].flat()
  const scored = trials.filter((trial) => trial.values.has(metric.id)).length
  return { metric, mean: meanOf(values), interval, method, count: values.length, scored, trials: trials.length }
}
