/** The rows of a table of calls: pages as they are seen, what is shown of their payloads, and the calls that still run. */
import { useState } from "react"
import type { AggregatedUsage } from "@heddle/server/wire/calls/usage.ts"
import { useCallPages, useFirstCalls, useCallPayloads, useCallUsages } from "../../../api/calls/call-pages.ts"
import { type Call, type CallsQuery, useCallCount, useCalls } from "../../../api/calls/calls.ts"
import { callFacts, tokensOfUsage } from "../../../calls/call-summary.ts"
import type { Selection } from "../../../calls/filter/filter-query.ts"
import { secondsUpTo } from "../../../calls/seconds-up-to.ts"
import type { CallRow } from "./call-columns.tsx"
import { useListVersion } from "./list-version.ts"
import { blocksOf, moved, pageBounds, pageOf, pagesOf, range, topWindow, upTo } from "./row-window.ts"

/** Only the size of a larger call is read for a row. */
const largestPreview = 64_000
/** Counting more takes long; scrolling to the end counts the next rows. */
const firstBudget = 10_000
/** So many rows before the last that is counted. */
const nearEnd = 100
const liveMs = 2_000
const runningMs = 3_000
export const newMs = 5_000
const mostNew = 1_000

const columns = [
  "op_name",
  "display_name",
  "parent_id",
  "started_at",
  "ended_at",
  "exception",
  "wb_user_id",
  "thread_id",
  "summary",
]

interface Wanted {
  projectId: string
  selection: Selection
  sortBy: { field: string; direction: "asc" | "desc" }
  isLive: boolean
  rootsOnly: boolean
  isEnabled: boolean
}

export function useCallRows({ projectId, selection, sortBy, isLive, rootsOnly, isEnabled }: Wanted) {
  const [version, readAgain] = useListVersion()
  const [rowWindow, setRowWindow] = useState(topWindow)
  const [budget, setBudget] = useState(firstBudget)
  const isNewestFirst = sortBy.field === "started_at" && sortBy.direction === "desc"
  const list: CallsQuery = {
    project_id: projectId,
    ...selection,
    sort_by: [sortBy],
    columns,
    ...pageBounds(0),
    include_costs: true,
    include_feedback: true,
    include_storage_size: true,
  }

  const [first] = useCallPages(isEnabled ? [list] : [], version, isLive ? liveMs : false)
  const found = useFirstCalls(list, version)
  const firstCalls = first?.data ?? found
  const isShort = first?.data !== undefined && first.data.length < pageBounds(0).limit
  // The rows come first: to count what a word finds reads as much as to find it. A page that is not full is counted by itself.
  const isCounting = isEnabled && first?.data !== undefined && !isShort
  const count = useCallCount(
    { project_id: projectId, ...selection, limit: budget },
    { enabled: isCounting, refetchInterval: isLive ? newMs : false },
  )
  const newest = first?.data?.[0]?.started_at
  // While nothing comes in by itself, later pages go on from the first one: calls that are sent meanwhile move no row.
  const anchored =
    isLive || !isNewestFirst || newest === undefined ? list : { ...list, ...within(selection, { $lte: newest }) }
  const { seen } = rowWindow
  const whole = isShort ? first.data.length : count.data?.has_more === false ? count.data.count : Infinity
  // Live pages are read every few seconds, and may be more than were counted: those that are seen are enough.
  const [wanted, listed] = isLive ? [seen, seen] : [upTo(whole, rowWindow.wanted), upTo(whole, rowWindow.listed)]
  const later = pagesOf(listed).filter((page) => page > 0)
  const laterPages = useCallPages(
    newest === undefined ? [] : later.map((page) => ({ ...anchored, ...pageBounds(page) })),
    version,
    isLive ? liveMs : false,
  )
  const pages = new Map<number, Call[] | undefined>([
    [0, firstCalls],
    ...later.map((page, index) => [page, laterPages[index]?.data] as const),
  ])
  const callAt = (index: number) => {
    const { page, place } = pageOf(index)
    return pages.get(page)?.[place]
  }

  const shown = range(...seen).flatMap((index) => callAt(index) ?? [])
  const running = shown.filter(({ ended_at }) => ended_at == null).map(({ id }) => id)
  const now = useCalls(
    { ...list, filter: { call_ids: running }, query: null },
    { enabled: running.length > 0, refetchInterval: runningMs },
  )
  const fresh = new Map((running.length > 0 ? (now.data ?? []) : []).map((call) => [call.id, call]))

  const blocks = blocksOf(wanted).map((rows) => rows.flatMap((index) => callAt(index) ?? []))
  const payloadBlocks = useCallPayloads(
    projectId,
    withoutEmpty(
      blocks.map((calls) => calls.filter((call) => !isLarge(call)).map((call) => fresh.get(call.id) ?? call)),
    ),
  )
  const payloads = new Map(payloadBlocks.flatMap(({ data }) => data ?? []).map((call) => [call.id, call]))
  // A call's own summary is enough, except for roots of clients that do not add up what is inside them.
  const silent = rootsOnly ? blocks.map((calls) => calls.filter(({ summary }) => !summary.includes('"usage"'))) : []
  const usageBlocks = useCallUsages(projectId, withoutEmpty(silent))
  const usages = new Map(
    usageBlocks
      .flatMap(({ data }) => Object.entries(data?.call_usage ?? {}))
      // No model is as good as no answer, and draws no row again.
      .filter(([, usage]) => Object.keys(usage).length > 0),
  )
  const rowAt = (index: number): CallRow | undefined => {
    const stored = callAt(index)
    if (stored === undefined) return undefined
    const call = fresh.get(stored.id) ?? stored
    return rowOf(call, payloads.get(call.id), usages.get(call.id))
  }

  const added = useCallCount(
    { project_id: projectId, ...within(selection, { $gt: newest ?? "1970-01-01T00:00:00Z" }), limit: mostNew },
    { enabled: isEnabled && !isLive && isNewestFirst && newest !== undefined, refetchInterval: newMs },
  )
  // The count of another list says nothing of this one.
  const total = isCounting ? count.data?.count : undefined
  const onSeen = (top: number, bottom: number) => {
    setRowWindow((before) => moved(before, top, bottom))
    if (count.data?.has_more === true && bottom > budget - nearEnd) setBudget(budget * 10)
  }
  return {
    rowAt,
    idAt: (index: number) => callAt(index)?.id,
    /** As far as they are counted; rows that were read are there even before they are. */
    count: isShort ? first.data.length : Math.max(total ?? 0, firstCalls?.length ?? 0),
    isWhole: isShort || (isCounting && count.data?.has_more === false),
    isCounted: isShort || total !== undefined,
    countAll: () => setBudget(Number.MAX_SAFE_INTEGER),
    /** None has come yet. */
    isReading: isEnabled && firstCalls === undefined,
    /** Some have come, and others are looked for. */
    isSearching: isEnabled && first?.data === undefined && first?.error === null && firstCalls !== undefined,
    error:
      [
        first?.error,
        ...laterPages.map(({ error }) => error),
        ...payloadBlocks.map(({ error }) => error),
        count.error,
      ].find((error) => error != null) ?? null,
    retry: () => {
      if (isCounting) void count.refetch()
      for (const page of [first, ...laterPages, ...payloadBlocks]) void page?.refetch()
    },
    onSeen,
    added: newest === undefined ? 0 : (added.data?.count ?? 0),
    newest,
    showNew: () => {
      readAgain()
      if (isCounting) void count.refetch()
    },
    shown,
    shownRows: range(...seen).flatMap((index) => rowAt(index) ?? []),
    payloads,
  }
}

type Usage = Record<string, AggregatedUsage>

interface MadeRow {
  row: CallRow
  usage: Usage | undefined
}

const madeRows = new WeakMap<Call, MadeRow>()

/** The row of a call: the same one as long as nothing of it has changed, since a row that is another is drawn again. */
function rowOf(call: Call, payload: Call | undefined, usage: Usage | undefined): CallRow {
  const made = madeRows.get(call)
  if (made !== undefined && made.row.payload === payload && made.usage === usage) return made.row
  const facts = made?.row.facts ?? callFacts(call.summary)
  const row = { call, facts, tokens: facts.tokens ?? tokensOfUsage(usage), payload, isLarge: isLarge(call) }
  madeRows.set(call, { row, usage })
  return row
}

function withoutEmpty(blocks: readonly Call[][]): Call[][] {
  return blocks.filter((calls) => calls.length > 0)
}

function isLarge({ storage_size_bytes }: Call): boolean {
  return (storage_size_bytes ?? 0) > largestPreview
}

/** Of the selection what began up to, or after, another call. */
function within({ filter, query }: Selection, bound: { $lte: string } | { $gt: string }): Selection {
  const [[operator, time] = ["$lte", ""]] = Object.entries(bound)
  const operand = { [operator]: [{ $getField: "started_at" }, { $literal: secondsUpTo(time) }] }
  const before = (query as { $expr: { $and: object[] } } | undefined)?.$expr.$and ?? []
  return { ...(filter === undefined ? {} : { filter }), query: { $expr: { $and: [...before, operand] } } }
}
