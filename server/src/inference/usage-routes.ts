/** `GET /v1/organization/usage/completions`: the usage ledger in buckets (inference-api 1). */
import { teamIds } from "../access/can.ts"
import { HeddleError } from "../errors.ts"
import { type Route, route } from "../http/route.ts"
import { sumUsage, type UsageSelection, type UsageSum } from "../storage/catalog/inference/completion-usage.ts"
import { usagePage, type UsagePage, usageQuery, type UsageQuery } from "../wire/inference/usage.ts"
import type { InferenceDependencies } from "./dependencies.ts"

/** Width in seconds, and how many buckets a page has by default and at most. */
const widths = {
  "1m": { seconds: 60, buckets: 60, maximum: 1440 },
  "1h": { seconds: 3600, buckets: 24, maximum: 168 },
  "1d": { seconds: 86_400, buckets: 7, maximum: 31 },
} as const

export function usageRoutes({ database }: InferenceDependencies): Route[] {
  return [
    route({
      method: "GET",
      path: "/v1/organization/usage/completions",
      access: { right: "read", of: "teams" },
      dialect: "openai",
      summary: "Tokens and requests of the projects your key may read",
      tag: "Usage",
      schemas: { query: usageQuery },
      response: usagePage,
      handle: async ({ query, principal }) => {
        const page = pageOf(query)
        const selection = selectionOf(query, page, teamIds(principal))
        return toPage(page, await sumUsage(database, selection))
      },
    }),
  ]
}

interface Page {
  /** Unix seconds: rows from `start`, buckets from the multiple of the width at or before it. */
  start: number
  firstBucket: number
  end: number
  seconds: number
  /** End of the whole range. */
  lastEnd: number
}

/** The cursor is the start of its first bucket. */
function pageOf(query: UsageQuery): Page {
  const { seconds, buckets, maximum } = widths[query.bucket_width]
  const lastEnd = query.end_time ?? Math.floor(Date.now() / 1000) + 1
  if (lastEnd <= query.start_time) throw unusable("end_time", "it must come after start_time")
  const start = query.page === undefined ? query.start_time : cursor(query.page, query.start_time, lastEnd, seconds)
  const limit = query.limit ?? buckets
  if (limit > maximum) throw unusable("limit", `at most ${maximum} buckets of ${query.bucket_width} a page`)
  const firstBucket = Math.floor(start / seconds) * seconds
  return {
    start,
    firstBucket,
    end: Math.min(firstBucket + limit * seconds, lastEnd),
    seconds,
    lastEnd,
  }
}

function cursor(page: string, startTime: number, lastEnd: number, seconds: number): number {
  const start = Number(page)
  if (!Number.isInteger(start) || start < startTime || start >= lastEnd || start % seconds !== 0) {
    throw unusable("page", `"${page}" is not a next_page of this query`)
  }
  return start
}

function unusable(param: string, why: string): HeddleError {
  return new HeddleError("invalid_request", `${param}: ${why}`, { param })
}

function selectionOf(query: UsageQuery, page: Page, entityIds: string[]): UsageSelection {
  return {
    entityIds,
    start: page.start,
    end: page.end,
    bucketSeconds: page.seconds,
    groupBy: [...new Set(query["group_by[]"] ?? query.group_by ?? [])],
    projects: query["project_ids[]"] ?? query.project_ids ?? null,
    models: query["models[]"] ?? query.models ?? null,
    userIds: query["user_ids[]"] ?? query.user_ids ?? null,
    apiKeyIds: query["api_key_ids[]"] ?? query.api_key_ids ?? null,
  }
}

/** Every bucket of the page is there, also those without requests. */
function toPage({ firstBucket, end, seconds, lastEnd }: Page, sums: UsageSum[]): UsagePage {
  const byBucket = Map.groupBy(sums, (sum) => sum.bucket)
  const data: UsagePage["data"] = []
  for (let start = firstBucket; start < end; start += seconds) {
    const results = (byBucket.get(start) ?? []).map(({ bucket: _bucket, ...sum }) => ({
      object: "organization.usage.completions.result" as const,
      ...sum,
    }))
    data.push({ object: "bucket", start_time: start, end_time: start + seconds, results })
  }
  const more = end < lastEnd
  return { object: "page", data, has_more: more, next_page: more ? String(end) : null }
}
