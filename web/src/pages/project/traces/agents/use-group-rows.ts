/** The rows of a list of groups: pages as they are seen. */
import { useState } from "react"
import {
  type SpanGroup,
  type SpansQuery,
  useSpanGroupPages,
  useSpanGroups,
} from "../../../../api/agents/span-groups.ts"
import { moved, pageBounds, pageOf, pagesOf, topWindow, upTo } from "../row-window.ts"

const liveMs = 5_000

export function useGroupRows(list: SpansQuery, isLive: boolean) {
  const [rowWindow, setRowWindow] = useState(topWindow)
  const refetchInterval = isLive ? liveMs : false
  const first = useSpanGroups({ ...list, ...pageBounds(0) }, refetchInterval)
  const key = JSON.stringify(list)
  const [shownKey, setShownKey] = useState(key)
  // Until another list is read, the rows are those of the one before.
  if (!first.isPlaceholderData && shownKey !== key) setShownKey(key)
  const count = first.data?.total_count ?? 0
  const listed = upTo(count, isLive ? rowWindow.seen : rowWindow.listed)
  const later = first.isPlaceholderData ? [] : pagesOf(listed).filter((page) => page > 0)
  const anchored = { ...list, ...seenBefore(list, first.data?.groups[0]) }
  const laterPages = useSpanGroupPages(
    later.map((page) => ({ ...anchored, ...pageBounds(page) })),
    refetchInterval,
  )
  const pages = new Map([[0, first.data], ...later.map((page, index) => [page, laterPages[index]?.data] as const)])
  return {
    /** Of the list that the rows are of. */
    key: shownKey,
    rowAt: (index: number): SpanGroup | undefined => {
      const { page, place } = pageOf(index)
      return pages.get(page)?.groups[place]
    },
    count,
    isReading: first.data === undefined,
    error: first.error ?? laterPages.find(({ error }) => error !== null)?.error ?? null,
    retry: () => {
      for (const page of [first, ...laterPages]) void page.refetch()
    },
    onSeen: (top: number, bottom: number) => setRowWindow((before) => moved(before, top, bottom)),
  }
}

/** Later pages go on from the first one: what comes in meanwhile moves no row. */
function seenBefore({ sort_by, started_before }: SpansQuery, newest: SpanGroup | undefined) {
  const [order] = sort_by ?? []
  const isNewestFirst = order?.field === "last_seen" && order.direction === "desc"
  if (!isNewestFirst || newest?.last_seen == null || started_before != null) return {}
  return { started_before: new Date(Date.parse(newest.last_seen) + 1).toISOString() }
}
