/** Agents and conversations as groups of their spans: `/agents/spans/query`. */
import type { SpanGroup, spansPage, spansQueryBody } from "@heddle/server/wire/agents/span-query.ts"
import { useQueries, useQuery } from "@tanstack/react-query"
import type * as z from "zod"
import type { ApiError } from "../api-error.ts"
import { jsonQuery } from "../queries.ts"

export type { SpanGroup }
export type SpansQuery = z.input<typeof spansQueryBody>
type SpansPage = z.output<typeof spansPage>

const groupsQuery = (body: SpansQuery) => jsonQuery<SpansPage>("POST", "/agents/spans/query", body)

/** The first page of a list of groups; the one before stays until it is read. */
export function useSpanGroups(body: SpansQuery, refetchInterval: number | false) {
  return useQuery({ ...groupsQuery(body), refetchInterval })
}

/** Later pages of a list, each on its own. */
export function useSpanGroupPages(pages: readonly SpansQuery[], refetchInterval: number | false) {
  return useQueries({
    queries: pages.map((body) => ({
      ...groupsQuery(body),
      refetchInterval,
      // The rows of another page are none of this one.
      placeholderData: () => undefined,
    })),
  })
}

/** The only group of a query; null: no span matches. */
export function useSpanGroup(body: SpansQuery) {
  return useQuery<SpansPage, ApiError, SpanGroup | null>({
    ...groupsQuery(body),
    select: ({ groups }) => groups[0] ?? null,
    placeholderData: () => undefined,
  })
}
