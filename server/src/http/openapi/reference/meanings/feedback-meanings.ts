/** Feedback. */
import type { Meanings } from "./meanings.ts"

export const feedbackMeanings: Meanings = {
  everywhere: {
    weave_ref: "What it is about: the ref of a call or an object.",
    feedback_type:
      "`wandb.reaction.1`, `wandb.note.1`, `wandb.annotation.<name>`, `wandb.runnable.<name>` or a name of your own.",
    payload: "What is said. Its form depends on `feedback_type`.",
    creator: "Name to show for whoever gave it.",
    annotation_ref: "Ref of the annotation spec, for `wandb.annotation.…`.",
    runnable_ref: "Ref of the scorer, for `wandb.runnable.…`.",
    call_ref: "Ref of the call in which the scorer ran.",
    trigger_ref: "Ref of what made the scorer run.",
    scorer_tags: "Words that a scorer found fitting.",
    scorer_ratings: "Numbers from 0 to 1 by name.",
    json_path: "Dotted path into the payload.",
    after_ms: "Milliseconds since 1970, inclusive.",
    before_ms: "Milliseconds since 1970, exclusive.",
    time_bucket_seconds: "Seconds in a bucket; null or absent: one bucket.",
    scorer_tag_reasons: "Why each tag fits, by tag.",
    scorer_tag_confidences: "How sure the scorer is of each tag, from 0 to 1, by tag.",
    scorer_rating_reasons: "Why each rating was given, by its name.",
    scorer_rating_confidences: "How sure the scorer is of each rating, from 0 to 1, by its name.",
  },
  requests: {
    sample_limit: "How many payloads are looked at; absent: 2000.",
    monitor_ids: "Names of monitors, or prefixes with `*` at their ends.",
    span_agent_name: "Name of the agent that it is about.",
    span_agent_version: "Version of the agent that it is about.",
    span_status_code: "Status of the span that it is about: `UNSET` (when absent), `OK` or `ERROR`.",
    span_conversation_id: "Conversation that it is about; of feedback on a conversation the ref tells.",
    span_trace_id: "Trace that it is about; of feedback on a turn the ref tells.",
    scorer_trace_id: "Trace in which the scorer ran.",
  },
  schemas: {
    FeedbackAggregateAnswer: { buckets: "Sums by time and group, without empty ones." },
    "FeedbackAggregateAnswer.buckets": {
      time_bucket_start_ms: "Start of the bucket in milliseconds since 1970; null: there is one bucket.",
      group: "Values of what `group_by` names.",
      total_count: "How many pieces of feedback there are.",
      scored_count: "How many of them have a tag or a rating.",
      tag_counts: "How many have each tag.",
      rating_counts: "How many have each rating.",
      rating_sums: "Sum of each rating: divided by its count, the mean.",
    },
    FeedbackAggregateBody: {
      tags: "Only feedback with any of these tags.",
      feedback_types: "Only feedback whose type begins with any of these.",
      rating_min: "Only feedback with a rating of at least this.",
      rating_max: "Only feedback with a rating of at most this.",
      scorer_ids: "Names of scorers, or prefixes with `*` at their ends.",
      span_agent_names: "Names of agents that the feedback is about.",
      span_types: "Only feedback on turns (`agent_turn`), or on conversations (`agent_conversation`).",
    },
    FeedbackBatchCreated: { res: "The answer to each item, in the order of the batch." },
    FeedbackCreateBody: { id: "Id of the feedback; absent: the server makes one." },
    "FeedbackCreateBody, FeedbackReplaceBody": { queue_id: "Annotation queue in which it was given." },
    FeedbackCreated: { payload: "As it is stored: a reaction has the names of its emoji, too." },
    FeedbackPage: {
      result:
        "A row for each piece of feedback, with the fields that were asked for; without `fields` those that older clients do not know are left out while they hold their defaults.",
    },
    FeedbackReplaceBody: {
      id: "Id of the new feedback; absent: the server makes one.",
      feedback_id: "Id of the feedback that is replaced.",
    },
    FeedbackStatsAnswer: {
      buckets:
        "A row for each bucket, empty ones among them; a metric is called as its path, with `_` for dots and blanks.",
      window_stats: "Over the whole range, by metric and aggregation; null: no metric was asked for.",
    },
    "FeedbackStatsBody, PayloadSchemaBody": {
      trigger_ref: "Ref of what made the scorer run; `:*` at its end means every version.",
      feedback_type: "Only feedback of this type, such as `wandb.runnable.exact_match`.",
    },
    "FeedbackStatsBody.metrics": {
      value_type: "Type of the values; absent: `numeric`.",
      aggregations:
        "What to compute; absent or empty: `avg`, `min` and `max` of numbers, `count_true` and `count_false` of booleans, `count` of categories.",
      percentiles: "Of numbers, from 0 to 100: `95` adds `p95_<metric>`.",
    },
    PayloadSchemaAnswer: { paths: "Every path to a value that is neither list nor map, sorted." },
    "PayloadSchemaAnswer.paths": {
      value_type: "`categorical` where values of several types were seen; null: only null was.",
    },
  },
}
