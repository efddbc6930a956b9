/** All tools, as clients are told of them. */
import type { z } from "zod"
import { standaloneSchema } from "../http/openapi/reference/document-schemas.ts"
import type { RouteAccess } from "../wire/platform/access.ts"
import type { Tool } from "./tool.ts"
import { evaluationTools } from "./tools/evaluation-tools.ts"
import { findingTools } from "./tools/finding-tools.ts"
import { labellingTools } from "./tools/labelling-tools.ts"
import { trainingTools } from "./tools/training-tools.ts"

export const tools: readonly Tool[] = [...findingTools, ...evaluationTools, ...labellingTools, ...trainingTools]

/** What a client lists. */
interface ToolDescription {
  name: string
  title: string
  description: string
  inputSchema: { type: "object"; [key: string]: unknown }
  outputSchema: { type: "object"; [key: string]: unknown }
  annotations: {
    readOnlyHint: boolean
    destructiveHint: boolean
    idempotentHint: boolean
    openWorldHint: boolean
  }
}

export const toolDescriptions: ReadonlyMap<string, ToolDescription> = new Map(
  tools.map((one) => [one.name, describe(one)]),
)

export const toolAccess: Readonly<Record<string, RouteAccess>> = Object.fromEntries(
  tools.map(({ name, access }) => [name, access]),
)

function describe({
  name,
  title,
  description,
  access,
  input,
  output,
  isDestructive,
  isRepeatable,
}: Tool): ToolDescription {
  const isReadOnly = access.right === "read"
  return {
    name,
    title,
    description,
    inputSchema: documentOf(input, "input"),
    outputSchema: documentOf(output, "output"),
    annotations: {
      readOnlyHint: isReadOnly,
      destructiveHint: isDestructive === true,
      idempotentHint: isReadOnly || isRepeatable === true,
      openWorldHint: false,
    },
  }
}

function documentOf(schema: z.ZodObject, io: "input" | "output"): ToolDescription["inputSchema"] {
  return { ...standaloneSchema(schema, io), type: "object" }
}
