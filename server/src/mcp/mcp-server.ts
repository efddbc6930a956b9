/** The protocol itself, by its SDK: versions, messages and their errors. A server lives as long as one request. */
import {
  createMcpHandler,
  isLegacyRequest,
  ProtocolError,
  ProtocolErrorCode,
  ResourceNotFoundError,
  Server,
  WebStandardStreamableHTTPServerTransport,
} from "@modelcontextprotocol/server"
import { requireScope, scopeAllows } from "../access/can.ts"
import { HeddleError } from "../errors.ts"
import { validationError } from "../http/validation.ts"
import type { KeyScope } from "../wire/platform/access.ts"
import type { McpMessage } from "../wire/mcp/message.ts"
import type { Api } from "./api.ts"
import type { McpDependencies } from "./mcp-area.ts"
import { type Tool, ToolError } from "./tool.ts"
import { toolDescriptions, tools } from "./tools.ts"

interface Caller {
  api: Api
  /** Of the key. */
  scope: KeyScope
  /** Logs what no caller did wrong. */
  logFailure: (error: unknown) => void
}

const instructions = `Heddle traces, evaluates, labels, trains and serves language models.
Find failures: search_calls with where summary.weave.status is error and facets, get_trace, get_call.
Label: list_queues, next_item, submit_label; or add_feedback on any call.
Train: list_models or create_model, dry_run_training until its reasons look right, start_training, job_status.
Compare: chat with two steps of a model, evaluate_model, compare_evaluations.
A tool that is not listed needs a key of another scope: label to label, train to train and to ask models.
The guides are resources.`

/** Answers in JSON, whichever revision of the protocol the client speaks. */
export async function answerMessage(
  dependencies: McpDependencies,
  caller: Caller,
  request: Request,
  message: McpMessage,
): Promise<Response> {
  const server = serverFor(dependencies, caller)
  if (!(await isLegacyRequest(request, message))) {
    return createMcpHandler(() => server, { legacy: "reject", keepAliveMs: 0 }).fetch(request, { parsedBody: message })
  }
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true })
  await server.connect(transport)
  try {
    return await transport.handleRequest(request, { parsedBody: message })
  } finally {
    await server.close()
  }
}

function serverFor({ version, guides }: McpDependencies, caller: Caller): Server {
  const server = new Server(
    { name: "heddle", title: "Heddle", version },
    { capabilities: { tools: {}, resources: {} }, instructions },
  )
  server.setRequestHandler("tools/list", () => ({ tools: listed(caller.scope) }))
  server.setRequestHandler("tools/call", async ({ params: { name, arguments: given = {} } }) => {
    const found = tools.find((one) => one.name === name)
    if (found === undefined) {
      const names = tools.map((one) => one.name).join(", ")
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, `there is no tool "${name}"; there are ${names}`)
    }
    return callTool(found, given, caller)
  })
  server.setRequestHandler("resources/list", () => ({
    resources: guides.map(({ path, title, summary }) => ({
      uri: uriOf(path),
      name: path,
      title,
      ...(summary === "" ? {} : { description: summary }),
      mimeType: "text/markdown",
    })),
  }))
  server.setRequestHandler("resources/templates/list", () => ({ resourceTemplates: [] }))
  server.setRequestHandler("resources/read", ({ params: { uri } }) => {
    const guide = guides.find(({ path }) => uriOf(path) === uri)
    if (guide === undefined)
      throw new ResourceNotFoundError(uri, `there is no resource "${uri}"; resources/list has all`)
    return { contents: [{ uri, mimeType: "text/markdown", text: guide.text }] }
  })
  return server
}

const uriOf = (path: string) => `heddle://docs/${path}`

/** What a key of this scope may not call is not offered. */
function listed(scope: KeyScope) {
  return tools.flatMap(({ name, access }) => {
    const description = toolDescriptions.get(name)
    return description !== undefined && scopeAllows(scope, access) ? [description] : []
  })
}

/** Whatever is refused comes back as the tool's result, where a model reads it and can do better. */
async function callTool(called: Tool, given: object, { api, scope, logFailure }: Caller) {
  try {
    requireScope(scope, called.access)
    const result = await called.run(argumentsOf(called, given), api)
    return { content: [{ type: "text" as const, text: JSON.stringify(result) }], structuredContent: { ...result } }
  } catch (error) {
    const isKnown = error instanceof ToolError || error instanceof HeddleError
    if (!isKnown) logFailure(error)
    const words = isKnown ? error.message : "internal error; the server's log has it under this request's id"
    return { content: [{ type: "text" as const, text: `${called.name}: ${words}` }], isError: true }
  }
}

function argumentsOf({ input }: Tool, given: object) {
  const parsed = input.safeParse(given, { reportInput: true })
  if (parsed.success) return parsed.data
  const issues = validationError(parsed.error.issues, "arguments", given).details.issues ?? []
  throw new ToolError(issues.map(({ loc, msg }) => `${loc.slice(1).join(".") || "arguments"}: ${msg}`).join("; "))
}
