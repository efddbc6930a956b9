/** Metrics of models by step: the points of their curves. */
import { z } from "zod"
import { repeated } from "../repeated-query.ts"

const mostModels = 50
const mostMetrics = 50
const highestStep = 2 ** 31 - 1

const step = z.coerce.number().int().min(0).max(highestStep)

export const modelMetricsQuery = z.object({
  /** May be given several times. */
  model_id: repeated(z.string()).pipe(
    z.array(z.string(), `name 1 to ${mostModels} models`).min(1).max(mostModels, `name at most ${mostModels} models`),
  ),
  /** Names as `metrics` of an answer lists them; may be given several times. Without one: all. */
  metric: repeated(z.string()).pipe(
    z.array(z.string()).max(mostMetrics, `name at most ${mostMetrics} metrics`).optional(),
  ),
  /** The first and the last step that are of interest. */
  from_step: step.optional(),
  to_step: step.optional(),
  /** Most points of a curve: with more steps than that a point stands for several. */
  points: z.coerce.number().int().min(1).max(2000).default(500),
})

/** Columns of equal length, by step. A point holds every value of its steps: of each gradient step, where there are several. */
export const metricCurve = z.object({
  metric: z.string(),
  /** The newest step of the point. */
  step: z.array(z.int()),
  /** When that step was made. */
  at: z.array(z.iso.datetime()),
  min: z.array(z.number()),
  max: z.array(z.number()),
  mean: z.array(z.number()),
  /** The value at the newest step: of several gradient steps their mean. */
  last: z.array(z.number()),
  /** Where each point stands, ascending: of a run whose curves were asked for over another column than the step. */
  x: z.array(z.number()).optional(),
})

export const modelMetrics = z.object({
  model_id: z.uuid(),
  /** Every metric that the model has at any step, sorted. */
  metrics: z.array(z.string()),
  curves: z.array(metricCurve),
})

export const modelMetricsAnswer = z.object({
  object: z.literal("list"),
  /** How many steps a point stands for. */
  steps_per_point: z.int(),
  /** In the order of the request. */
  data: z.array(modelMetrics),
})

export type MetricCurve = z.infer<typeof metricCurve>

/** What a curve says of some steps that lie side by side; `step` is the newest of them. */
export interface CurvePoint {
  metric: string
  /** On an axis other than the step. */
  x?: number
  step: number
  at: Date
  min: number
  max: number
  mean: number
  last: number
}

/** The points of each metric as columns, in the order in which they come. */
export function curvesOf(points: readonly CurvePoint[]): MetricCurve[] {
  return Array.from(
    Map.groupBy(points, ({ metric }) => metric),
    ([metric, of]) => ({
      metric,
      step: of.map((point) => point.step),
      at: of.map(({ at }) => at.toISOString()),
      min: of.map(({ min }) => min),
      max: of.map(({ max }) => max),
      mean: of.map(({ mean }) => mean),
      last: of.map(({ last }) => last),
      ...(of[0]?.x === undefined ? {} : { x: of.map(({ x = 0 }) => x) }),
    }),
  )
}
