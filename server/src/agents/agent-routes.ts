/** `/agents/…`: evaluation-store-calls 10. */
import { type Route, route } from "../http/route.ts"
import {
  conversationChat as conversationChatAnswer,
  conversationChatBody,
  conversationSpans as conversationSpansAnswer,
  conversationSpansBody,
  traceChat as traceChatAnswer,
  traceChatBody,
} from "../wire/agents/agent-chat.ts"
import {
  agentsBody,
  agentSearchAnswer,
  agentSearchBody,
  agentsPage,
  agentVersionsBody,
  agentVersionsPage,
} from "../wire/agents/agents.ts"
import {
  attributeSchema as attributeSchemaAnswer,
  attributeSchemaBody,
  spansPage,
  spansQueryBody,
} from "../wire/agents/span-query.ts"
import { spanStatsAnswer, spanStatsBody } from "../wire/agents/span-stats.ts"
import { traceAnswer, traceRequest } from "../wire/calls/otel.ts"
import type { CallDependencies } from "../calls/dependencies.ts"
import { exactRequest } from "../http/bodies/exact-request.ts"
import { conversationChat, traceChat } from "./conversations/chat.ts"
import { conversationSpans } from "./conversations/conversation-spans.ts"
import { searchAgents } from "./search/message-search.ts"
import { traceExportHandler } from "../calls/otel/trace-export-handler.ts"
import { queryAgents, queryAgentVersions } from "./spans/agent-list.ts"
import { attributeSchema } from "./spans/attribute-schema.ts"
import { querySpans } from "./spans/span-query.ts"
import { spanStats } from "./stats/span-stats.ts"

const shared = { method: "POST", dialect: "reason", tag: "Agents" } as const

export function agentRoutes(dependencies: CallDependencies): Route[] {
  return [
    exportRoute(dependencies),
    ...agentListRoutes(dependencies),
    ...spanRoutes(dependencies),
    ...conversationRoutes(dependencies),
  ]
}

function exportRoute(dependencies: CallDependencies): Route {
  return route({
    method: "POST",
    dialect: "otlp",
    tag: "Agents",
    schemas: {},
    path: "/agents/otel/v1/traces",
    access: { right: "write", of: "spans body.resourceSpans[].resource", ingest: true },
    summary: "Store spans of agents, also as calls",
    rawBody: true,
    hidesKey: true,
    bodyDocument: traceRequest,
    response: traceAnswer,
    handle: traceExportHandler(dependencies, "all"),
  })
}

function agentListRoutes(dependencies: CallDependencies): Route[] {
  return [
    route({
      ...shared,
      path: "/agents/query",
      access: { right: "read", of: "project body.project_id" },
      summary: "List agents with what they did",
      schemas: { body: agentsBody },
      response: agentsPage,
      handle: async ({ body, principal }) => queryAgents(dependencies, principal, body),
    }),
    route({
      ...shared,
      path: "/agents/agent-versions/query",
      access: { right: "read", of: "project body.project_id" },
      summary: "List the versions of an agent",
      schemas: { body: agentVersionsBody },
      response: agentVersionsPage,
      handle: async ({ body, principal }) => queryAgentVersions(dependencies, principal, body),
    }),
    route({
      ...shared,
      path: "/agents/search",
      access: { right: "read", of: "project body.project_id" },
      summary: "Search in what agents were told, said and did",
      schemas: { body: agentSearchBody },
      response: agentSearchAnswer,
      handle: async ({ body, principal }) => searchAgents(dependencies, principal, body),
    }),
  ]
}

function spanRoutes(dependencies: CallDependencies): Route[] {
  return [
    route({
      ...shared,
      path: "/agents/spans/query",
      access: { right: "read", of: "project body.project_id" },
      summary: "Find spans, or groups of them",
      schemas: { body: spansQueryBody },
      response: spansPage,
      handle: async (context) => querySpans(dependencies, context.principal, exactRequest(context)),
    }),
    route({
      ...shared,
      path: "/agents/spans/stats",
      access: { right: "read", of: "project body.project_id" },
      summary: "Measures of spans over time, or by ranges of a number",
      schemas: { body: spanStatsBody },
      response: spanStatsAnswer,
      handle: async (context) => spanStats(dependencies, context.principal, exactRequest(context)),
    }),
    route({
      ...shared,
      path: "/agents/spans/custom-attrs/schema",
      access: { right: "read", of: "project body.project_id" },
      summary: "Which attributes spans have, and of what type",
      schemas: { body: attributeSchemaBody },
      response: attributeSchemaAnswer,
      handle: async (context) => attributeSchema(dependencies, context.principal, exactRequest(context)),
    }),
  ]
}

function conversationRoutes(dependencies: CallDependencies): Route[] {
  return [
    route({
      ...shared,
      path: "/agents/traces/chat",
      access: { right: "read", of: "project body.project_id" },
      summary: "A turn as messages",
      schemas: { body: traceChatBody },
      response: traceChatAnswer,
      handle: async ({ body, principal }) => traceChat(dependencies, principal, body),
    }),
    route({
      ...shared,
      path: "/agents/conversations/chat",
      access: { right: "read", of: "project body.project_id" },
      summary: "The turns of a conversation as messages",
      schemas: { body: conversationChatBody },
      response: conversationChatAnswer,
      handle: async ({ body, principal }) => conversationChat(dependencies, principal, body),
    }),
    route({
      ...shared,
      path: "/agents/conversations/spans",
      access: { right: "read", of: "project body.project_id" },
      summary: "The spans of conversations and the feedback on them",
      schemas: { body: conversationSpansBody },
      response: conversationSpansAnswer,
      handle: async ({ body, principal }) => conversationSpans(dependencies, principal, body),
    }),
  ]
}
