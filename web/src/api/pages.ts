/** Lists that are read page after page. */

interface Paged {
  state: { data?: { pages: readonly unknown[] } | undefined }
}

/** A `refetchInterval`. Each page is a request: the more there are, the less often all are asked for. */
export function byPages(intervalMs: number | false): (query: Paged) => number | false {
  return ({ state }) => intervalMs && intervalMs * (state.data?.pages.length ?? 1)
}

interface PagedQuery {
  hasNextPage: boolean
  isFetchingNextPage: boolean
  fetchNextPage: () => Promise<unknown>
}

/** For the end of the list: reads the next page unless there is none, or it comes already. */
export function readNextPage({ hasNextPage, isFetchingNextPage, fetchNextPage }: PagedQuery): void {
  if (hasNextPage && !isFetchingNextPage) void fetchNextPage()
}
