/** Connections of artifacts, as GraphQL pages through them. */
import { fittingPage } from "../../storage/catalog/page-bytes.ts"
import { countBefore, cursorAt } from "../runs/run-ids.ts"

export interface PageArguments {
  after?: string | null
  first?: number | null
}

const most = 1000
const byDefault = 50

/** `read` is asked for one more than are shown. The page ends early where its items have too many bytes. */
export async function pageOf<T extends { bytes: number }>(
  { after, first }: PageArguments,
  read: (page: { skip: number; limit: number }) => Promise<T[]>,
): Promise<{ items: T[]; cursors: string[]; pageInfo: PageInfo }> {
  const limit = Math.min(Math.max(first ?? byDefault, 1), most)
  const skip = countBefore(after)
  const found = await read({ skip, limit: limit + 1 })
  const items = fittingPage(found.slice(0, limit))
  const cursors = items.map((_, index) => cursorAt(skip + index + 1))
  return { items, cursors, pageInfo: pageInfo(found.length > items.length, cursors.at(-1) ?? null) }
}

export interface PageInfo {
  __typename: "PageInfo"
  hasNextPage: boolean
  endCursor: string | null
}

export function pageInfo(hasNextPage: boolean, endCursor: string | null): PageInfo {
  return { __typename: "PageInfo", hasNextPage, endCursor }
}

/** Wraps a list that is short enough to return in one page. */
export function wholeConnection<T>(nodes: readonly T[]) {
  return { totalCount: nodes.length, edges: nodes.map((node) => ({ node })), pageInfo: pageInfo(false, null) }
}
