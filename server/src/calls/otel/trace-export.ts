/**
 * Spans as calls (evaluation-store-calls 8), and those of agents also as spans of agents (10): either view finds a span,
 * whichever path it came by. As a task that may run on another thread.
 */
import { agentSpanLine } from "../../storage/traces/agents/span-table.ts"
import type { CallBatch } from "../../storage/traces/calls/insert/call-batch.ts"
import { RowBuffer } from "../../storage/traces/calls/insert/row-buffer.ts"
import { threadTask } from "../../threads/thread-task.ts"
import { mapAgentSpan } from "./agent-spans/span-mapping.ts"
import { isAgentSpan } from "./agent-spans/span-operation.ts"
import type { PayloadLookup } from "../../objects/payload/payload-lookups.ts"
import { attributeTree } from "./spans/attribute-tree.ts"
import type { OtlpInput, Outcome, SpanOwner } from "./otlp/otlp-input.ts"
import { exportSpans, type SpanSink } from "./span-export.ts"
import { cannotStore, SpanRows } from "./spans/span-rows.ts"
import { findFault } from "./spans/span-rules.ts"
import type { Span } from "./trace-request.ts"

/** Which spans become spans of agents: `all` of what is sent to their own path. */
export type AgentSpans = "all" | "recognized"

interface TraceExport extends OtlpInput {
  agentSpans: AgentSpans
}

/** Spans are mapped at 3 MB/s or so. */
export const spansOwnThreadBytes = 128 * 1024

export const traceExportTask = threadTask<TraceExport, CallBatch & { outcome: Outcome }, PayloadLookup, unknown>({
  name: "otel/traces",
  ownThreadBytes: spansOwnThreadBytes,
  *run(input) {
    const { sink, outcome } = yield* exportSpans(input, (spans) => new SpanBatch(spans, input))
    return { ...sink.batch(), outcome }
  },
})

class SpanBatch implements SpanSink {
  readonly #calls: SpanRows
  readonly #agentSpans = new RowBuffer(0)
  /** Bytes of the spans of agents by project. */
  readonly #agentBytesOf = new Map<string, number>()
  readonly #whichSpans: AgentSpans

  constructor(spans: number, { bytes, agentSpans }: TraceExport) {
    this.#calls = new SpanRows(spans, bytes.length)
    this.#whichSpans = agentSpans
  }

  get size(): number {
    return this.#calls.size + this.#agentSpans.length
  }

  /** @throws {HeddleError} `value_error` or `insert_too_large` for a span that cannot be stored; nothing of it was added. */
  add(span: Span, source: string, owner: SpanOwner): void {
    const fault = findFault(span)
    if (fault !== null) throw cannotStore(span, fault)
    const tree = attributeTree(span.attributes)
    const isOfAgent = this.#whichSpans === "all" || isAgentSpan(span, tree)
    const agentLine = isOfAgent ? agentSpanLine(mapAgentSpan(span, tree, owner)) : ""
    this.#calls.add(span, tree, source, owner)
    const before = this.#agentSpans.length
    this.#agentSpans.text(agentLine)
    const added = this.#agentSpans.length - before
    if (added > 0) this.#agentBytesOf.set(owner.id, (this.#agentBytesOf.get(owner.id) ?? 0) + added)
  }

  batch(): CallBatch {
    const calls = this.#calls.batch()
    const bytesOf = new Map(calls.bytesOf)
    for (const [project, bytes] of this.#agentBytesOf) bytesOf.set(project, (bytesOf.get(project) ?? 0) + bytes)
    return { ...calls, bytesOf, agentSpans: this.#agentSpans.bytes() }
  }
}
