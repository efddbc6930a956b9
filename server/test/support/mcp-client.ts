/** Connects the official client of the Model Context Protocol over real HTTP. */
import { Client, StreamableHTTPClientTransport, type VersionNegotiationMode } from "@modelcontextprotocol/client"
import type { EvaluationApp } from "./evaluation-app.ts"

export interface McpCaller {
  client: Client
  /** Calls a tool; returns its structured result. Throws when the tool refuses. */
  use: <T = Record<string, unknown>>(tool: string, input?: object) => Promise<T>
  /** Calls a tool that refuses; returns its message. Throws when it does not refuse. */
  refusal: (tool: string, input?: object) => Promise<string>
}

/** Lets the server listen; returns its address. */
export async function listening({ app }: EvaluationApp): Promise<string> {
  return app.server.listen({ host: "127.0.0.1", port: 0 })
}

export async function mcpCaller(base: string, key: string, mode: VersionNegotiationMode = "auto"): Promise<McpCaller> {
  const client = new Client({ name: "tests", version: "1" }, { versionNegotiation: { mode } })
  const headers = { authorization: `Bearer ${key}` }
  await client.connect(new StreamableHTTPClientTransport(new URL(`${base}/mcp`), { requestInit: { headers } }))
  // The client checks structured results against the schemas of the tools that it has listed.
  await client.listTools()
  const call = async (name: string, input: object = {}) => {
    const { content, structuredContent, isError } = await client.callTool({ name, arguments: { ...input } })
    const [first] = content
    const text = first?.type === "text" ? first.text : ""
    return { text, structuredContent, isError: isError === true }
  }
  return {
    client,
    use: async <T>(tool: string, input?: object) => {
      const { text, structuredContent, isError } = await call(tool, input)
      if (isError || JSON.stringify(structuredContent) !== JSON.stringify(JSON.parse(text))) throw new Error(text)
      return structuredContent as T
    },
    refusal: async (tool, input) => {
      const { text, isError } = await call(tool, input)
      if (!isError) throw new Error(`${tool} did not refuse: ${text}`)
      return text
    },
  }
}

/** Makes a key of this scope for the caller's user. */
export async function scopedKey(
  caller: { post: (url: string, body?: unknown) => Promise<{ status: number; body: unknown }> },
  scope: string,
): Promise<string> {
  const { status, body } = await caller.post("/v1/organization/api_keys", { name: scope, scope })
  if (status !== 200) throw new Error(JSON.stringify(body))
  return (body as { value: string }).value
}
