/** The calls of a trace as a tree. There may be 50,000 of them: what is asked of all is worked out once, in one walk. */
import { type CallKind, kindOfCall } from "./call-kind.ts"
import { timeOf } from "./call-time.ts"

/** Fields of a call that the tree needs; payloads are read for the selected call only. */
export interface SpanRecord {
  id: string
  parent_id?: string | null | undefined
  op_name: string
  display_name?: string | null | undefined
  started_at: string
  ended_at?: string | null | undefined
  exception?: string | null | undefined
}

export interface Span {
  /** Its place in {@link TraceTree.spans}. */
  index: number
  id: string
  name: string
  kind: CallKind
  /** Milliseconds from the start of the trace. */
  start: number
  /** Milliseconds from the start of the trace; null: the call still runs. */
  end: number | null
  isFailed: boolean
  parent: number | null
  children: number[]
  depth: number
  /** Failed calls inside it, without itself. */
  failedInside: number
  /** It names a parent that is not there. */
  isOrphan: boolean
}

export interface TraceTree {
  spans: Span[]
  /** Index by id of the call. */
  indexOf: ReadonlyMap<string, number>
  roots: number[]
  /** In the order of the tree. */
  failed: number[]
  /** In the order of the tree: each call before those inside it. */
  order: number[]
  /** Milliseconds since 1970. */
  startedAt: number
  /** From the start to the last end, or to `now` while an outermost call runs. */
  durationMs: number
  running: number
}

export type NameOf = (record: SpanRecord) => string

/** `now`, in milliseconds since 1970, is where calls end that still run. */
export function buildTree(records: readonly SpanRecord[], nameOf: NameOf, now: number): TraceTree {
  const times = records.map(({ started_at }) => timeOf(started_at))
  const startedAt = times.reduce((least, time) => Math.min(least, time), Infinity)
  const names = new Map<string, string>()
  const kinds = new Map<string, CallKind>()
  const spans = records.map((record, index): Span => {
    const named = record.display_name == null ? names.get(record.op_name) : undefined
    const name = named ?? nameOf(record)
    if (record.display_name == null) names.set(record.op_name, name)
    const kind = kinds.get(record.op_name) ?? kindOfCall(record.op_name)
    kinds.set(record.op_name, kind)
    return {
      index,
      id: record.id,
      name,
      kind,
      start: (times[index] ?? startedAt) - startedAt,
      end: record.ended_at == null ? null : timeOf(record.ended_at) - startedAt,
      isFailed: record.exception != null,
      parent: null,
      children: [],
      depth: 0,
      failedInside: 0,
      isOrphan: false,
    }
  })
  const indexOf = new Map(spans.map(({ id, index }) => [id, index]))
  const roots: number[] = []
  for (const [index, span] of spans.entries()) {
    const parentId = records[index]?.parent_id ?? null
    const parent = parentId === null ? undefined : indexOf.get(parentId)
    if (parent === undefined || parent === index) {
      span.isOrphan = parentId !== null
      roots.push(index)
    } else {
      span.parent = parent
      spans[parent]?.children.push(index)
    }
  }
  const byStart = (a: number, b: number) => (spans[a]?.start ?? 0) - (spans[b]?.start ?? 0) || a - b
  roots.sort(byStart)
  for (const { children } of spans) if (children.length > 1) children.sort(byStart)
  const order = orderOf(spans, roots)
  const running = spans.filter(({ end }) => end === null).length
  for (const index of order.toReversed()) addToParent(spans, index)
  // A call that never ended, inside one that has, was left behind by a program that is gone. Drawn until now, it would leave
  // the others no room.
  const isOpen = roots.some((root) => spans[root]?.end === null)
  const last = spans.reduce((most, { start, end }) => Math.max(most, end ?? start), 0)
  return {
    spans,
    indexOf,
    roots,
    failed: order.filter((index) => spans[index]?.isFailed === true),
    order,
    startedAt: records.length === 0 ? now : startedAt,
    durationMs: isOpen ? Math.max(last, now - startedAt) : last,
    running,
  }
}

/** Calls whose parents go round in a circle hang from nothing: the first of them becomes a root. */
function orderOf(spans: Span[], roots: number[]): number[] {
  const order: number[] = []
  const isSeen = new Uint8Array(spans.length)
  const walk = (root: number) => {
    const stack = [root]
    for (let index = stack.pop(); index !== undefined; index = stack.pop()) {
      const span = spans[index]
      if (span === undefined || isSeen[index] === 1) continue
      isSeen[index] = 1
      order.push(index)
      const depth = span.depth + 1
      for (let child = span.children.length - 1; child >= 0; child -= 1) {
        const inner = spans[span.children[child] ?? -1]
        if (inner === undefined || isSeen[inner.index] === 1) continue
        inner.depth = depth
        stack.push(inner.index)
      }
    }
  }
  for (const root of roots) walk(root)
  for (const span of spans) {
    if (isSeen[span.index] === 1) continue
    const parent = span.parent === null ? undefined : spans[span.parent]
    if (parent !== undefined) parent.children = parent.children.filter((child) => child !== span.index)
    span.parent = null
    span.isOrphan = true
    span.depth = 0
    roots.push(span.index)
    walk(span.index)
  }
  return order
}

function addToParent(spans: Span[], index: number): void {
  const span = spans[index]
  const parent = span?.parent == null ? undefined : spans[span.parent]
  if (span !== undefined && parent !== undefined) parent.failedInside += span.failedInside + (span.isFailed ? 1 : 0)
}

/** Milliseconds that a call took; one that still runs reaches to the end of the trace. */
export function spanDuration(tree: TraceTree, { start, end }: Span): number {
  return Math.max(0, (end ?? tree.durationMs) - start)
}

/** The call and the calls that it is in, the innermost first; none without a call. */
export function withAncestors(tree: TraceTree, index: number | null): number[] {
  const found: number[] = []
  for (let at = index; at !== null; at = tree.spans[at]?.parent ?? null) found.push(at)
  return found
}

/** The next failed call after the selected one in the order of the tree, round at the end; null: none failed. */
export function nextFailed(tree: TraceTree, selected: number | null, step: 1 | -1): number | null {
  const { failed, order } = tree
  if (failed.length === 0) return null
  const places = new Map(order.map((index, place) => [index, place]))
  const here = selected === null ? -1 : (places.get(selected) ?? -1)
  const placeOf = (index: number) => places.get(index) ?? 0
  const next =
    step === 1 ? failed.find((index) => placeOf(index) > here) : failed.findLast((index) => placeOf(index) < here)
  return next ?? (step === 1 ? failed[0] : failed.at(-1)) ?? null
}
