/** OTLP over HTTP: evaluation-store-calls 8. The bodies are those of opentelemetry-proto; these are their outlines. */
import { z } from "zod"

const resourceParts = z.array(z.looseObject({ resource: z.looseObject({}).nullish() })).nullish()

export const traceRequest = z.looseObject({ resourceSpans: resourceParts })
export const logsRequest = z.looseObject({ resourceLogs: resourceParts })

export const remapBody = z.looseObject({ project_id: z.string() })
export const remapped = z.object({ remapped: z.int().min(0) })

/** Empty when everything was stored. */
export const traceAnswer = z.object({
  partialSuccess: z.object({ rejectedSpans: z.string(), errorMessage: z.string() }).optional(),
})
export const logsAnswer = z.object({
  partialSuccess: z.object({ rejectedLogRecords: z.string(), errorMessage: z.string() }).optional(),
})
