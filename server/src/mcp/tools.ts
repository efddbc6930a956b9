/** All tools, as clients are told of them. */
import { z } from "zod"
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

/** Without what a model need not read: the pattern behind a format, and the bounds of all whole numbers. */
function documentOf(schema: z.ZodObject, io: "input" | "output"): ToolDescription["inputSchema"] {
  const document = z.toJSONSchema(schema, {
    io,
    override: ({ jsonSchema }) => {
      if (jsonSchema.format !== undefined) delete jsonSchema.pattern
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum
      if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum
    },
  })
  delete document.$schema
  return { ...document, type: "object" }
}
