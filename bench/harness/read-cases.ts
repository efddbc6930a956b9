/** The calls that the reading benchmark stores, and the queries that it times. */
import { type BenchCall, callsPerTrace } from "./call-corpus.ts"
import { callIds, type IdKind } from "./call-ids.ts"
import { ENTITY, PROJECT } from "./heddle-server.ts"

export const PROJECT_ID = `${ENTITY}/${PROJECT}`
/** A word that only one call contains. */
export const needle = "xylographer"
const needleAt = 7
const shortestNeedle = 5
/** Parts of the word that no other call contains either. */
const needles = [0, 1].flatMap((from) =>
  Array.from({ length: needle.length - from - shortestNeedle + 1 }, (_, more) =>
    needle.slice(from, from + shortestNeedle + more),
  ),
)
/** Another one in each round, as the store remembers where it found nothing. */
export const needleOf = (round: number) => needles[round % needles.length] as string

/** The first so many calls are one trace: a root and its children. */
const longTrace = 50_000
const millisecondsApart = 40
const firstStart = Date.UTC(2026, 0, 1)

const rootOf = (index: number) => (index < longTrace ? 0 : index - (index % callsPerTrace))
const timeOf = (index: number) => firstStart + index * millisecondsApart
/** A call's id holds its own time, and a trace's id that of its root. */
const callId = (kind: IdKind, index: number) => callIds[kind].call(index, 0, timeOf(index))
const traceId = (kind: IdKind, index: number) => callIds[kind].trace(rootOf(index), timeOf(rootOf(index)))

/** The ids of the first calls. */
export const callsIn = (count: number) => Array.from({ length: count }, (_, index) => callId("uuid7", index))

/** A body of `/calls/complete`: calls `from` to `from + count`, their payloads taken in turn. */
export function callsBody(payloads: readonly BenchCall[], kind: IdKind, from: number, count: number): Buffer {
  const batch = Array.from({ length: count }, (_, offset) => {
    const index = from + offset
    const { attributes, inputs, output, summary, seconds } = payloads[index % payloads.length] as BenchCall
    const start = timeOf(index)
    const score = ((index * 7919) % 100_000) / 1000
    const word = index === needleAt ? { note: needle } : {}
    return {
      project_id: PROJECT_ID,
      id: callId(kind, index),
      trace_id: traceId(kind, index),
      parent_id: rootOf(index) === index ? null : callId(kind, rootOf(index)),
      op_name: `weave:///${PROJECT_ID}/op/answer_question:Xk3v0pQbW9T2mJr8YdLcA5sHfN7uZeGi1oKxVtB6wEq`,
      started_at: new Date(start).toISOString(),
      ended_at: new Date(start + seconds * 1000).toISOString(),
      attributes,
      inputs: { ...inputs, nested: { score } },
      output: { ...output, ...word, rank: (index * 104_729) % 1_000_003 },
      summary,
    }
  })
  return Buffer.from(JSON.stringify({ batch }))
}

export interface ReadCase {
  what: string
  /** Null for a case that is measured without a bar. */
  atMostMs: number | null
  request: (round: number) => { path: string; body: object }
}

const field = (path: string) => ({ $getField: path })
const newestFirst = [{ field: "started_at", direction: "desc" }]
const stream = (body: object) => ({ path: "/calls/stream_query", body })

/** The first of {@link readCases}: they read few rows. */
export const lookUps = (calls: number, kind: IdKind) => readCases(calls, kind).slice(0, 3)

/** The cases for a store with `calls` calls. */
export function readCases(calls: number, kind: IdKind): ReadCase[] {
  const some = (round: number) => (round * 104_729 + 7) % calls
  const later = (round: number) => Math.max(some(round), Math.min(longTrace, calls - 1))
  const found = (round: number) => ({ $contains: { input: field("output"), substr: { $literal: needleOf(round) } } })
  return [
    { what: "newest 50", atMostMs: 15, request: () => stream({ sort_by: newestFirst, limit: 50 }) },
    {
      what: "call by id",
      atMostMs: 8,
      request: (round) => ({ path: "/call/read", body: { id: callId(kind, some(round)) } }),
    },
    {
      what: "trace by id",
      atMostMs: 12,
      request: (round) => stream({ filter: { trace_ids: [traceId(kind, later(round))] } }),
    },
    {
      what: "filter on a nested JSON number, count",
      atMostMs: 500,
      request: (round) => ({
        path: "/calls/query_stats",
        body: { query: { $expr: { $gt: [field("inputs.nested.score"), { $literal: 50 + round }] } } },
      }),
    },
    {
      what: "substring search, newest 50",
      atMostMs: 700,
      request: (round) => stream({ sort_by: newestFirst, limit: 50, query: { $expr: found(round) } }),
    },
    {
      what: "substring search, count of what was searched before",
      atMostMs: null,
      request: (round) => ({ path: "/calls/query_stats", body: { query: { $expr: found(round) } } }),
    },
    {
      what: "sort by a JSON field, 50",
      atMostMs: 700,
      request: () => stream({ sort_by: [{ field: "output.rank", direction: "desc" }], limit: 50 }),
    },
    {
      what: "the next 1,000 of all calls, from the 50,000th on",
      atMostMs: null,
      request: (round) => stream({ limit: 1000, offset: 50_000 + round * 1000 }),
    },
    {
      what: "skeleton of a trace of 50,000",
      atMostMs: 500,
      request: () =>
        stream({
          filter: { trace_ids: [traceId(kind, 0)] },
          columns: ["id", "parent_id", "op_name", "display_name", "started_at", "ended_at", "exception"],
        }),
    },
  ]
}
