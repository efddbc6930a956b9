/** How often values occur among calls: `/calls/facets`. */
import type { callFacetsAnswer, callFacetsRequest } from "@heddle/server/wire/calls/call-facets.ts"
import { useQueries } from "@tanstack/react-query"
import type * as z from "zod"
import type { CallsQuery } from "./calls.ts"
import { jsonQuery } from "../queries.ts"

export type CallFacets = z.output<typeof callFacetsAnswer>
export type CallFacetsQuery = Pick<CallsQuery, "project_id" | "filter" | "query"> &
  Pick<z.input<typeof callFacetsRequest>, "facets" | "limit" | "budget_ms" | "time_unit">

/** Several countings, each on its own: fields that the filter names are counted as if it did not. */
export function useCallFacets(bodies: readonly CallFacetsQuery[], live: { refetchInterval: number | false }) {
  return useQueries({
    queries: bodies.map((body) => ({ ...jsonQuery<CallFacets>("POST", "/calls/facets", body), ...live })),
  })
}
