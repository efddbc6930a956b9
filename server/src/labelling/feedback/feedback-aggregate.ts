/** `/feedback/aggregate`: evaluation-store-objects 5. */
import { invalid } from "../../errors.ts"
import type { Principal } from "../../http/principal.ts"
import { aggregateFeedback } from "../../storage/traces/labelling/feedback-aggregate.ts"
import type { FeedbackAggregateAnswer, FeedbackAggregateBody } from "../../wire/labelling/feedback-stats.ts"
import type { StoreDependencies } from "../../objects/dependencies.ts"
import { existingProject } from "../../access/project-access.ts"
import { dayMs, longestRangeDays } from "./feedback-stats.ts"

const mostBuckets = 256

export async function aggregatedFeedback(
  { database, traces }: StoreDependencies,
  principal: Principal,
  body: FeedbackAggregateBody,
): Promise<FeedbackAggregateAnswer> {
  checkAggregate(body)
  const project = await existingProject(database, principal, body.project_id)
  const bucketSeconds = body.time_bucket_seconds ?? null
  const rows = await aggregateFeedback(traces, {
    projectId: project.id,
    afterMs: body.after_ms,
    beforeMs: body.before_ms,
    bucketSeconds,
    groupBy: [...new Set(body.group_by)],
    feedbackTypes: body.feedback_types ?? [],
    tags: body.tags ?? [],
    ratingMin: body.rating_min ?? null,
    ratingMax: body.rating_max ?? null,
    monitorIds: body.monitor_ids ?? [],
    scorerIds: body.scorer_ids ?? [],
    agentNames: body.span_agent_names ?? [],
    spanTypes: body.span_types ?? [],
  })
  const buckets = rows.map((row) => ({
    time_bucket_start_ms: row.bucket === null ? null : row.bucket * 1000,
    group: row.group,
    total_count: row.total,
    scored_count: row.scored,
    tag_counts: row.tagCounts,
    rating_counts: row.ratingCounts,
    rating_sums: row.ratingSums,
  }))
  return { time_bucket_seconds: bucketSeconds, after_ms: body.after_ms, before_ms: body.before_ms, buckets }
}

const listFilters = [
  "feedback_types",
  "tags",
  "monitor_ids",
  "scorer_ids",
  "span_agent_names",
  "span_types",
  "group_by",
] as const

function checkAggregate(body: FeedbackAggregateBody): void {
  const length = body.before_ms - body.after_ms
  if (length <= 0) throw invalid(["body", "before_ms"], "before_ms must be greater than after_ms")
  const seconds = body.time_bucket_seconds ?? null
  const isNarrowed =
    listFilters.some((name) => body[name]?.length) || body.rating_min != null || body.rating_max != null
  if (length > longestRangeDays * dayMs && (seconds !== null || isNarrowed)) {
    const message = `over ${longestRangeDays} days there is only the total of the project: no time_bucket_seconds, group_by or filters`
    throw invalid(["body"], message)
  }
  if (seconds !== null && length / 1000 / seconds > mostBuckets) {
    throw invalid(["body", "time_bucket_seconds"], `Feedback request range cannot exceed ${mostBuckets} buckets`)
  }
}
