/** A valid request for each route, made of things of the caller's team. A route without one fails the test. */
import { randomUUID } from "node:crypto"
import type { ExampleRequest } from "../../../src/http/openapi/reference/example-names.ts"
import { ownPage } from "../browser.ts"
import { jsonAttributes } from "../otlp-message.ts"
import { groupsOf } from "../training-app.ts"
import { toolRequest } from "./mcp-tools.ts"
import type { Handles } from "./team-world.ts"

export interface RouteRequest extends ExampleRequest {
  /** The status that a member of the team gets; by default 200. */
  status?: number
}

export interface RouteCase {
  /**
   * `delete` is sent after all others, which need the thing that it deletes; `erase` deletes the container of all, and
   * is last.
   */
  kind: "read" | "write" | "delete" | "erase"
  /** True when the answer repeats earlier requests of the same user. */
  repeatsRequests?: true
  make: (handles: Handles) => RouteRequest
}

type Make = RouteCase["make"]
const read = (make: Make): RouteCase => ({ kind: "read", make })
const write = (make: Make): RouteCase => ({ kind: "write", make })
const remove = (make: Make): RouteCase => ({ kind: "delete", make })
const erase = (make: Make): RouteCase => ({ kind: "erase", make })

const ofProject: Make = ({ projectId: project_id }) => ({ body: { project_id } })
const inQuery: Make = ({ projectId: project_id }) => ({ query: { project_id } })
const v2 = ({ entity, project }: Handles) => ({ entity, project })
const admin: Make = () => ({ status: 403 })
const period = { start: "2026-03-01T00:00:00Z", end: "2026-03-31T00:00:00Z" }
const groups = groupsOf([0, 1])
const chat = [{ role: "user", content: "hello" }]
/** Counts new calls, so that no id is that of an existing call. */
let calls = 0
const newCall = () => `11111111-1111-4111-8111-${String(++calls).padStart(12, "0")}`

const started = ({ projectId, traceId, threadId, callId, opRef, objectRef }: Handles) => ({
  project_id: projectId,
  id: newCall(),
  trace_id: traceId,
  parent_id: callId,
  thread_id: threadId,
  op_name: opRef,
  started_at: "2026-03-01T00:00:02Z",
  attributes: {},
  inputs: { object: objectRef },
})
const ended = ({ projectId, rowRef }: Handles) => ({
  project_id: projectId,
  id: newCall(),
  ended_at: "2026-03-01T00:00:03Z",
  output: rowRef,
  summary: {},
})
const resource = ({ entity, project }: Handles) => ({
  attributes: jsonAttributes({ "wandb.entity": entity, "wandb.project": project }),
})
const spans: Make = (handles) => ({
  body: {
    resourceSpans: [
      {
        resource: resource(handles),
        scopeSpans: [
          {
            spans: [
              {
                traceId: "0af7651916cd43dd8448eb211c80319c",
                spanId: "b7ad6b7169203331",
                name: "chat",
                kind: 1,
                startTimeUnixNano: "1767323045000000000",
                endTimeUnixNano: "1767323046000000000",
                attributes: jsonAttributes({
                  "gen_ai.conversation.id": handles.conversationId,
                  "gen_ai.agent.name": handles.agentName,
                }),
              },
            ],
          },
        ],
      },
    ],
  },
})
const logs: Make = (handles) => ({
  body: {
    resourceLogs: [
      {
        resource: resource(handles),
        scopeLogs: [
          {
            logRecords: [
              {
                timeUnixNano: "1767323045000000000",
                eventName: "gen_ai.evaluation.result",
                traceId: handles.agentTraceId,
                spanId: handles.agentSpanId,
                attributes: jsonAttributes({ "gen_ai.evaluation.name": "good", "gen_ai.evaluation.score.value": 1 }),
              },
            ],
          },
        ],
      },
    ],
  },
})
const feedback = (h: Handles) => ({
  project_id: h.projectId,
  weave_ref: h.callRef,
  feedback_type: `wandb.runnable.${h.opId}`,
  payload: { output: h.objectRef },
  call_ref: h.callRef,
  runnable_ref: h.opRef,
  trigger_ref: h.objectRef,
  queue_id: h.queueId,
})
const byId = (id: string) => ({ $expr: { $eq: [{ $getField: "id" }, { $literal: id }] } })
const callFilter = (h: Handles) => ({
  call_ids: [h.callId],
  trace_ids: [h.traceId],
  thread_ids: [h.threadId],
  wb_user_ids: [h.userId],
  op_names: [h.opRef],
  input_refs: [h.objectRef],
})
const callQuery: Make = (h) => ({
  body: { project_id: h.projectId, filter: callFilter(h), expand_columns: ["inputs.object"], include_feedback: true },
})
const agents = ({ projectId, agentName, conversationId, agentTraceId }: Handles) => ({
  project_id: projectId,
  agent_name: agentName,
  conversation_id: conversationId,
  trace_id: agentTraceId,
})
const item = ({ queueId, itemId }: Handles) => ({ queue_id: queueId, item_id: itemId })

/** The routes of one family, such as datasets or models, to list, read and delete. */
function family(name: string, of: (h: Handles) => { object_id: string; digest: string }): Record<string, RouteCase> {
  const path = `/v2/:entity/:project/${name}`
  return {
    [`GET ${path}`]: read((h) => ({ params: v2(h) })),
    [`GET ${path}/:object_id/versions/:digest`]: read((h) => ({ params: { ...v2(h), ...of(h) } })),
    [`DELETE ${path}/:object_id`]: remove((h) => {
      const { object_id, digest } = of(h)
      return { params: { ...v2(h), object_id }, query: { digests: digest } }
    }),
  }
}

const artifactFile = (h: Handles) => ({
  region: "default",
  entity: h.entity,
  birth: h.wandbArtifactId,
  digest: h.wandbDigest,
})

export const routeRequests: Readonly<Record<string, RouteCase>> = {
  "GET /v1/preview/base-models": read(() => ({})),
  "POST /v1/preview/models": write(({ entity, project, modelName: name }) => ({
    body: { entity, project, name, base_model: "heddle/tiny", return_existing: true },
  })),
  "GET /v1/preview/models": read(({ entity, project, modelId: after }) => ({ query: { entity, project, after } })),
  "DELETE /v1/preview/models/:model_id": remove(({ modelId: model_id }) => ({ params: { model_id } })),
  "GET /v1/preview/models/:model_id/checkpoints": read(({ modelId: model_id, checkpointId: after }) => ({
    params: { model_id },
    query: { after },
  })),
  "GET /v1/preview/models/:model_id/checkpoints/:step/files": read(({ modelId: model_id }) => ({
    params: { model_id, step: "1" },
  })),
  "GET /v1/preview/models/:model_id/checkpoints/:step/files/:filename": read(({ modelId: model_id }) => ({
    params: { model_id, step: "1", filename: "adapter_model.safetensors" },
  })),
  "GET /v1/preview/models/:model_id/checkpoints/:step/download": read(({ modelId: model_id }) => ({
    params: { model_id, step: "latest" },
  })),
  "GET /v1/preview/models/:model_id/checkpoints/:step": read(({ modelId: model_id }) => ({
    params: { model_id, step: "1" },
  })),
  "POST /v1/preview/models/:model_id/checkpoints": write(({ modelId: model_id }) => ({
    params: { model_id },
    text: "adapter/adapter_config.json",
  })),
  "GET /v1/preview/model-metrics": read(({ modelId: model_id }) => ({ query: { model_id } })),
  "DELETE /v1/preview/models/:model_id/checkpoints": remove(({ modelId: model_id }) => ({
    params: { model_id },
    body: { steps: [0] },
  })),
  "POST /v1/preview/models/:model_id/log": write(({ modelId: model_id }) => ({
    params: { model_id },
    body: { split: "val", trajectory_groups: groups },
  })),
  "POST /v1/preview/training-jobs": write(({ modelId: model_id, artifact }) => ({
    body: {
      model_id,
      trajectory_groups: groups,
      experimental_config: { kl_penalty_coef: 0.1, kl_ref_adapter_path: artifact },
    },
  })),
  "POST /v1/preview/sft-training-jobs": write(({ modelId: model_id, uploadId: training_data_url }) => ({
    body: { model_id, training_data_url },
  })),
  "POST /v1/preview/training-jobs/from-source/dry-run": read(({ modelId: model_id, projectId: project_id }) => ({
    body: { model_id, source: { kind: "calls", project_id }, target: { kind: "sft" } },
  })),
  "POST /v1/preview/training-jobs/from-source": write(({ modelId: model_id, projectId: project_id, callId }) => ({
    body: {
      model_id,
      source: { kind: "calls", project_id, filter: { call_ids: [callId] } },
      target: { kind: "sft" },
    },
  })),
  "GET /v1/preview/training-jobs/:training_job_id/rows": read(({ sourceJobId }) => ({
    params: { training_job_id: sourceJobId },
  })),
  "GET /v1/preview/models/:model_id/checkpoints/:step/rows": read(({ modelId: model_id }) => ({
    params: { model_id, step: "2" },
  })),
  "POST /v1/preview/training-rows/query": read(({ projectId: project_id, callId }) => ({
    body: { project_id, call_ids: [callId] },
  })),
  "GET /v1/preview/training-jobs": read(({ entity, project, modelId: model_id, jobId: after }) => ({
    query: { entity, project, model_id, after },
  })),
  "GET /v1/preview/training-jobs/:training_job_id": read(({ jobId }) => ({ params: { training_job_id: jobId } })),
  "POST /v1/preview/training-jobs/:training_job_id/cancel": remove(({ jobId }) => ({
    params: { training_job_id: jobId },
  })),
  // The job has ended.
  "POST /v1/preview/training-jobs/:training_job_id/pause": write(({ jobId }) => ({
    params: { training_job_id: jobId },
    status: 409,
  })),
  "POST /v1/preview/training-jobs/:training_job_id/resume": write(({ jobId }) => ({
    params: { training_job_id: jobId },
    status: 409,
  })),
  "GET /v1/preview/training-jobs/:training_job_id/events": read(({ jobId }) => ({
    params: { training_job_id: jobId },
  })),
  "GET /v1/preview/training-jobs/:training_job_id/trajectory-groups": read(({ jobId }) => ({
    params: { training_job_id: jobId },
  })),
  "GET /v1/preview/training-jobs/:training_job_id/trajectory-groups/:group/trajectories/:index": read(({ jobId }) => ({
    params: { training_job_id: jobId, group: "0", index: "1" },
  })),
  "GET /v1/preview/training-jobs/:training_job_id/trajectory-groups/:group/same-question": read(({ jobId }) => ({
    params: { training_job_id: jobId, group: "0" },
  })),
  "GET /v1/health": read(() => ({})),
  // The fake engine does not have this call.
  "GET /v1/system-check": read(() => ({ status: 503 })),
  "POST /v1/chat/completions": write(({ artifact: model, projectId }) => ({
    headers: { "openai-project": projectId },
    body: { model, messages: chat },
  })),
  "POST /v1/completions": write(({ artifact: model, projectId }) => ({
    headers: { "openai-project": projectId },
    body: { model, prompt: "hello" },
  })),
  "POST /v1/embeddings": write(({ artifact: model, projectId }) => ({
    headers: { "openai-project": projectId },
    body: { model, input: "hello" },
  })),
  "POST /v1/responses": write(({ artifact: model, projectId, responseId: previous_response_id }) => ({
    headers: { "openai-project": projectId },
    body: { model, input: "hello", previous_response_id },
  })),
  "POST /v1/responses/input_tokens": read(({ artifact: model, responseId: previous_response_id }) => ({
    body: { model, input: "hello", previous_response_id },
  })),
  "GET /v1/responses/:response_id": read(({ responseId: response_id }) => ({ params: { response_id } })),
  "GET /v1/responses/:response_id/input_items": read(({ responseId: response_id }) => ({ params: { response_id } })),
  // The response has ended.
  "POST /v1/responses/:response_id/cancel": write(({ responseId: response_id }) => ({
    params: { response_id },
    status: 400,
  })),
  "DELETE /v1/responses/:response_id": remove(({ responseId: response_id }) => ({ params: { response_id } })),
  "GET /v1/rollouts": read(({ projectId: project_id, rolloutGroup: group, modelId: model_id, rolloutId: after }) => ({
    query: { project_id, group, model_id, after },
  })),
  "GET /v1/rollouts/:rollout_id": read(({ rolloutId: rollout_id, projectId: project_id }) => ({
    params: { rollout_id },
    query: { project_id },
  })),
  "GET /v1/rollouts/:rollout_id/turns": read(({ rolloutId: rollout_id }) => ({ params: { rollout_id } })),
  "GET /v1/rollouts/:rollout_id/trajectory": read(({ rolloutId: rollout_id }) => ({ params: { rollout_id } })),
  "POST /v1/rollouts/:rollout_id/reward": write(({ rolloutId: rollout_id }) => ({
    params: { rollout_id },
    body: { reward: 1 },
  })),
  "DELETE /v1/rollouts/:rollout_id": remove(({ rolloutId: rollout_id }) => ({ params: { rollout_id } })),
  "POST /v1/messages": write(({ artifact: model, projectId }) => ({
    headers: { "openai-project": projectId },
    body: { model, messages: chat, max_tokens: 4 },
  })),
  "POST /v1/messages/count_tokens": read(({ artifact: model }) => ({ body: { model, messages: chat } })),
  "GET /v1/models": read(({ projectId }) => ({ headers: { "openai-project": projectId } })),
  "GET /v1/models/*": read(({ artifact }) => ({ params: { "*": artifact } })),
  "POST /tokenize": read(({ artifact: model }) => ({ body: { model, prompt: "hello" } })),
  "POST /detokenize": read(({ artifact: model }) => ({ body: { model, tokens: [1] } })),
  "POST /v1/tokenize": read(({ artifact: model }) => ({ body: { model, prompt: "hello" } })),
  "POST /v1/detokenize": read(({ artifact: model }) => ({ body: { model, tokens: [1] } })),
  "GET /v1/organization/usage/completions": read(({ projectId, userId, apiKeyId, artifact }) => ({
    query: {
      start_time: "1767225600",
      project_ids: projectId,
      user_ids: userId,
      api_key_ids: apiKeyId,
      models: artifact,
    },
  })),
  "GET /health": read(() => ({})),
  "POST /agents/otel/v1/traces": write(spans),
  "POST /agents/query": read((h) => ({
    body: { project_id: h.projectId, filters: { agent_name: h.agentName }, include_costs: true },
  })),
  "POST /agents/agent-versions/query": read(({ projectId: project_id, agentName: agent_name }) => ({
    body: { project_id, agent_name },
  })),
  "POST /agents/search": read((h) => ({ body: agents(h) })),
  "POST /agents/spans/query": read(ofProject),
  "POST /agents/spans/stats": read(({ projectId: project_id }) => ({
    body: { project_id, ...period, metrics: [{ metric: "span_count" }] },
    status: 422,
  })),
  "POST /agents/spans/custom-attrs/schema": read(ofProject),
  "POST /agents/traces/chat": read((h) => ({
    body: { project_id: h.projectId, trace_id: h.agentTraceId, include_feedback: true },
  })),
  "POST /agents/conversations/chat": read((h) => ({
    body: { project_id: h.projectId, conversation_id: h.conversationId, include_feedback: true },
  })),
  "POST /agents/conversations/spans": read((h) => ({
    body: { project_id: h.projectId, conversation_ids: [h.conversationId] },
  })),
  "POST /annotation_queues": write((h) => ({
    body: { project_id: h.projectId, name: h.queueName, scorer_refs: [h.specRef] },
  })),
  "POST /annotation_queues/query": read((h) => ({ body: { project_id: h.projectId, name: h.queueName } })),
  "POST /annotation_queues/stats": read((h) => ({ body: { project_id: h.projectId, queue_ids: [h.queueId] } })),
  "POST /annotation_queues/work": read((h) => ({ body: { project_id: h.projectId, queue_ids: [h.queueId] } })),
  "GET /annotation_queues/:queue_id": read((h) => ({ ...inQuery(h), params: { queue_id: h.queueId } })),
  "PUT /annotation_queues/:queue_id": write((h) => ({
    params: { queue_id: h.queueId },
    body: { project_id: h.projectId, description: "other", scorer_refs: [h.specRef] },
  })),
  "DELETE /annotation_queues/:queue_id": remove((h) => ({ ...inQuery(h), params: { queue_id: h.queueId } })),
  "POST /annotation_queues/:queue_id/items": write((h) => ({
    params: { queue_id: h.queueId },
    body: { project_id: h.projectId, call_ids: [h.callId], display_fields: ["inputs.text"] },
  })),
  "POST /annotation_queues/:queue_id/items/query": read((h) => ({
    params: { queue_id: h.queueId },
    body: { project_id: h.projectId, filter: { id: h.itemId, call_id: h.callId, call_trace_id: h.traceId } },
  })),
  "POST /annotation_queues/:queue_id/items/next": write((h) => ({
    params: { queue_id: h.queueId },
    body: { project_id: h.projectId },
  })),
  "PUT /annotation_queues/:queue_id/items/:item_id/lease": write((h) => ({
    params: item(h),
    body: { project_id: h.projectId },
  })),
  "POST /annotation_queues/:queue_id/items/:item_id/progress": write((h) => ({
    params: item(h),
    body: { project_id: h.projectId, annotation_state: "completed" },
  })),
  "POST /annotation_queues/:queue_id/items/:item_id/progress/undo": write((h) => ({
    params: item(h),
    body: { project_id: h.projectId },
  })),
  "DELETE /annotation_queues/:queue_id/items/:item_id/lease": write((h) => ({ ...inQuery(h), params: item(h) })),
  "GET /annotation_queues/:queue_id/items/:item_id/history": read((h) => ({ ...inQuery(h), params: item(h) })),
  "DELETE /annotation_queues/:queue_id/items/:item_id": remove((h) => ({ ...inQuery(h), params: item(h) })),
  "POST /annotation_queues/:queue_id/labels/query": read((h) => ({
    params: { queue_id: h.queueId },
    body: { project_id: h.projectId },
  })),
  "GET /annotation_queues/:queue_id/agreement": read((h) => ({ ...inQuery(h), params: { queue_id: h.queueId } })),
  "PUT /annotation_queues/:queue_id/items/:item_id/final_labels/:field": write((h) => ({
    params: { ...item(h), field: h.specId },
    body: { project_id: h.projectId, feedback_id: h.feedbackId },
    // Nobody has finished the item of this label.
    status: 400,
  })),
  "DELETE /annotation_queues/:queue_id/items/:item_id/final_labels/:field": remove((h) => ({
    ...inQuery(h),
    params: { ...item(h), field: h.specId },
  })),
  "POST /call/start": write((h) => ({ body: { start: started(h) } })),
  "POST /call/end": write((h) => ({ body: { end: ended(h) } })),
  "POST /call/upsert_batch": write((h) => ({
    body: {
      batch: [
        { mode: "start", req: { start: started(h) } },
        { mode: "end", req: { end: ended(h) } },
      ],
    },
  })),
  "POST /v2/:entity/:project/calls/complete": write((h) => ({
    params: v2(h),
    body: { batch: [{ ...started(h), ended_at: "2026-03-01T00:00:03Z", output: h.callRef, summary: {} }] },
  })),
  "POST /v2/:entity/:project/call/start": write((h) => ({ params: v2(h), body: { start: started(h) } })),
  "POST /v2/:entity/:project/call/end": write((h) => ({ params: v2(h), body: { end: ended(h) } })),
  "POST /call/update": write((h) => ({
    body: { project_id: h.projectId, call_id: h.callId, display_name: h.displayName },
  })),
  "POST /calls/delete": remove((h) => ({ body: { project_id: h.projectId, call_ids: [h.callId] } })),
  "POST /call/read": read((h) => ({ body: { project_id: h.projectId, id: h.callId, include_costs: true } })),
  "POST /calls/stream_query": read(callQuery),
  "POST /calls/query": read(callQuery),
  "POST /calls/query_stats": read((h) => ({ body: { project_id: h.projectId, filter: callFilter(h) } })),
  "POST /calls/facets": read((h) => ({
    body: { project_id: h.projectId, filter: callFilter(h), facets: ["id"] },
  })),
  "POST /threads/stream_query": read((h) => ({
    body: { project_id: h.projectId, filter: { thread_ids: [h.threadId] } },
  })),
  "POST /trace/usage": read((h) => ({
    body: { project_id: h.projectId, filter: { trace_ids: [h.traceId] }, include_costs: true },
  })),
  "POST /calls/usage": read((h) => ({ body: { project_id: h.projectId, call_ids: [h.callId], include_costs: true } })),
  "POST /calls/stats": read((h) => ({
    body: { project_id: h.projectId, ...period, call_metrics: [{ metric: "call_count" }] },
  })),
  "POST /feedback/create": write((h) => ({ body: feedback(h) })),
  "POST /feedback/batch/create": write((h) => ({ body: { batch: [feedback(h)] } })),
  "POST /feedback/replace": write((h) => ({ body: { ...feedback(h), feedback_id: h.feedbackId } })),
  "POST /feedback/purge": remove((h) => ({ body: { project_id: h.projectId, query: byId(h.feedbackId) } })),
  "POST /feedback/query": read((h) => ({ body: { project_id: h.projectId, query: byId(h.feedbackId) } })),
  "POST /feedback/stats": read((h) => ({
    body: { project_id: h.projectId, ...period, trigger_ref: h.callRef, metrics: [{ json_path: "output" }] },
  })),
  "POST /feedback/payload_schema": read((h) => ({
    body: { project_id: h.projectId, ...period, trigger_ref: h.callRef },
  })),
  "POST /feedback/aggregate": read((h) => ({
    body: {
      project_id: h.projectId,
      after_ms: 1_772_323_200_000,
      before_ms: 1_774_828_800_000,
      monitor_ids: [h.objectId],
    },
  })),
  "POST /cost/create": write((h) => ({
    body: { project_id: h.projectId, costs: { [h.costModel]: { prompt_token_cost: 1, completion_token_cost: 1 } } },
  })),
  "POST /cost/query": read((h) => ({ body: { project_id: h.projectId, query: byId(h.costId) } })),
  "POST /cost/purge": remove((h) => ({ body: { project_id: h.projectId, query: byId(h.costId) } })),
  "POST /obj/create": write((h) => ({
    body: { obj: { project_id: h.projectId, object_id: h.objectId, val: { object: h.objectRef, row: h.rowRef } } },
  })),
  "POST /obj/read": read((h) => ({
    body: {
      project_id: h.projectId,
      object_id: h.objectId,
      digest: h.objectDigest,
      include_tags_and_aliases: true,
    },
  })),
  "POST /objs/query": read((h) => ({
    body: { project_id: h.projectId, filter: { object_ids: [h.objectId], aliases: [h.alias], tags: [h.tag] } },
  })),
  "POST /obj/delete": remove((h) => ({
    body: { project_id: h.projectId, object_id: h.objectId, digests: [h.objectDigest] },
  })),
  "PUT /objs/:object_id/versions/:digest/tags": write((h) => ({
    params: { object_id: h.objectId, digest: h.objectDigest },
    body: { project_id: h.projectId, tags: [h.tag] },
  })),
  "POST /objs/:object_id/versions/:digest/tags/remove": remove((h) => ({
    params: { object_id: h.objectId, digest: h.objectDigest },
    body: { project_id: h.projectId, tags: [h.tag] },
  })),
  "PUT /objs/:object_id/aliases": write((h) => ({
    params: { object_id: h.objectId },
    body: { project_id: h.projectId, digest: h.objectDigest, aliases: [h.alias] },
  })),
  "POST /objs/:object_id/aliases/remove": remove((h) => ({
    params: { object_id: h.objectId },
    body: { project_id: h.projectId, aliases: [h.alias] },
  })),
  "GET /tags": read(inQuery),
  "GET /aliases": read(inQuery),
  "POST /link_to_registry": write((h) => ({
    body: {
      ref: h.objectRef,
      target: { portfolio_name: h.objectId, entity_name: h.entity, project_name: h.project },
      aliases: [h.alias],
    },
  })),
  "POST /v2/:entity/:project/datasets": write((h) => ({
    params: v2(h),
    body: { name: h.datasetId, rows: [{ object: h.objectRef, row: h.rowRef }] },
  })),
  "POST /v2/:entity/:project/models": write((h) => ({
    params: v2(h),
    body: { name: h.modelObjectId, source_code: "x = 1", attributes: { object: h.objectRef } },
  })),
  "POST /v2/:entity/:project/ops": write((h) => ({ params: v2(h), body: { name: h.opId, source_code: "x = 1" } })),
  "POST /v2/:entity/:project/scorers": write((h) => ({
    params: v2(h),
    body: { name: h.scorerId, op_source_code: "x = 1" },
  })),
  "POST /v2/:entity/:project/evaluations": write((h) => ({
    params: v2(h),
    body: { name: h.evaluationId, dataset: h.datasetRef, scorers: [h.scorerRef] },
  })),
  ...family("datasets", (h) => ({ object_id: h.datasetId, digest: h.datasetDigest })),
  ...family("models", (h) => ({ object_id: h.modelObjectId, digest: h.modelDigest })),
  ...family("ops", (h) => ({ object_id: h.opId, digest: h.opDigest })),
  ...family("scorers", (h) => ({ object_id: h.scorerId, digest: h.scorerDigest })),
  ...family("evaluations", (h) => ({ object_id: h.evaluationId, digest: h.evaluationDigest })),
  "POST /dataset_sources/link": write((h) => ({
    body: {
      project_id: h.projectId,
      dataset_object_id: h.datasetId,
      dataset_digest: h.datasetDigest,
      links: [
        {
          row_digest: h.rowDigest,
          sources: [{ source_kind: "conversation", source_id: h.conversationId, source_trace_id: h.agentTraceId }],
        },
      ],
    },
    status: 400,
  })),
  "POST /dataset_sources/link_delete": remove((h) => ({ body: { project_id: h.projectId, link_ids: [h.linkId] } })),
  "POST /dataset_sources/query": read((h) => ({
    body: { project_id: h.projectId, dataset_object_id: h.datasetId },
  })),
  "POST /dataset_sources/source_datasets_query": read((h) => ({
    body: {
      project_id: h.projectId,
      sources: [{ source_kind: "call", source_id: h.callId, source_trace_id: h.traceId }],
    },
  })),
  "POST /project/stats": read(ofProject),
  "POST /project/ttl_settings/read": read(ofProject),
  "POST /project/ttl_settings/update": write((h) => ({ body: { project_id: h.projectId, retention_days: 30 } })),
  "POST /project/ingest_sampling_settings/read": read(ofProject),
  "GET /project/sensitive_data_settings": read(inQuery),
  "POST /table/create": write((h) => ({ body: { table: { project_id: h.projectId, rows: [{ row: h.rowRef }] } } })),
  "POST /table/update": write((h) => ({
    body: { project_id: h.projectId, base_digest: h.tableDigest, updates: [{ append: { row: { row: h.objectRef } } }] },
  })),
  "POST /table/create_from_digests": write((h) => ({ body: { project_id: h.projectId, row_digests: [h.rowDigest] } })),
  "POST /table/query": read((h) => ({
    body: { project_id: h.projectId, digest: h.tableDigest, filter: { row_digests: [h.rowDigest] } },
  })),
  "POST /table/query_stream": read((h) => ({ body: { project_id: h.projectId, digest: h.tableDigest } })),
  "POST /table/query_stats": read((h) => ({ body: { project_id: h.projectId, digest: h.tableDigest } })),
  "POST /table/query_stats_batch": read((h) => ({ body: { project_id: h.projectId, digests: [h.tableDigest] } })),
  "POST /file/create": write((h) => ({ form: { project_id: h.projectId, file: "of an attack" } })),
  "POST /file/content": read((h) => ({ body: { project_id: h.projectId, digest: h.fileDigest } })),
  "POST /files/create": write((h) => ({ form: { project_id: h.projectId, file: "of an attack" } })),
  "POST /files/content": read((h) => ({ body: { project_id: h.projectId, digest: h.fileDigest } })),
  "GET /files/content": read((h) => ({ query: { project_id: h.projectId, digest: h.fileDigest } })),
  "POST /files/query_stats": read(ofProject),
  "POST /files/resolve_url": read((h) => ({ body: { project_id: h.projectId, uris: [h.fileDigest] } })),
  // Such addresses are keys themselves; `file-links` has their tests.
  "GET /files/download/:token": read((h) => ({ params: { token: h.fileDigest }, status: 404 })),
  "POST /files/:entity/:project/:run/file_stream": write((h) => ({
    params: { ...v2(h), run: h.wandbRunName },
    body: { files: { "wandb-history.jsonl": { offset: 0, content: ['{"_step":0,"loss":1}'] } } },
  })),
  "GET /files/:entity/:project/:run/*": read((h) => ({ params: { ...v2(h), run: h.wandbRunName, "*": h.wandbFile } })),
  "GET /v1/runs/:entity/:project/:run/metrics": read((h) => ({
    params: { ...v2(h), run: h.wandbRunName },
    query: { metric: "loss" },
  })),
  // Such addresses are keys themselves; `run-files` has their tests.
  "PUT /files/upload/:token": write((h) => ({ params: { token: h.fileDigest }, text: "{}", status: 404 })),
  "GET /files/direct/:token": read((h) => ({ params: { token: h.fileDigest }, status: 404 })),
  // Such addresses are keys themselves; `wandb-artifact-tenants` has their tests.
  "PUT /artifactsV2/upload/:token": write((h) => ({ params: { token: h.fileDigest }, text: "{}", status: 404 })),
  "GET /artifactsV2/direct/:token": read((h) => ({ params: { token: h.fileDigest }, status: 404 })),
  "GET /artifactsV2/:region/:entity/:birth/:digest": read((h) => ({ params: artifactFile(h) })),
  "GET /artifactsV2/:region/:entity/:project/:collection/:birth/:digest/:file": read((h) => ({
    params: { ...artifactFile(h), project: h.project, collection: h.wandbCollection, file: "a.txt" },
  })),
  "GET /artifactsV2/:region/:entity/:project/:collection/:artifact/:birth/:digest/:file": read((h) => ({
    params: {
      ...artifactFile(h),
      project: h.project,
      collection: h.wandbCollection,
      artifact: h.wandbArtifactId,
      file: "a.txt",
    },
  })),
  "POST /refs/read_batch": read((h) => ({ body: { refs: [h.objectRef, h.opRef, h.datasetRef] } })),
  "POST /otel/v1/traces": write(spans),
  "POST /otel/v1/logs": write(logs),
  "POST /v1/traces": write(spans),
  "POST /v1/logs": write(logs),
  "POST /otel/remap": write(ofProject),
  "POST /export/calls": read((h) => ({ body: { project_id: h.projectId, filter: { call_ids: [h.callId] } } })),
  "POST /export/feedback": read((h) => ({ body: { project_id: h.projectId, query: byId(h.feedbackId) } })),
  "POST /export/dataset": read((h) => ({
    body: { project_id: h.projectId, object_id: h.datasetId, digest: h.datasetDigest },
  })),
  "POST /import/calls": write((h) => ({
    query: { project_id: h.projectId, format: "jsonl", moved_from: h.projectId },
    text: `${JSON.stringify({ ...started(h), ended_at: "2026-03-01T00:00:03Z", output: h.callRef, summary: {} })}\n`,
  })),
  "POST /import/feedback": write((h) => ({
    query: { project_id: h.projectId, format: "jsonl", moved_from: h.projectId },
    text: `${JSON.stringify({ ...feedback(h), id: newCall() })}\n`,
  })),
  "POST /import/dataset": write((h) => ({
    query: { project_id: h.projectId, format: "jsonl", name: h.datasetId },
    text: `${JSON.stringify({ object: h.objectRef })}\n`,
  })),
  "POST /v2/:entity/:project/evaluation_runs": write((h) => ({
    params: v2(h),
    body: { evaluation: h.evaluationRef, model: h.modelRef },
  })),
  "GET /v2/:entity/:project/evaluation_runs": read((h) => ({
    params: v2(h),
    query: { evaluation_run_ids: h.runId, evaluation_refs: h.evaluationRef, model_refs: h.modelRef },
  })),
  "GET /v2/:entity/:project/evaluation_runs/:evaluation_run_id": read((h) => ({
    params: { ...v2(h), evaluation_run_id: h.runId },
  })),
  "DELETE /v2/:entity/:project/evaluation_runs": remove((h) => ({
    params: v2(h),
    body: { evaluation_run_ids: [h.runId] },
  })),
  "POST /v2/:entity/:project/evaluation_runs/:evaluation_run_id/finish": write((h) => ({
    params: { ...v2(h), evaluation_run_id: h.runId },
    body: { summary: { object: h.objectRef } },
  })),
  "POST /v2/:entity/:project/predictions": write((h) => ({
    params: v2(h),
    body: { model: h.modelRef, inputs: { row: h.rowRef }, output: h.objectRef, evaluation_run_id: h.runId },
  })),
  "GET /v2/:entity/:project/predictions": read((h) => ({ params: v2(h), query: { evaluation_run_id: h.runId } })),
  "GET /v2/:entity/:project/predictions/:prediction_id": read((h) => ({
    params: { ...v2(h), prediction_id: h.predictionId },
  })),
  "DELETE /v2/:entity/:project/predictions": remove((h) => ({
    params: v2(h),
    body: { prediction_ids: [h.predictionId] },
  })),
  "POST /v2/:entity/:project/predictions/:prediction_id/finish": write((h) => ({
    params: { ...v2(h), prediction_id: h.predictionId },
  })),
  "POST /v2/:entity/:project/scores": write((h) => ({
    params: v2(h),
    body: { prediction_id: h.predictionId, scorer: h.scorerRef, value: 1, evaluation_run_id: h.runId },
  })),
  "GET /v2/:entity/:project/scores": read((h) => ({ params: v2(h), query: { evaluation_run_id: h.runId } })),
  "GET /v2/:entity/:project/scores/:score_id": read((h) => ({ params: { ...v2(h), score_id: h.scoreId } })),
  "DELETE /v2/:entity/:project/scores": remove((h) => ({ params: v2(h), body: { score_ids: [h.scoreId] } })),
  "POST /v2/:entity/:project/eval_results/query": read((h) => ({
    params: v2(h),
    body: { evaluation_run_ids: [h.runId], include_raw_data_rows: true, resolve_row_refs: true },
  })),
  "POST /completions/create": write((h) => ({
    body: { project_id: h.projectId, inputs: { model: h.artifact, messages: chat, prompt: h.objectRef } },
    status: 400,
  })),
  "POST /completions/create_stream": write((h) => ({
    body: { project_id: h.projectId, inputs: { model: h.artifact, messages: chat } },
  })),
  "POST /image/create": write((h) => ({
    body: { project_id: h.projectId, inputs: { model: h.artifact, prompt: "a cat" } },
    status: 400,
  })),
  "PUT /v2/:entity/:project/runtimes/:runtime_name": write((h) => ({
    params: { ...v2(h), runtime_name: h.runtimeName },
    body: { base_url: "https://models.example.com/v1", runtime_ids: [{ id: "m" }] },
  })),
  "GET /v2/:entity/:project/provider_keys": read((h) => ({ params: v2(h) })),
  "POST /calls/score": write((h) => ({
    body: { project_id: h.projectId, call_ids: [h.callId], scorer_refs: [h.scorerRef] },
    // The server runs judges only, and no code that was sent to it.
    status: 400,
  })),
  "POST /scoring_rules": write((h) => ({
    body: {
      project_id: h.projectId,
      // A new name, because the answer for a taken one shows the rule that has it.
      name: `rule-${randomUUID()}`,
      scorer: { kind: "length" },
      active: false,
    },
  })),
  "POST /scoring_rules/query": read((h) => ({ body: { project_id: h.projectId } })),
  "GET /scoring_rules/:rule_id": read((h) => ({ ...inQuery(h), params: { rule_id: h.ruleId } })),
  "PUT /scoring_rules/:rule_id": write((h) => ({
    params: { rule_id: h.ruleId },
    body: { project_id: h.projectId, sampling_rate: 0.5 },
  })),
  "DELETE /scoring_rules/:rule_id": remove((h) => ({ ...inQuery(h), params: { rule_id: h.ruleId } })),
  "POST /actions/execute_batch": write((h) => ({
    body: { project_id: h.projectId, action_ref: h.objectRef, call_ids: [h.callId] },
    status: 400,
  })),
  "POST /evaluations/evaluate_model": write((h) => ({
    body: { project_id: h.projectId, evaluation_ref: h.evaluationRef, model_ref: h.modelRef },
    // The server runs judges only, and no code that was sent to it.
    status: 400,
  })),
  "POST /evaluations/status": read((h) => ({ body: { project_id: h.projectId, call_id: h.runId } })),
  "POST /evaluations/rescore": write((h) => ({
    body: { project_id: h.projectId, source_evaluation_run_id: h.runId, scorer_refs: [h.scorerRef] },
    // The server runs judges only, and no code that was sent to it.
    status: 400,
  })),
  "POST /v1/files": write(() => ({ form: { file: "of an attack" } })),
  "GET /v1/files": read(({ uploadId: after }) => ({ query: { after } })),
  "GET /v1/files/:file_id": read(({ uploadId: file_id }) => ({ params: { file_id } })),
  "GET /v1/files/:file_id/content": read(({ uploadId: file_id }) => ({ params: { file_id } })),
  "DELETE /v1/files/:file_id": remove(({ uploadId: file_id }) => ({ params: { file_id } })),
  "GET /server_info": read(() => ({})),
  "GET /version": read(() => ({})),
  "POST /service/projects_info": read(({ projectId }) => ({ body: { project_ids: [projectId] } })),
  "POST /mcp": write(({ projectId: project, callId: call_id }) =>
    toolRequest("add_feedback", { project, call_id, type: "of an agent", value: 1 }),
  ),
  "POST /graphql": write((h) => ({
    body: {
      query: `mutation($entity: String, $project: String, $run: String, $id: String, $files: [ID!]!,
          $artifact: ID, $collection: String) {
        byId: upsertBucket(input: { id: $id, notes: "a note" }) { bucket { ...R } }
        byName: upsertBucket(input: { entityName: $entity, modelName: $project, name: $run }) { bucket { ...R } }
        createRunFiles(input: { entityName: $entity, projectName: $project, runName: $run, files: ["a.txt"] }) { runID }
        stopRun(input: { id: $id }) { success }
        updateRunState(input: { id: $id, state: "failed" }) { success }
        notifyScriptableRunAlert(input: { entityName: $entity, projectName: $project, runName: $run, title: "t", text: "x" }) {
          success
        }
        deleteFiles(input: { files: $files }) { success }
        createArtifact(input: { entityName: $entity, projectName: $project, runName: $run, artifactTypeName: "dataset",
          artifactCollectionName: $collection, digest: "d41d8cd98f00b204e9800998ecf8427e" }) { artifact { ...A } }
        commitArtifact(input: { artifactID: $artifact }) { artifact { ...A } }
        updateArtifact(input: { artifactID: $artifact, description: "a note" }) { artifact { ...A } }
        addAliases(input: { artifactID: $artifact, aliases: [{ artifactCollectionName: $collection, alias: "a" }] }) { success }
        useArtifact(input: { artifactID: $artifact, entityName: $entity, projectName: $project, runName: $run }) { artifact { id } }
        linkArtifact(input: { artifactID: $artifact, entityName: $entity, projectName: $project,
          artifactPortfolioName: "portfolio" }) { versionIndex }
        createArtifactCollectionTagAssignments(input: { entityName: $entity, projectName: $project,
          artifactCollectionName: $collection, tags: [{ tagName: "t" }] }) { tags { name } }
      }
      fragment A on Artifact { id digest metadata createdBy { ... on Run { name } } usedBy { edges { node { name } } }
        artifactSequence { name project { name entity { name } } } files { edges { node { name directUrl } } } }
      fragment R on Run { id name config summaryMetrics historyTail project { name entity { name } } files { edges { node { name } } } }`,
      variables: {
        entity: h.entity,
        project: h.project,
        internalProject: h.internalProject,
        run: h.wandbRunName,
        id: h.wandbRunId,
        files: [h.wandbFileId],
        artifact: h.wandbArtifactId,
        collection: h.wandbCollection,
      },
    },
  })),
  "POST /v1/organization/api_keys": write(({ username }) => ({ body: { name: "of an attack", username } })),
  "GET /v1/organization/api_keys": read(() => ({})),
  "DELETE /v1/organization/api_keys/:api_key_id": remove(({ apiKeyId }) => ({ params: { api_key_id: apiKeyId } })),
  "GET /v1/organization/me": read(() => ({})),
  "POST /v1/organization/users": write(admin),
  "GET /v1/organization/users": read(admin),
  "POST /v1/organization/users/:username": write(({ username }) => ({
    params: { username },
    body: { disabled: true },
    status: 403,
  })),
  "DELETE /v1/organization/users/:username": remove(({ username }) => ({ params: { username }, status: 403 })),
  "GET /v1/organization/teams": read(() => ({})),
  "GET /v1/organization/teams/:team/members": read(({ entity: team }) => ({ params: { team } })),
  "POST /v1/organization/teams": write(admin),
  "POST /v1/organization/teams/:team/members": write(({ entity: team, username }) => ({
    params: { team },
    body: { username },
    status: 403,
  })),
  "DELETE /v1/organization/teams/:team/members/:username": remove(({ entity: team, username }) => ({
    params: { team, username },
    // A user always stays a member of their own entity.
    status: 409,
  })),
  "GET /metrics": read(admin),
  "GET /v1/organization/audit_logs": read(({ entity, userId }) => ({
    query: { "teams[]": entity, "actor_ids[]": userId },
    status: 403,
  })),
  "GET /v1/organization/backups": read(admin),
  "POST /v1/organization/backups": write(admin),
  "DELETE /v1/organization/backups/:name": remove(() => ({ params: { name: "20260131T235959123Z" }, status: 403 })),
  "GET /v1/projects": read(({ entity, project: query }) => ({ query: { entity, query } })),
  "POST /v1/projects": write(({ entity, project: name }) => ({ body: { entity, name } })),
  "DELETE /v1/projects/:entity/:project": erase(({ entity, project }) => ({ params: { entity, project } })),
  "GET /v1/refused-requests": { ...read(() => ({})), repeatsRequests: true },
  "GET /v1/projects/:entity/:project/roles": read((h) => ({ params: v2(h) })),
  // The team with a user's name is that user's own.
  "PUT /v1/projects/:entity/:project/roles/:username": write((h) => ({
    params: { ...v2(h), username: h.username },
    body: { role: "admin" },
  })),
  "DELETE /v1/projects/:entity/:project/roles/:username": write((h) => ({
    params: { ...v2(h), username: h.username },
  })),
  "POST /v1/organization/teams/:team/members/:username": write(({ entity: team, username }) => ({
    params: { team, username },
    body: { role: "viewer" },
    status: 409,
  })),
  "POST /v1/organization/teams/:team/service_accounts": write(({ entity: team }) => ({
    params: { team },
    body: { name: `bot-${++calls}` },
  })),
  "POST /v1/organization/teams/:team/invitations": write(({ entity: team }) => ({
    params: { team },
    body: { role: "viewer" },
  })),
  "GET /v1/organization/teams/:team/invitations": read(({ entity: team }) => ({ params: { team } })),
  "DELETE /v1/organization/teams/:team/invitations/:invitation_id": remove((h) => ({
    params: { team: h.entity, invitation_id: h.invitationId },
  })),
  "POST /v1/organization/invitations/accept": write(() => ({ body: { token: "of nobody" }, status: 401 })),
  "POST /v1/sign-up": write(({ username }) => ({ body: { token: "of nobody", username }, status: 401 })),
  "POST /v1/session": write(() => ({ headers: ownPage, body: { api_key: "of nobody" }, status: 401 })),
  "POST /v1/session/token": write(() => ({ headers: ownPage, body: { token: "of nobody" }, status: 401 })),
  "GET /v1/session": read(() => ({})),
  // The caller has a key, and no session to end.
  "DELETE /v1/session": remove(() => ({ status: 404 })),
  "GET /v1/sessions": read(() => ({})),
  "DELETE /v1/sessions/:session_id": remove(({ sessionId: session_id }) => ({ params: { session_id } })),
  "POST /v1/sign-in-links": write(() => ({})),
  "GET /v1/organization/quotas": read(() => ({})),
  "GET /v1/organization/teams/:team/quotas": read(({ entity: team }) => ({ params: { team } })),
  "POST /v1/organization/teams/:team/quotas": write(({ entity: team }) => ({
    params: { team },
    body: { models: 1 },
    status: 403,
  })),
}
