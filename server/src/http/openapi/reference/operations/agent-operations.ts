import type { ExampleNames } from "../example-names.ts"
import type { Operation, Operations } from "../operation.ts"

const text = (key: string, stringValue: string) => ({ key, value: { stringValue } })
const resource = ({ entity, project }: ExampleNames) => ({
  attributes: [text("wandb.entity", entity), text("wandb.project", project)],
})

const spans: Operation["example"] = (names) => ({
  body: {
    resourceSpans: [
      {
        resource: resource(names),
        scopeSpans: [
          {
            spans: [
              {
                traceId: "0af7651916cd43dd8448eb211c80319c",
                spanId: "b7ad6b7169203331",
                name: "invoke_agent support",
                kind: 1,
                startTimeUnixNano: "1772355600000000000",
                endTimeUnixNano: "1772355601000000000",
                attributes: [
                  text("gen_ai.operation.name", "invoke_agent"),
                  text("gen_ai.agent.name", names.agentName),
                  text("gen_ai.conversation.id", names.conversationId),
                ],
              },
            ],
          },
        ],
      },
    ],
  },
})

const logs: Operation["example"] = (names) => ({
  body: {
    resourceLogs: [
      {
        resource: resource(names),
        scopeLogs: [
          {
            logRecords: [
              {
                timeUnixNano: "1772355602000000000",
                eventName: "gen_ai.evaluation.result",
                traceId: names.agentTraceId,
                spanId: names.agentSpanId,
                attributes: [
                  text("gen_ai.evaluation.name", "helpful"),
                  { key: "gen_ai.evaluation.score.value", value: { doubleValue: 0.8 } },
                ],
              },
            ],
          },
        ],
      },
    ],
  },
})

const storedSpans =
  "Takes JSON or protobuf. The project comes from `wandb.entity` and `wandb.project` of the resource, or from the header `project_id`."

export const agentOperations: Operations = {
  "POST /agents/otel/v1/traces": {
    description: `${storedSpans} Does the same as \`/otel/v1/traces\`.`,
    example: spans,
  },
  "POST /otel/v1/traces": {
    description: `${storedSpans} Spans of agents, models and tools are found among calls and among agents.`,
    example: spans,
  },
  "POST /v1/traces": {
    description: `Does the same as \`/otel/v1/traces\`, at the path that exporters choose by themselves. ${storedSpans}`,
    example: spans,
  },
  "POST /otel/v1/logs": {
    description:
      "Events `gen_ai.evaluation.result` become scores of the call that has the span; other records are counted and not stored.",
    example: logs,
  },
  "POST /v1/logs": {
    description: "Does the same as `/otel/v1/logs`, at the path that exporters choose by themselves.",
    example: logs,
  },
  "POST /otel/remap": {
    description: "Send this after an upgrade that knows more attributes. Calls keep their ids.",
    example: ({ projectId: project_id }) => ({ body: { project_id } }),
  },
  "POST /agents/query": {
    description:
      "Returns turns, tokens, errors and durations of each agent. `total_cost_usd` is null without `include_costs`.",
    example: ({ projectId: project_id }) => ({ body: { project_id, include_costs: true } }),
  },
  "POST /agents/agent-versions/query": {
    description: "Returns for each version what `/agents/query` returns for each agent.",
    example: ({ projectId: project_id, agentName: agent_name }) => ({ body: { project_id, agent_name } }),
  },
  "POST /agents/search": {
    description: "Returns conversations with the messages that match, the most recently active first.",
    example: ({ projectId: project_id }) => ({ body: { project_id, query: "refund", roles: ["user", "assistant"] } }),
  },
  "POST /agents/spans/query": {
    description: "With `group_by`, returns one row for each group and its `measures`; without it, the spans.",
    example: ({ projectId: project_id }) => ({
      body: {
        project_id,
        started_after: "2026-03-01T00:00:00Z",
        sort_by: [{ field: "started_at", direction: "desc" }],
        limit: 20,
      },
    }),
  },
  "POST /agents/spans/stats": {
    description: "Returns a table that describes its own columns. The example adds up input tokens by hour and agent.",
    example: ({ projectId: project_id }) => ({
      body: {
        project_id,
        start: "2026-03-01T00:00:00Z",
        end: "2026-03-02T00:00:00Z",
        granularity: 3600,
        group_by: [{ key: "agent_name" }],
        metrics: [{ alias: "input", value: { key: "input_tokens" }, value_type: "number", aggregations: ["sum"] }],
      },
    }),
  },
  "POST /agents/spans/custom-attrs/schema": {
    description: "Returns the attributes that have no column of their own; filters and groups may name them.",
    example: ({ projectId: project_id }) => ({ body: { project_id } }),
  },
  "POST /agents/traces/chat": {
    description: "Returns messages, tool calls and hand-overs of one trace, in order.",
    example: (h) => ({ body: { project_id: h.projectId, trace_id: h.agentTraceId } }),
  },
  "POST /agents/conversations/chat": {
    description: "Returns the newest 50 turns unless the request says otherwise, in the order in which they began.",
    example: (h) => ({ body: { project_id: h.projectId, conversation_id: h.conversationId } }),
  },
  "POST /agents/conversations/spans": {
    description: "Answers for many conversations at once. Scorers read this.",
    example: (h) => ({ body: { project_id: h.projectId, conversation_ids: [h.conversationId] } }),
  },
}
