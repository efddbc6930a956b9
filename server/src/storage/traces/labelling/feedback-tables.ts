/**
 * Feedback: evaluation-store-objects 2.3. A write is the insert of whole rows, a deletion the insert
 * of a row that says so, and a read takes the newest row of each id (`final`): a replacement, which is
 * one of each in one block, is seen whole or not at all.
 *
 * `payload` holds `[<the JSON text as it came>]`, as in the table of calls.
 */
export const feedbackTables = [
  `create table if not exists feedback (
    project_id UUID,
    id String codec(ZSTD),
    weave_ref String codec(ZSTD),
    wb_user_id LowCardinality(String),
    creator Nullable(String),
    created_at DateTime64(6, 'UTC') codec(Delta, ZSTD),
    feedback_type LowCardinality(String),
    payload String codec(ZSTD),
    annotation_ref Nullable(String) codec(ZSTD),
    runnable_ref Nullable(String) codec(ZSTD),
    call_ref Nullable(String) codec(ZSTD),
    trigger_ref Nullable(String) codec(ZSTD),
    queue_id Nullable(String),
    scorer_tags Array(String),
    scorer_tag_reasons Map(String, String),
    scorer_tag_confidences Map(String, Float64),
    scorer_ratings Map(String, Float64),
    scorer_rating_reasons Map(String, String),
    scorer_rating_confidences Map(String, Float64),
    span_agent_name String,
    span_agent_version String,
    span_status_code LowCardinality(String),
    span_conversation_id String codec(ZSTD),
    span_trace_id String codec(ZSTD),
    scorer_trace_id String codec(ZSTD),
    content_digest String,
    version DateTime64(9, 'UTC') default now64(9),
    is_deleted UInt8 default 0,
    index weave_refs weave_ref type bloom_filter granularity 1
  ) engine = ReplacingMergeTree(version, is_deleted) order by (project_id, id)
  settings index_granularity = 1024`,
]
