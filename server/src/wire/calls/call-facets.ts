/** `/calls/facets`: evaluation-store-calls 3.11. */
import { z } from "zod"
import { boundedList } from "../bounded-list.ts"
import { callsFilter } from "./call-read.ts"
import { query } from "../queries/query.ts"

const mostFields = 16
export const mostFacetValues = 1000
const longestBudgetMs = 30_000

/** Units that times are counted by. */
export const facetTimeUnits = ["hour", "minute", "second"] as const

export const callFacetsRequest = z.looseObject({
  project_id: z.string(),
  filter: callsFilter.nullish(),
  query: query.nullish(),
  facets: boundedList(z.string(), mostFields).min(1, "name at least one field"),
  limit: z.int().min(1).max(mostFacetValues).nullish(),
  budget_ms: z.int().min(0).max(longestBudgetMs).nullish(),
  time_unit: z.enum(facetTimeUnits).nullish(),
})

export const callFacet = z.object({
  field: z.string(),
  values: z.array(z.object({ value: z.string().nullable(), count: z.int() })),
  has_more: z.boolean(),
})

export const callFacetsAnswer = z.object({
  facets: z.array(callFacet),
  counted: z.int(),
  counted_from: z.iso.datetime().nullable(),
})

export type FacetTimeUnit = (typeof facetTimeUnits)[number]
export type CallFacetsRequest = z.output<typeof callFacetsRequest>
export type CallFacetsAnswer = z.output<typeof callFacetsAnswer>
