/** Calls as tools show them. */
import { z } from "zod"
import type { CallRecord } from "../../wire/calls/call-read.ts"
import { shorten } from "../shorten.ts"

/** What is read of a call beside its payloads. */
export const callColumns = [
  "id",
  "trace_id",
  "parent_id",
  "op_name",
  "display_name",
  "started_at",
  "ended_at",
  "exception",
  "summary",
]
export const payloadColumns = ["inputs", "output"]

export const callSummary = z.looseObject({
  call_id: z.string(),
  trace_id: z.string(),
  parent_id: z.string().nullable(),
  op: z.string().describe("The function's name, without its place and version."),
  status: z.string().describe("success, error, running, or descendant_error where only a call within it failed."),
  started_at: z.string(),
  duration_ms: z.number().nullable(),
  exception: z.string().nullable(),
})

interface WeaveSummary {
  status?: string
  latency_ms?: unknown
  trace_name?: string
  feedback?: { feedback_type: string; payload: unknown; id: string }[]
}

/** `weave:///e/p/op/answer:<digest>` → `answer`; a plain name is itself. */
export function opOf(name: string): string {
  return /^weave:\/\/\/[^/]+\/[^/]+\/op\/(.+):[^:/]*$/s.exec(name)?.[1] ?? name
}

/** @param most characters of all that is shown of it; `payloads`: also what it took and gave. */
export function showCall(
  call: CallRecord,
  most: number,
  { payloads: hasPayloads } = { payloads: true },
): { view: object; isShortened: boolean } {
  const { inputs, output, exception, display_name: name } = call
  const weave = weaveOf(call)
  const feedback = weave.feedback?.map(({ feedback_type: type, payload, id }) => ({ type, payload, feedback_id: id }))
  const fields = { ...(hasPayloads ? { inputs, output } : {}), ...(feedback === undefined ? {} : { feedback }) }
  const payloads = shorten(fields, most)
  const reason = shorten(exception ?? null, Math.max(300, Math.floor(most / 4)))
  return {
    view: {
      ...factsOf(call),
      ...(name == null || name === opOf(call.op_name) ? {} : { name }),
      exception: reason.value,
      ...(payloads.value as object),
    },
    isShortened: payloads.isShortened || reason.isShortened,
  }
}

export function factsOf(call: CallRecord) {
  const { status = "running", latency_ms: latency } = weaveOf(call)
  return {
    call_id: call.id,
    trace_id: call.trace_id,
    parent_id: call.parent_id,
    op: opOf(call.op_name),
    status,
    started_at: call.started_at,
    duration_ms: latency == null ? null : Number(JSON.stringify(latency)),
  }
}

function weaveOf({ summary }: CallRecord): WeaveSummary {
  return (summary as Record<string, unknown> | null | undefined)?.["weave"] ?? {}
}
