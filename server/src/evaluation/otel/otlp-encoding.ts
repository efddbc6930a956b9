/** The two encodings of OTLP over HTTP, and what a body means in each. */
import { HeddleError } from "../../errors.ts"
import { ValueTooDeepError } from "./any-value.ts"
import { readJsonItems, readProtobufItems, type ResourceItems } from "./export-request.ts"
import { jsonSpan } from "./json-spans.ts"
import { jsonLogRecord, type LogRecord, readLogRecord } from "./log-record.ts"
import { parseOtlpJson } from "./otlp-json.ts"
import { ProtobufError, TooManyMessagesError } from "./protobuf-reader.ts"
import { readSpan } from "./protobuf-spans.ts"
import type { ResourceSpans } from "./trace-request.ts"

export type OtlpEncoding = "protobuf" | "json"

/**
 * The encoding of a `Content-Type` header. Without one it is told by the body: a message of ours
 * never begins with a brace or a space, nor JSON with anything else.
 * @throws {HeddleError} 415.
 */
export function encodingOf(contentType: string | undefined, bytes: Buffer): OtlpEncoding {
  const type = (contentType ?? "").split(";", 1)[0]?.trim().toLowerCase()
  if (type === "application/x-protobuf" || type === "application/protobuf") return "protobuf"
  if (type === "application/json") return "json"
  if (type === "") return bytes.length === 0 || /^[\s{]/.test(bytes.toString("latin1", 0, 1)) ? "json" : "protobuf"
  const message = `Content-Type "${type}" is not supported; send application/x-protobuf or application/json`
  throw new HeddleError("unsupported_media_type", message)
}

/**
 * The spans of an export request whose content coding has been undone; ids and times are not checked.
 * @throws {HeddleError} 400 that names what is wrong, 413 too many spans, 415 another content type.
 * @throws {JsonTextError}
 */
export function decodeTraceRequest(bytes: Buffer, contentType: string | undefined): ResourceSpans[] {
  const encoding = encodingOf(contentType, bytes)
  const names = { resources: "resourceSpans", scopes: "scopeSpans", items: "spans", what: "spans" }
  const all = decoded(() =>
    encoding === "protobuf"
      ? readProtobufItems(bytes, names.what, readSpan)
      : readJsonItems(parseOtlpJson(bytes), names, jsonSpan),
  )
  return all.map(({ resource, scopes }) => ({
    resource,
    scopeSpans: scopes.map(({ scope, items }) => ({ scope, spans: items })),
  }))
}

/** The log records of an export request; see {@link decodeTraceRequest}. */
export function decodeLogsRequest(bytes: Buffer, contentType: string | undefined): ResourceItems<LogRecord>[] {
  const encoding = encodingOf(contentType, bytes)
  const names = { resources: "resourceLogs", scopes: "scopeLogs", items: "logRecords", what: "log records" }
  return decoded(() =>
    encoding === "protobuf"
      ? readProtobufItems(bytes, names.what, readLogRecord)
      : readJsonItems(parseOtlpJson(bytes), names, jsonLogRecord),
  )
}

/** Runs a reader and says in our words why it could not. */
function decoded<T>(read: () => T): T {
  try {
    return read()
  } catch (error) {
    if (error instanceof ProtobufError) {
      throw new HeddleError("bad_request", `the request body is not an OTLP message: ${error.message}`, {
        cause: error,
      })
    }
    if (error instanceof ValueTooDeepError) throw new HeddleError("bad_request", error.message, { cause: error })
    if (error instanceof TooManyMessagesError) {
      throw new HeddleError("payload_too_large", `${error.message}; send them in smaller batches`, { cause: error })
    }
    throw error
  }
}
