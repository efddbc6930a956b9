/** What crosses `/mcp`: one JSON-RPC message of the Model Context Protocol, and its answer. The protocol's SDK checks the rest. */
import { z } from "zod"

const messageId = z.union([z.string(), z.number()])

export const mcpMessage = z.looseObject({
  jsonrpc: z.literal("2.0"),
  id: messageId.optional(),
  method: z.string().optional(),
  params: z.looseObject({}).optional(),
})

export const mcpAnswer = z.object({
  jsonrpc: z.literal("2.0"),
  id: messageId.nullable(),
  result: z.looseObject({}).optional(),
  error: z.looseObject({ code: z.int(), message: z.string() }).optional(),
})

export type McpMessage = z.output<typeof mcpMessage>
