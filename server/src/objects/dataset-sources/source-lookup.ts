/** The calls and spans that a link names must be there; how they are called and when they began is kept with it. */
import { HeddleError } from "../../errors.ts"
import type { SourceKey } from "../../storage/catalog/objects/dataset-sources.ts"
import { findSpanNames } from "../../storage/traces/agents/span-names.ts"
import { readCallRows } from "../../storage/traces/calls/call-row-reads.ts"
import type { TraceStore } from "../../storage/traces/store/trace-store.ts"
import type { ProjectAccess } from "../../access/project-access.ts"

export interface FoundSource {
  displayName: string
  /** ISO 8601. */
  startedAt: string
  /** The one of the call itself, whatever the request says. */
  traceId: string
}

/**
 * In the order asked. Conversations are taken on trust: they are whatever spans name them.
 * @throws {HeddleError} `invalid_request` that names those that are not there.
 */
export async function findSources(
  traces: TraceStore,
  project: ProjectAccess,
  sources: readonly SourceKey[],
): Promise<FoundSource[]> {
  const calls = await findCalls(traces, project.id, sources)
  const spans = await findSpans(traces, project.id, sources)
  const now = new Date().toISOString()
  const found = sources.map((source) => {
    if (source.source_kind === "call") return calls.get(source.source_id) ?? null
    if (source.source_kind === "span") return spans.get(spanKey(source.source_trace_id, source.source_id)) ?? null
    return { displayName: "", startedAt: now, traceId: "" }
  })
  const missing = sources.filter((_, index) => found[index] === null)
  if (missing.length > 0) throw sourcesNotFound(project.name, missing)
  return found as FoundSource[]
}

async function findCalls(traces: TraceStore, projectId: string, sources: readonly SourceKey[]) {
  const ids = new Set(sources.flatMap((one) => (one.source_kind === "call" ? [one.source_id] : [])))
  const rows = ids.size === 0 ? [] : await readCallRows(traces, projectId, [...ids], ["display_name"])
  return new Map(
    rows.map((row) => [
      row.id,
      { displayName: row.display_name ?? row.op_name, startedAt: row.started_at, traceId: row.trace_id },
    ]),
  )
}

async function findSpans(traces: TraceStore, projectId: string, sources: readonly SourceKey[]) {
  const spans = sources
    .filter((one) => one.source_kind === "span")
    .map((one) => ({ trace_id: one.source_trace_id, span_id: one.source_id }))
  const rows = await findSpanNames(traces, projectId, spans)
  return new Map(
    rows.map((row) => [
      spanKey(row.trace_id, row.span_id),
      { displayName: row.span_name, startedAt: row.started_at, traceId: row.trace_id },
    ]),
  )
}

function spanKey(traceId: string, spanId: string): string {
  return JSON.stringify([traceId, spanId])
}

const mostNamed = 20

function sourcesNotFound(projectName: string, missing: readonly SourceKey[]): HeddleError {
  const names = [...new Set(missing.map((one) => `${one.source_kind} ${one.source_id}`))]
  const more = names.length > mostNamed ? ` and ${names.length - mostNamed} more` : ""
  return new HeddleError(
    "invalid_request",
    `sources not found in ${projectName}: ${names.slice(0, mostNamed).join(", ")}${more}; nothing was linked`,
  )
}
