/** Streams of the wandb client for a run: platform-wandb 6. */
import { z } from "zod"
import { boundedList } from "../bounded-list.ts"
import { repeated } from "../repeated-query.ts"
import { shownType } from "../shown-type.ts"
import { metricCurve } from "../training/model-metrics.ts"

const count = z.int().min(0)
/** A process that logs fast sends what gathered in 15 seconds. */
const mostLines = 1_000_000

export const fileStreamBody = z.looseObject({
  files: z
    .record(z.string(), z.looseObject({ offset: count, content: boundedList(z.string(), mostLines) }))
    .nullish()
    .transform((files) => files ?? undefined)
    .describe("By name: lines, and the number of the first one"),
  uploaded: boundedList(z.string(), mostLines).nullish(),
  preempting: z.boolean().nullish(),
  complete: z.boolean().nullish().describe("The run ends with this request"),
  /** Windows counts from 0 to 2^32 - 1. */
  exitcode: z
    .int()
    .min(-(2 ** 31))
    .max(2 ** 32 - 1)
    .nullish(),
})

export const fileStreamParams = z.object({ entity: z.string(), project: z.string(), run: z.string() })

export const fileStreamAnswer = z.object({
  stopped: z.boolean().optional().describe("Somebody asked the run to stop"),
})

export const runFileParams = fileStreamParams.extend({ "*": z.string() })
/** `type` is that of the answer; without it the file is any bytes. */
export const shownRunFileQuery = z.object({ type: shownType.optional() })
export const runFileLinkParams = z.object({ token: z.string() })
export const runFileContent = z.string().meta({ format: "binary" })
export const runFileStored = z.object({ bytes: z.int() })

const mostMetrics = 50

export const runMetricsParams = z.object({ entity: z.string(), project: z.string(), run: z.string() })

export const runMetricsQuery = z.object({
  source: z.enum(["history", "system"]).default("history"),
  /** May be given several times. Without one the answer has the names alone. */
  metric: repeated(z.string()).pipe(
    z.array(z.string()).max(mostMetrics, `name at most ${mostMetrics} metrics`).optional(),
  ),
  points: z.coerce.number().int().min(1).max(2000).default(500),
  x: z
    .string()
    .min(1)
    .optional()
    .describe(
      "A column of the history whose numbers are the horizontal axis, such as epoch or _runtime; else the step is",
    ),
})

const notFiniteValue = z.enum(["NaN", "Infinity", "-Infinity"])

/** What was logged of a metric and is no finite number: no curve has it. */
const notFinite = z.object({
  metric: z.string(),
  /** Steps that have such a value. */
  count: z.int(),
  /** The first of them, at most 20, ascending. */
  step: z.array(z.int()),
  /** What each of these has. */
  value: z.array(notFiniteValue),
  /** The newest. */
  last: z.object({ step: z.int(), value: notFiniteValue }),
})

export type NotFinite = z.infer<typeof notFinite>

export const runMetricsAnswer = z.object({
  object: z.literal("list"),
  /** Every metric that was a number once, sorted. */
  metrics: z.array(z.string()),
  /** What had an object with a `_type` once, such as `image-file`, sorted, with the newest of its types. Of system rows none. */
  media: z.array(z.object({ name: z.string(), type: z.string() })),
  /** Of the metrics that were asked for and are there, sorted. */
  data: z.array(metricCurve),
  /** Of those of them that have such values, sorted. Of system rows none. */
  not_finite: z.array(notFinite),
})
