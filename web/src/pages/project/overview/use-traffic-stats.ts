/** Calls, errors, latency and tokens of a project over time, as the charts want them. */
import { useNow } from "../../../clock/use-now.ts"
import { useCallStats } from "../../../api/calls/calls.ts"
import { type WindowName, windows, windowStart } from "../time-window.ts"
import { slow } from "./live.ts"

export interface TrafficLine {
  /** Milliseconds since 1970. */
  x: number[]
  y: (number | null)[]
}

export function useTrafficStats(projectId: string, since: WindowName) {
  const { bucketSeconds } = windows[since]
  const now = useNow(60)
  const query = useCallStats(
    {
      project_id: projectId,
      start: new Date(windowStart(since, now) * 1000).toISOString(),
      granularity: bucketSeconds,
      call_metrics: [
        { metric: "call_count" },
        { metric: "error_count" },
        { metric: "latency_ms", aggregations: [], percentiles: [50, 95] },
      ],
      usage_metrics: [{ metric: "input_tokens" }, { metric: "output_tokens" }],
    },
    slow,
  )
  const { data } = query
  if (data === undefined) return { query, totals: undefined, lines: undefined }

  const buckets = data.call_buckets
  const x = buckets.map(({ timestamp }) => Date.parse(timestamp))
  const column = (name: string): TrafficLine => ({ x, y: buckets.map((bucket) => numberOf(bucket[name])) })
  const tokens = new Map<number, number>(x.map((time) => [time, 0]))
  for (const bucket of data.usage_buckets) {
    const time = Date.parse(bucket.timestamp)
    const added = (numberOf(bucket["sum_input_tokens"]) ?? 0) + (numberOf(bucket["sum_output_tokens"]) ?? 0)
    tokens.set(time, (tokens.get(time) ?? 0) + added)
  }
  const calls = column("sum_call_count")
  const errors = column("sum_error_count")
  const p95 = column("p95_latency_ms")
  return {
    query,
    totals: {
      calls: total(calls),
      errors: total(errors),
      p95: highest(p95),
      tokens: total({ x, y: [...tokens.values()] }),
    },
    lines: {
      calls,
      errors,
      p50: column("p50_latency_ms"),
      p95,
      tokens: { x, y: x.map((time) => tokens.get(time) ?? 0) },
    },
  }
}

function numberOf(value: unknown): number | null {
  return typeof value === "number" ? value : null
}

function total({ y }: TrafficLine): number {
  return y.reduce<number>((sum, value) => sum + (value ?? 0), 0)
}

/** Highest of the buckets: the percentile of the whole range cannot be computed from theirs. */
function highest({ y }: TrafficLine): number | null {
  const values = y.filter((value) => value !== null)
  return values.length === 0 ? null : Math.max(...values)
}
