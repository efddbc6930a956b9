import type { ExampleNames } from "../example-names.ts"
import type { Operation, Operations } from "../operation.ts"

const started = ({ projectId, traceId, opRef }: ExampleNames) => ({
  project_id: projectId,
  id: "01947f3a-9c3d-7e5f-8a6b-7c8d9e0f1a2b",
  trace_id: traceId,
  op_name: opRef,
  started_at: "2026-03-01T09:00:00Z",
  attributes: {},
  inputs: { question: "4+5=" },
})
const usage = { "heddle/tiny": { requests: 1, prompt_tokens: 4, completion_tokens: 1, total_tokens: 5 } }
const atEnd = { ended_at: "2026-03-01T09:00:01Z", output: "9", summary: { usage } }
const ended = ({ projectId }: ExampleNames) => ({
  project_id: projectId,
  id: "01947f3a-9c3d-7e5f-8a6b-7c8d9e0f1a2b",
  ...atEnd,
})
const inPath = ({ entity, project }: ExampleNames) => ({ entity, project })
const period = { start: "2026-03-01T00:00:00Z", end: "2026-03-02T00:00:00Z" }
const failed = { $expr: { $not: [{ $eq: [{ $getField: "exception" }, { $literal: null }] }] } }
const byId = (id: string) => ({ $expr: { $eq: [{ $getField: "id" }, { $literal: id }] } })
const note = ({ projectId, callRef }: ExampleNames) => ({
  project_id: projectId,
  weave_ref: callRef,
  feedback_type: "wandb.note.1",
  payload: { note: "right, but slow" },
})

const failedRoots: Operation["example"] = ({ projectId }) => ({
  body: {
    project_id: projectId,
    filter: { trace_roots_only: true },
    query: failed,
    sort_by: [{ field: "started_at", direction: "desc" }],
    columns: ["id", "op_name", "exception", "inputs.question"],
    limit: 20,
  },
})

export const callOperations: Operations = {
  "POST /call/start": {
    description: "Once it answers, the call is stored and can be read. Sent again, it changes nothing.",
    example: (names) => ({ body: { start: started(names) } }),
  },
  "POST /call/end": {
    description: "The end is stored by itself: the start may come earlier, later or never.",
    example: (names) => ({ body: { end: ended(names) } }),
  },
  "POST /call/upsert_batch": {
    description:
      "The SDKs send this. Starts and ends may come in any order; the answer has an entry for each, in the order of the batch.",
    example: (names) => ({
      body: {
        batch: [
          { mode: "start", req: { start: started(names) } },
          { mode: "end", req: { end: ended(names) } },
        ],
      },
    }),
  },
  "POST /v2/:entity/:project/calls/complete": {
    description: "This is the cheapest way to store calls: each becomes one row.",
    example: (names) => ({ params: inPath(names), body: { batch: [{ ...started(names), ...atEnd }] } }),
  },
  "POST /v2/:entity/:project/call/start": {
    description: "Does the same as `/call/start`.",
    example: (names) => ({ params: inPath(names), body: { start: started(names) } }),
  },
  "POST /v2/:entity/:project/call/end": {
    description: "Does the same as `/call/end`.",
    example: (names) => ({ params: inPath(names), body: { end: ended(names) } }),
  },
  "POST /call/update": {
    description: "Sets `display_name`, which lists show instead of the op's name.",
    example: (h) => ({ body: { project_id: h.projectId, call_id: h.callId, display_name: h.displayName } }),
  },
  "POST /calls/delete": {
    description: "The calls below them are deleted too, at every depth. The record of changes says who deleted them.",
    example: (h) => ({ body: { project_id: h.projectId, call_ids: [h.callId] } }),
  },
  "POST /call/read": {
    description: "Returns every field of the call. `include_costs` adds what it cost.",
    example: (h) => ({ body: { project_id: h.projectId, id: h.callId, include_costs: true } }),
  },
  "POST /calls/stream_query": {
    description:
      "Sends one call per line as soon as it is found. The example asks which traces failed, the latest first.",
    example: failedRoots,
  },
  "POST /calls/query": {
    description: "Returns what `/calls/stream_query` does, in one document, once all calls are read.",
    example: failedRoots,
  },
  "POST /calls/query_stats": {
    description: "Counts the calls without sending them.",
    example: ({ projectId: project_id }) => ({
      body: { project_id, filter: { trace_roots_only: true }, query: failed },
    }),
  },
  "POST /calls/facets": {
    description:
      "Counts from the newest call backwards until `budget_ms` is over; the counts are lower bounds then. The example counts traces by op and by status.",
    example: ({ projectId: project_id }) => ({
      body: {
        project_id,
        filter: { trace_roots_only: true },
        facets: ["op_name", "summary.weave.status"],
        budget_ms: 500,
      },
    }),
  },
  "POST /threads/stream_query": {
    description:
      "Each line is a thread: how many turns it has, when it began and last changed, and how long its turns took.",
    example: ({ projectId: project_id }) => ({ body: { project_id, limit: 20 } }),
  },
  "POST /trace/usage": {
    description: "The example adds up one trace. Each request counts once, whatever its ancestors report (`rollup`).",
    example: (h) => ({ body: { project_id: h.projectId, filter: { trace_ids: [h.traceId] }, include_costs: true } }),
  },
  "POST /calls/usage": {
    description:
      "Each request counts once, whatever its ancestors report (`rollup`). The answer names calls that still run.",
    example: (h) => ({ body: { project_id: h.projectId, call_ids: [h.callId], include_costs: true } }),
  },
  "POST /calls/stats": {
    description:
      "Returns figures for each bucket of time; tokens and costs are split by model. The example asks for one day by the hour.",
    example: ({ projectId: project_id }) => ({
      body: {
        project_id,
        ...period,
        granularity: 3600,
        usage_metrics: [{ metric: "total_cost", aggregations: ["sum"] }],
        call_metrics: [{ metric: "call_count" }, { metric: "latency_ms", percentiles: [50, 99] }],
      },
    }),
  },
  "POST /feedback/create": {
    description:
      "The example is a note. A reaction is `wandb.reaction.1` with an `emoji`, a score `wandb.runnable.<name>`.",
    example: (names) => ({ body: note(names) }),
  },
  "POST /feedback/batch/create": {
    description: "If one of them cannot be stored, none is.",
    example: (names) => ({ body: { batch: [note(names)] } }),
  },
  "POST /feedback/replace": {
    description: "Deletes the old feedback and stores the new one in one step.",
    example: (names) => ({ body: { ...note(names), feedback_id: names.feedbackId } }),
  },
  "POST /feedback/purge": {
    description: "The query must compare `id`, with `$eq` or `$in`, or several of them with `$or`.",
    example: (h) => ({ body: { project_id: h.projectId, query: byId(h.feedbackId) } }),
  },
  "POST /feedback/query": {
    description: "Finds feedback by what it is about, its type, its payload or who gave it.",
    example: (h) => ({
      body: {
        project_id: h.projectId,
        query: { $expr: { $eq: [{ $getField: "weave_ref" }, { $literal: h.callRef }] } },
        sort_by: [{ field: "created_at", direction: "desc" }],
      },
    }),
  },
  "POST /feedback/stats": {
    description: "Returns sums, means and percentiles of fields of the payloads, for each bucket of time.",
    example: ({ projectId: project_id }) => ({
      body: { project_id, ...period, metrics: [{ json_path: "output", aggregations: ["avg"] }] },
    }),
  },
  "POST /feedback/payload_schema": {
    description: "Returns the paths that `/feedback/stats` takes.",
    example: ({ projectId: project_id }) => ({ body: { project_id, ...period } }),
  },
  "POST /feedback/aggregate": {
    description: "Returns counts of tags, and counts and sums of ratings, by time and by scorer or agent.",
    example: ({ projectId: project_id }) => ({
      body: { project_id, after_ms: 1_772_323_200_000, before_ms: 1_774_828_800_000, group_by: ["scorer_id"] },
    }),
  },
  "POST /cost/create": {
    description:
      "A price is found by the model's name in the usage of calls. Without `effective_date` it applies from now on.",
    example: (h) => ({
      body: {
        project_id: h.projectId,
        costs: {
          [h.costModel]: {
            prompt_token_cost: 0.000_001,
            completion_token_cost: 0.000_002,
            effective_date: "2026-01-01T00:00:00Z",
          },
        },
      },
    }),
  },
  "POST /cost/query": {
    description: "Returns the project's own prices, without those of the server's list.",
    example: ({ projectId: project_id }) => ({ body: { project_id } }),
  },
  "POST /cost/purge": {
    description: "The query must compare `id`, with `$eq` or `$in`.",
    example: (h) => ({ body: { project_id: h.projectId, query: byId(h.costId) } }),
  },
  "POST /export/calls": {
    description:
      "Returns a file to download, compressed if the client accepts that. Filters are those of `/calls/stream_query`.",
    example: ({ projectId: project_id }) => ({
      body: { project_id, filter: { trace_roots_only: true }, format: "csv" },
    }),
  },
  "POST /export/feedback": {
    description: "Returns a file to download. Filters are those of `/feedback/query`.",
    example: ({ projectId: project_id }) => ({ body: { project_id } }),
  },
  "POST /export/dataset": {
    description: "Returns a file to download, with the rows in their order.",
    example: (h) => ({ body: { project_id: h.projectId, object_id: h.datasetId, digest: h.datasetDigest } }),
  },
  "POST /import/calls": {
    description:
      "Rows with an error are left out and named; the others are stored. Ids stay, so importing twice is harmless.",
    example: (h) => ({
      query: { project_id: h.projectId, format: "jsonl" },
      text: `${JSON.stringify({ ...started(h), ...atEnd })}\n`,
    }),
  },
  "POST /import/feedback": {
    description: "Rows with an error are left out and named; the others are stored.",
    example: (h) => ({
      query: { project_id: h.projectId, format: "jsonl" },
      text: `${JSON.stringify({ ...note(h), id: "01947f3b-2b3c-7d4e-8f5a-6b7c8d9e0f1a" })}\n`,
    }),
  },
  "POST /import/dataset": {
    description: "If one row has an error, nothing is stored.",
    example: (h) => ({
      query: { project_id: h.projectId, format: "csv", name: h.datasetId },
      text: "question,answer\n4+5=,9\n",
    }),
  },
}
