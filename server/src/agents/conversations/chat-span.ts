/** A span as the chat reads it, and how spans of a trace hang together: evaluation-store-calls 10. */
import type { StoredSpan } from "../../storage/traces/agents/span-list.ts"
import type { SpanMessage } from "../../storage/traces/agents/span-table.ts"
import { microsecondsOf } from "../../storage/traces/query/sql-time.ts"
import { agentSpan } from "../spans/span-rows.ts"

type SpanAnswer = ReturnType<typeof agentSpan>

/** A span whose times are numbers, to reckon with. */
export interface ChatSpan extends SpanAnswer {
  began: number
  /** null: never ended. */
  ended: number | null
  /** Whether totals count its tokens and costs. */
  isCounted: boolean
}

export interface SpanNode {
  span: ChatSpan
  children: SpanNode[]
}

export function chatSpan(row: StoredSpan, projectName: string): ChatSpan {
  const span = agentSpan(row, projectName)
  const counts = Object.fromEntries(reckoned.map((name) => [name, asDouble(span[name])]))
  return {
    ...span,
    ...counts,
    began: microseconds(span.started_at) ?? 0,
    ended: microseconds(span.ended_at),
    isCounted: Number(row["is_counted"]) === 1,
  }
}

/** Numbers that the chat adds up or compares. */
const reckoned = [
  "input_tokens",
  "output_tokens",
  "reasoning_tokens",
  "cache_creation_input_tokens",
  "cache_read_input_tokens",
  "compaction_items_before",
  "compaction_items_after",
] as const

/** Converts a number of a row. The store writes numbers above 2^53 as strings of digits. */
function asDouble(value: unknown): number | null {
  return JSON.isRawJSON(value) ? Number(value.rawJSON) : (value as number | null)
}

function microseconds(time: string | null): number | null {
  const moment = time === null ? null : microsecondsOf(time)
  return moment === null ? null : Number(moment)
}

export function durationOf({ began, ended }: ChatSpan): number {
  return ended === null ? 0 : Math.max(0, Math.floor((ended - began) / 1000))
}

/** Spans whose parent is not there are roots, and so is one of each circle. */
export function spanTree(spans: readonly ChatSpan[]): SpanNode[] {
  const nodes = new Map(spans.map((span) => [span.span_id, { span, children: [] as SpanNode[] }]))
  const roots: SpanNode[] = []
  for (const node of nodes.values()) {
    const parent = nodes.get(node.span.parent_span_id ?? "")
    if (parent === undefined || parent === node) roots.push(node)
    else parent.children.push(node)
  }
  for (const node of nodes.values()) node.children.sort(byStart)
  return [...roots, ...circles(nodes, roots)].toSorted(byStart)
}

/** The earliest spans of what no root leads to, cut off from the parent that is below them. */
function circles(nodes: ReadonlyMap<string, SpanNode>, roots: readonly SpanNode[]): SpanNode[] {
  const reached = new Set<SpanNode>()
  const reach = (from: SpanNode) => {
    const waiting = [from]
    for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
      if (reached.has(node)) continue
      reached.add(node)
      waiting.push(...node.children)
    }
  }
  for (const root of roots) reach(root)
  const found: SpanNode[] = []
  for (const node of [...nodes.values()].toSorted(byStart)) {
    if (reached.has(node)) continue
    const parent = nodes.get(node.span.parent_span_id ?? "")
    if (parent !== undefined) parent.children = parent.children.filter((child) => child !== node)
    found.push(node)
    reach(node)
  }
  return found
}

/** Orders spans by start. If two start together, the one that ends later comes first, because it contains the other. */
function byStart(a: SpanNode, b: SpanNode): number {
  const [left, right] = [a.span, b.span]
  return (
    left.began - right.began ||
    (right.ended ?? -Infinity) - (left.ended ?? -Infinity) ||
    (left.span_id < right.span_id ? -1 : 1)
  )
}

/** The span without a parent; of none or many, the one that ended last. */
export function rootOf(spans: readonly ChatSpan[]): ChatSpan | null {
  const roots = spans.filter(({ parent_span_id }) => parent_span_id === null)
  if (roots.length === 1) return roots[0] ?? null
  return spans.reduce<ChatSpan | null>(
    (best, span) => (best === null || (span.ended ?? -Infinity) > (best.ended ?? -Infinity) ? span : best),
    null,
  )
}

/** Content that the messages show, by the refs of the span: the digest at their end tells which is which. */
export function contentRefs(span: ChatSpan, messages: readonly SpanMessage[]): string[] {
  const digests = new Set<string>()
  for (const { content } of messages) {
    for (const [ref] of content.matchAll(/weave:\/\/\/[^\s"\\]+/g)) digests.add(digestOf(ref))
  }
  return span.content_refs.filter((ref) => digests.has(digestOf(ref)))
}

function digestOf(ref: string): string {
  return ref.slice(ref.lastIndexOf(":") + 1)
}
