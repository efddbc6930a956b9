/** A valid call of each tool of `/mcp`; `route-requests.ts` has requests of routes. */
import type { RouteCase, RouteRequest } from "./route-requests.ts"
import type { Handles } from "./team-world.ts"

type Ask = (handles: Handles) => { kind: RouteCase["kind"]; request: RouteRequest }

/** Headers that every client of the protocol sends beside the key. */
const headers = { accept: "application/json, text/event-stream" }

export const toolRequest = (name: string, input: object): RouteRequest => ({
  headers,
  body: { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name, arguments: input } },
})

const asks: Readonly<Record<string, [RouteCase["kind"], (handles: Handles) => object]>> = {
  list_projects: ["read", () => ({})],
  search_calls: ["read", ({ projectId: project }) => ({ project, facets: ["op_name"] })],
  get_trace: ["read", ({ projectId: project, traceId: trace_id }) => ({ project, trace_id })],
  get_call: ["read", ({ projectId: project, callId: call_id }) => ({ project, call_id })],
  list_evaluations: ["read", ({ projectId: project }) => ({ project })],
  compare_evaluations: ["read", ({ projectId: project, runId }) => ({ project, evaluation_call_ids: [runId] })],
  evaluate_model: [
    "write",
    ({ projectId: project, evaluationRef: evaluation_ref, modelRef: model_ref }) => ({
      project,
      evaluation_ref,
      model_ref,
    }),
  ],
  list_queues: ["read", ({ projectId: project }) => ({ project })],
  next_item: ["write", ({ projectId: project, queueId: queue_id }) => ({ project, queue_id })],
  submit_label: [
    "write",
    ({ projectId: project, queueId: queue_id, itemId: item_id }) => ({ project, queue_id, item_id, skip: true }),
  ],
  add_feedback: ["write", ({ projectId: project, callId: call_id }) => ({ project, call_id, note: "of an agent" })],
  list_models: ["read", ({ projectId: project }) => ({ project })],
  list_jobs: ["read", ({ projectId: project, modelId: model_id }) => ({ project, model_id })],
  job_status: ["read", ({ jobId: job_id }) => ({ job_id })],
  dry_run_training: ["read", trained],
  start_training: ["write", trained],
  create_model: ["write", ({ projectId: project }) => ({ project, name: "of-an-agent" })],
  cancel_job: ["delete", ({ jobId: job_id }) => ({ job_id })],
  chat: ["write", ({ artifact: model }) => ({ model, prompt: "hello", max_tokens: 2 })],
}

function trained({ modelId: model_id, projectId: project }: Handles): object {
  return { model_id, source: { kind: "calls", project, limit: 1 }, target: { kind: "sft" } }
}

export const mcpTools: Readonly<Record<string, Ask>> = Object.fromEntries(
  Object.entries(asks).map(([name, [kind, input]]) => [
    name,
    (handles: Handles) => ({ kind, request: toolRequest(name, input(handles)) }),
  ]),
)
