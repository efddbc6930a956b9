import { expect, test } from "vitest"
import { kindOfCall } from "./call-kind.ts"
import { groupKey, openAtFirst, treeRows } from "./trace-rows.ts"
import { buildTree, nextFailed, type SpanRecord, withAncestors } from "./trace-tree.ts"

const at = (milliseconds: number) => new Date(1_000_000 + milliseconds).toISOString()

/** `id parent name start end`, with `!` for one that failed. */
function record(text: string): SpanRecord {
  const [id = "", parent = "", name = "", start = "0", end = "0", failed] = text.split(" ")
  return {
    id,
    parent_id: parent === "-" ? null : parent,
    op_name: name,
    started_at: at(Number(start)),
    ended_at: end === "…" ? null : at(Number(end)),
    exception: failed === undefined ? null : "boom",
  }
}
const treeOf = (...texts: string[]) => buildTree(texts.map(record), ({ op_name }) => op_name, 1_000_000 + 500)
const ids = (tree: ReturnType<typeof treeOf>, indexes: readonly number[]) =>
  indexes.map((index) => tree.spans[index]?.id)

test("calls hang from their parents, by the time they began", () => {
  const tree = treeOf("c a x 20 30", "a - root 0 100", "b a x 10 40 !", "d b x 11 12 !")
  expect(ids(tree, tree.order)).toEqual(["a", "b", "d", "c"])
  expect(tree.spans.map(({ id, depth, failedInside }) => [id, depth, failedInside])).toEqual([
    ["c", 1, 0],
    ["a", 0, 2],
    ["b", 1, 1],
    ["d", 2, 0],
  ])
  expect([tree.durationMs, tree.running, ids(tree, tree.failed)]).toEqual([100, 0, ["b", "d"]])
})

test("a parent that is not there, and parents in a circle, lose no call", () => {
  const tree = treeOf("a gone x 0 1", "b c x 1 2", "c b x 2 3", "d d x 3 4")
  expect(new Set(ids(tree, tree.order))).toEqual(new Set(["a", "b", "c", "d"]))
  expect(tree.order).toHaveLength(4)
  expect(tree.spans.filter(({ isOrphan }) => isOrphan).map(({ id }) => id)).toEqual(["a", "b", "d"])
})

test("what never ended inside of a call that has ended reaches to the last end, and is counted as running", () => {
  const tree = treeOf("a - root 0 100", "b a x 10 …", "c a x 20 120")
  expect([tree.durationMs, tree.running]).toEqual([120, 1])
  expect(treeOf("a - root 0 …", "b a x 10 20").durationMs).toBe(500)
})

test("what runs still reaches to now, and microseconds keep their order", () => {
  expect(treeOf("a - x 0 …", "b a x 10 20").durationMs).toBe(500)
  const close = [
    { ...record("b - x 0 1"), started_at: "2026-11-20T10:00:00.000900Z" },
    { ...record("a - x 0 1"), started_at: "2026-11-20T10:00:00.000100Z" },
  ]
  const tree = buildTree(close, () => "x", 0)
  expect(ids(tree, tree.roots)).toEqual(["a", "b"])
})

const many = () =>
  treeOf(
    "r - root 0 1000",
    ...Array.from(
      { length: 20 },
      (_, index) => `s${index} r step ${index * 10} ${index * 10 + (index === 9 ? 90 : 5)}${index === 4 ? " !" : ""}`,
    ),
    "z r last 900 950",
  )

test("repeated siblings are one row, which still shows what failed, what is slow and what is selected", () => {
  const tree = many()
  const state = {
    spans: new Set([0]),
    groups: new Set<string>(),
    selected: tree.indexOf.get("s15") ?? null,
    isFolding: true,
  }
  const shown = treeRows(tree, state).map((row) =>
    row.kind === "group" ? `×${row.count} !${row.failed}` : row.span.id,
  )
  expect(shown).toEqual(["r", "×20 !1", "s4", "s9", "s15", "z"])
  const unfolded = treeRows(tree, { ...state, groups: new Set([groupKey(0, 1)]) })
  expect(unfolded).toHaveLength(23)
  expect(treeRows(tree, { ...state, isFolding: false })).toHaveLength(22)
})

test("closed calls hide what is inside them; a large trace opens to its outermost calls and the selected one", () => {
  const small = treeOf("a - x 0 9", "b a x 1 8", "c b x 2 7")
  const state = { groups: new Set<string>(), selected: null, isFolding: true }
  expect(treeRows(small, { ...state, spans: openAtFirst(small, null) })).toHaveLength(3)
  expect(treeRows(small, { ...state, spans: new Set([0]) })).toHaveLength(2)
  const large = treeOf(
    "a - x 0 9",
    "b a x 1 8",
    "c b x 2 7",
    ...Array.from({ length: 200 }, (_, index) => `n${index} b y 3 4`),
  )
  expect([...openAtFirst(large, null)]).toEqual([0])
  expect([...openAtFirst(large, 2)]).toEqual([0, 1])
  expect(withAncestors(large, 2)).toEqual([2, 1, 0])
})

test("errors are walked in the order of the tree, round at the ends", () => {
  const tree = treeOf("a - x 0 9", "b a x 1 2 !", "c a x 3 4", "d a x 5 6 !")
  const walk = (from: string | null, step: 1 | -1) => {
    const next = nextFailed(tree, from === null ? null : (tree.indexOf.get(from) ?? null), step)
    return next === null ? null : tree.spans[next]?.id
  }
  expect([walk(null, 1), walk("b", 1), walk("c", 1), walk("d", 1)]).toEqual(["b", "d", "d", "b"])
  expect([walk("a", -1), walk("d", -1), walk("c", -1)]).toEqual(["d", "b", "b"])
  expect(nextFailed(treeOf("a - x 0 1"), 0, 1)).toBeNull()
})

test("50,000 calls, deep and wide, become a tree without a deep stack", { timeout: 60_000 }, () => {
  const deep = Array.from({ length: 25_000 }, (_, index) =>
    record(`d${index} ${index === 0 ? "-" : `d${index - 1}`} x ${index} 50000`),
  )
  const wide = Array.from({ length: 25_000 }, (_, index) => record(`w${index} d0 y ${index} ${index + 1}`))
  const tree = buildTree([...deep, ...wide], ({ op_name }) => op_name, 0)
  expect(tree.order).toHaveLength(50_000)
  expect(tree.spans[24_999]?.depth).toBe(24_999)
  const rows = treeRows(tree, { spans: new Set([0]), groups: new Set(), selected: null, isFolding: true })
  expect(rows.map(({ kind }) => kind)).toEqual(["span", "span", "span", "group", "span"])
  const all = new Set(tree.spans.map(({ index }) => index))
  expect(treeRows(tree, { spans: all, groups: new Set(), selected: 24_999, isFolding: true })).toHaveLength(25_003)
})

test.each([
  ["weave:///e/p/op/openai.chat.completions.create:v1", "llm"],
  ["search_policy", "retrieval"],
  ["embed", "embedding"],
  ["tone.score", "scorer"],
  ["Evaluation.predict_and_score", "function"],
  ["invoke_agent", "agent"],
  ["execute_tool", "tool"],
  ["classify_intent", "function"],
])("%s is of the kind %s", (name, kind) => expect(kindOfCall(name)).toBe(kind))
