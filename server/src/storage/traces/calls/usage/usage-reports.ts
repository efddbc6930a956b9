/** Tokens that calls report, with the links between the calls of a trace: evaluation-store-calls 4.2. */
import type { CallsSelection } from "../calls-selection.ts"
import { callsFinal, readSummary } from "../calls-tables.ts"
import { opTitleSql } from "../fields/call-query-fields.ts"
import { type StoredStretch, stretchesOf } from "../insert/call-places.ts"
import { SqlParameters } from "../../query/sql-parameters.ts"
import { isoTimeSql } from "../../query/sql-time.ts"
import type { TraceStore } from "../../store/trace-store.ts"
import { bucketSql, rangeSql, type TimeBuckets, type TimeRange } from "../../time-buckets.ts"
import { startedIn } from "./started-in.ts"

export interface UsageReport {
  id: string
  trace_id: string
  parent_id: string | null
  /** ISO 8601, UTC. */
  started_at: string
  /** It has `status_counts`, which the Python SDK sums up over all descendants in the same step as the usage. */
  is_sum: boolean
  /** JSON text of `summary.usage`; empty: none, or the call is not asked for. */
  usage: string
}

/** SQL of the columns that a report is made of; `usage` is empty where the condition does not hold. */
export function reportColumns(condition = "true"): string {
  const isSum = readSummary((text) => `JSONHas(${text}, 1, 'status_counts')`)
  const usage = `if(${condition}, ${readSummary((text) => `JSONExtractRaw(${text}, 1, 'usage')`)}, '')`
  return `id, trace_id, parent_id, ${isoTimeSql("calls.started_at")} as started_at, ${isSum} as is_sum, ${usage} as usage`
}

/** What each call may be told with, besides. */
const facts = { trace_op: opTitleSql, wb_user_id: "ifNull(wb_user_id, '')" }

/** A call of a range of time. */
export interface DatedReport extends UsageReport {
  bucket: number
  /** What was asked for with it; empty without. */
  fact: string
}

/** Calls that one statement reads: more of them would hold up the event loop, where their reports are added up. */
const callsAtOnce = 5_000

/** Sort times as numbers in text; calls that began in this time lie between them. */
interface Stretch extends TimeRange {
  from: string
  to: string
}

/**
 * Calls of the range in parts, each of whole traces; traces in which no call that is asked for reports any usage are left out.
 * Each part is read from one stretch of time; of traces that go on behind it the calls are kept until the trace has ended.
 */
export async function* readUsageReports(
  traces: TraceStore,
  selection: CallsSelection,
  buckets: TimeBuckets,
  fact: keyof typeof facts | null,
): AsyncGenerator<DatedReport[]> {
  const stretches = await stretchesIn(traces, selection, buckets)
  const long = Map.groupBy(await longTraces(traces, selection, buckets, stretches), ({ first }) => first)
  const open = new Map<string, { last: string; reports: DatedReport[] }>()
  for (const stretch of stretches) {
    const place = String(stretch.start)
    for (const { trace_id, last } of long.get(place) ?? []) open.set(trace_id, { last, reports: [] })
    const whole: DatedReport[] = []
    for (const report of await readStretch(traces, selection, stretch, [...open.keys()], buckets, fact)) {
      const gathered = open.get(report.trace_id)?.reports ?? whole
      gathered.push(report)
    }
    for (const [trace, { last, reports }] of open) {
      if (last !== place) continue
      open.delete(trace)
      if (reports.some(({ usage }) => usage !== "")) for (const report of reports) whole.push(report)
    }
    if (whole.length > 0) yield whole
  }
}

async function stretchesIn(
  traces: TraceStore,
  { projectId }: CallsSelection,
  { start, end }: TimeRange,
): Promise<Stretch[]> {
  const own = new SqlParameters()
  const starts = { projectId, startedAt: rangeSql("started_at", { start, end }) }
  const found = await traces.rows<StoredStretch>(stretchesOf(own, starts, callsAtOnce), own.values)
  return found.map(({ start: first, from, to }, at) => {
    const next = found[at + 1]?.start
    return { start: BigInt(first), end: next === undefined ? end : BigInt(next), from, to }
  })
}

/** Microseconds since 1970 at which a stretch begins. */
interface LongTrace {
  trace_id: string
  first: string
  last: string
}

/** The traces with calls in several of the stretches, and which are the first and the last of them. */
async function longTraces(
  traces: TraceStore,
  selection: CallsSelection,
  range: TimeRange,
  stretches: readonly TimeRange[],
): Promise<LongTrace[]> {
  if (stretches.length <= 1) return []
  const within = startedIn(selection, range)
  const stretch = "roundDown(toUnixTimestamp64Micro(calls.started_at), {starts:Array(Int64)})"
  return traces.rows<LongTrace>(
    `select trace_id, min(${stretch}) as first, max(${stretch}) as last
      from ${callsFinal} where ${within.sql} group by trace_id having first != last`,
    { ...selection.parameters, ...within.values, starts: stretches.map(({ start }) => start) },
  )
}

/** All calls of the stretch that are of one of `openTraces`, or of a trace of which a call here reports usage. */
async function readStretch(
  traces: TraceStore,
  selection: CallsSelection,
  stretch: Stretch,
  openTraces: readonly string[],
  buckets: TimeBuckets,
  fact: keyof typeof facts | null,
): Promise<DatedReport[]> {
  const lies = `sort_time between ${stretch.from} and ${stretch.to}`
  const rows = await traces.rows<Omit<DatedReport, "bucket"> & { bucket: string }>(
    `select ${bucketSql("calls.started_at", buckets)} as bucket, ${fact === null ? "''" : facts[fact]} as fact,
        ${reportColumns(selection.condition)}
      from ${callsFinal} where ${selection.live} and ${lies} and ${rangeSql("calls.started_at", stretch)}
      qualify max(usage != '') over (partition by trace_id) or trace_id in {openTraces:Array(String)}`,
    { ...selection.parameters, openTraces },
    { few: true },
  )
  return rows.map((row) => ({ ...row, bucket: Number(row.bucket) }))
}
