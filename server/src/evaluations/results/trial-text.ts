/** One trial as its JSON text, payloads as they came (law 3): evaluation-store-objects 7. */
import { membersOf, memberText, textAt } from "../../json/json-members.ts"
import type { CallRow } from "../../storage/traces/calls/call-row-reads.ts"
import { spanRef, type SpanRef } from "../../wire/evaluations/evaluation-run.ts"
import { callDuration } from "../../calls/read/call-duration.ts"
import { reportedUsage, type TokenUsage } from "../../calls/usage/token-usage.ts"
import { predictCallOf, scorerCallIds, type TrialCall } from "./trial-calls.ts"

export interface TrialParts {
  row: CallRow
  /** Children of the `predict_and_score` call; empty if they were not read. */
  children: readonly TrialCall[]
  /** Cost of a usage at a time, or null without a price. */
  cost: ((usage: ReadonlyMap<string, TokenUsage>, startedAt: string) => number | null) | null
  /** Whether the ids of the children are shown. */
  showsChildren: boolean
  showsOutput: boolean
}

export function trialText({ row, children, cost, showsChildren, showsOutput }: TrialParts): string {
  const output = row.output ?? "null"
  const predict = predictCallOf(row, children)
  const scores = objectOrEmpty(memberText(output, "scores"))
  const predictCall = showsChildren ? predict : null
  const usage = reportedUsage(predictCall ?? row)
  const known = JSON.stringify({
    predict_and_score_call_id: row.id,
    predict_call_id: predictCall?.id ?? null,
    model_latency_seconds: latencyOf(predictCall) ?? reportedLatency(output),
    total_tokens: usage.size === 0 ? null : sum(usage.values(), ({ total_tokens }) => total_tokens),
    total_cost: predict === null || cost === null ? null : cost(reportedUsage(predict), predict.started_at),
    scorer_call_ids: showsChildren
      ? scorerCallIds(
          membersOf(scores).map(([name]) => name),
          children,
          predict,
        )
      : {},
    genai_span_ref: spanRefs(predict === null ? [row] : [predict, row]),
  })
  const given = showsOutput ? (memberText(output, "output") ?? memberText(output, "model_output")) : null
  return `${known.slice(0, -1)},"model_output":${given ?? "null"},"scores":${scores}}`
}

function objectOrEmpty(text: string | null): string {
  return text?.startsWith("{") === true ? text : "{}"
}

function latencyOf(predict: CallRow | null): number | null {
  const duration = predict === null ? null : callDuration(predict)
  return duration === null ? null : Number(duration) / 1e6
}

/** A number of the SDKs, `{mean}` of this API. */
function reportedLatency(output: string): number | null {
  const reported = memberText(output, "model_latency") ?? "null"
  const latency: unknown = JSON.parse(memberText(reported, "mean") ?? reported)
  return typeof latency === "number" ? latency : null
}

/** Refs of the calls in order, each once; null if there are none. */
function spanRefs(rows: readonly CallRow[]): SpanRef[] | null {
  const refs = new Map<string, SpanRef>()
  for (const { attributes, summary } of rows) {
    for (const ref of refsIn(attributes) ?? refsIn(summary) ?? []) refs.set(`${ref.trace_id} ${ref.span_id}`, ref)
  }
  return refs.size === 0 ? null : [...refs.values()]
}

function refsIn(payload: string | null | undefined): SpanRef[] | null {
  if (payload?.includes("genai_span_ref") !== true) return null
  const text = textAt(payload, ["weave", "genai_span_ref"])
  const found: unknown = text === null ? null : JSON.parse(text)
  if (!Array.isArray(found)) return null
  const refs = found.flatMap((one) => {
    const parsed = spanRef.safeParse(one)
    return parsed.success ? [parsed.data] : []
  })
  return refs.length === 0 ? null : refs
}

function sum<T>(values: Iterable<T>, number: (value: T) => number): number {
  let total = 0
  for (const value of values) total += number(value)
  return total
}
