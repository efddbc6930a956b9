/** The calls of a trace as a tree that a model can read: calls alike are folded, and what is left over is cut from below. */
import { z } from "zod"
import type { CallRecord } from "../../wire/calls/call-read.ts"
import { shorten, sizeOf } from "../shorten.ts"
import { factsOf } from "./call-shapes.ts"

export const traceNode = z
  .looseObject({
    op: z.string(),
    status: z.string(),
    call_id: z.string().describe("Of calls that are folded: the first one's."),
    duration_ms: z.number().nullable(),
  })
  .describe(
    "A call with its `children`; `folded`: it stands for so many calls alike, whose time is in `total_ms`; `hidden`: so many " +
      "calls within it, or within all those that it stands for, are not shown.",
  )

interface Node {
  op: string
  status: string
  call_id: string
  duration_ms: number | null
  exception?: unknown
  folded?: number
  total_ms?: number
  hidden?: number
  children?: Node[]
}

/** How many calls a node has within it, at any depth, or all those have that it stands for. */
const callsWithin = new WeakMap<Node, number>()

/** So many calls alike stay beside each other. */
const mostAlike = 3
const longestException = 600

export function foldTrace(
  calls: readonly CallRecord[],
  { isCut, mostCharacters }: { isCut: boolean; mostCharacters: number },
) {
  const ids = new Set(calls.map(({ id }) => id))
  // A call whose parent was not read begins a tree of its own.
  const children = Map.groupBy(calls, ({ parent_id: parent }) => (parent !== null && ids.has(parent) ? parent : null))
  const roots = (children.get(null) ?? []).map((call) => nodeOf(call, children))
  const whole = foldAlike(roots)
  const tree = fitting(whole, mostCharacters)
  const missing = roots.length - tree.reduce((count, { folded = 1 }) => count + folded, 0)
  const absent =
    missing === 0
      ? "Deeper calls are hidden"
      : `Of ${roots.length} calls at the top ${missing} are left out, and all that is deeper`
  const notes = [
    ...(isCut ? [`Only the first ${calls.length} calls were read.`] : []),
    ...(tree === whole ? [] : [`${absent}; search_calls with where trace_id is this trace, and get_call, reach them.`]),
  ]
  return {
    calls: calls.length,
    failed: calls.filter((call) => factsOf(call).status === "error").length,
    tree,
    note: notes.length === 0 ? null : notes.join(" "),
  }
}

/** Without recursion into the tree's depth: a chain of calls may be thousands long. */
function nodeOf(root: CallRecord, children: ReadonlyMap<string | null, readonly CallRecord[]>): Node {
  const top = bareNode(root)
  const open: [CallRecord, Node][] = [[root, top]]
  const parents: Node[] = []
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const [call, node] = next
    const within = (children.get(call.id) ?? []).map((child) => [child, bareNode(child)] as [CallRecord, Node])
    if (within.length === 0) continue
    node.children = within.map(([, child]) => child)
    parents.push(node)
    open.push(...within)
  }
  for (const parent of parents.toReversed()) {
    const within = parent.children ?? []
    callsWithin.set(parent, within.length + countWithin(within))
    parent.children = foldAlike(within)
  }
  return top
}

function bareNode(call: CallRecord): Node {
  const { op, status, call_id, duration_ms } = factsOf(call)
  const failure = call.exception == null ? {} : { exception: shorten(call.exception, longestException).value }
  return { op, status, call_id, duration_ms, ...failure }
}

/** Calls of one function that went well and hold the same, more than a few of them, are one node. */
function foldAlike(nodes: readonly Node[]): Node[] {
  const groups = Map.groupBy(nodes, (node) => (node.status === "success" ? shapeOf(node) : node))
  return [...groups.values()].flatMap((alike) => {
    const [first] = alike
    if (first === undefined || alike.length <= mostAlike) return alike
    const total = alike.reduce((sum, { duration_ms: duration }) => sum + (duration ?? 0), 0)
    const node = { ...first, folded: alike.length, total_ms: Math.round(total) }
    callsWithin.set(node, countWithin(alike))
    addUp(alike)
    return [node]
  })
}

/** What is kept of the first counts what lies in the same places of the others, too. */
function addUp(alike: readonly Node[]): void {
  const open = [alike]
  for (let group = open.pop(); group !== undefined; group = open.pop()) {
    const [first, ...others] = group
    for (const [place, child] of (first?.children ?? []).entries()) {
      const same = [child, ...others.flatMap(({ children }) => children?.[place] ?? [])]
      callsWithin.set(child, countWithin(same))
      if (same.length > 1) open.push(same)
    }
  }
}

function shapeOf({ op, children = [] }: Node): string {
  return `${op}(${children.map((child) => `${child.op}:${child.status}:${child.folded ?? 1}:${child.children?.length ?? 0}`).join()})`
}

/** Levels of the tree from the top, as many as fit; of the last one the failures first. */
function fitting(tree: Node[], most: number): Node[] {
  if (depthOf(tree) < 200 && sizeOf(tree) <= most) return tree
  for (const depth of [100, 30, 12, 8, 5, 3, 2, 1]) {
    const cut = tree.map((node) => cutAt(node, depth))
    if (sizeOf(cut) <= most) return cut
  }
  const [failed = [], others = []] = [true, false].map((isFailure) =>
    tree.map((node) => cutAt(node, 1)).filter(({ status }) => (status === "error") === isFailure),
  )
  const kept: Node[] = []
  let left = most
  for (const node of [...failed, ...others]) {
    left -= sizeOf(node) + 1
    if (left < 0) break
    kept.push(node)
  }
  return kept
}

function cutAt(node: Node, depth: number): Node {
  if (node.children === undefined) return node
  if (depth > 1) return { ...node, children: node.children.map((child) => cutAt(child, depth - 1)) }
  const { children: _children, ...rest } = node
  return { ...rest, hidden: countWithin([node]) }
}

function countWithin(nodes: readonly Node[]): number {
  return nodes.reduce((count, node) => count + (callsWithin.get(node) ?? 0), 0)
}

function depthOf(nodes: readonly Node[]): number {
  let depth = 0
  for (let level = [...nodes]; level.length > 0; level = level.flatMap(({ children = [] }) => children)) depth += 1
  return depth
}
