/** The two encodings of OTLP over HTTP, and what a body means in each. */
import { HeddleError } from "../../../errors.ts"
import { countValues } from "../../../json/value-count.ts"
import { ValueTooDeepError } from "./any-value.ts"
import {
  type ItemKind,
  readJsonItems,
  readProtobufItems,
  readProtobufResources,
  type ResourceItems,
} from "../export-request.ts"
import { scanRequest } from "./json-resources.ts"
import { jsonSpan } from "./json-spans.ts"
import { jsonLogRecord, type LogRecord, readLogRecord } from "../log-record.ts"
import { type JsonMessage, parseOtlpJson } from "./otlp-json.ts"
import { maximumMessages, ProtobufError, type ProtobufReader, TooManyMessagesError } from "./protobuf-reader.ts"
import { readSpan } from "./protobuf-spans.ts"
import type { Resource, ResourceSpans } from "../trace-request.ts"

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

/** At most. */
export interface ItemLimits {
  /** Limit per request. */
  items: number
}

/** The body of an export request whose content coding has been undone, read in two steps: whose it is, and what it says. */
export class OtlpBody {
  readonly #read: { bytes: Buffer } | { text: string }
  readonly #kind: Omit<ItemKind, "most">
  readonly resources: readonly Resource[]

  /**
   * @throws {HeddleError} 400 that names what is wrong, 415 another content type.
   * @throws {JsonTextError}
   */
  constructor(bytes: Buffer, contentType: string | undefined, kind: Omit<ItemKind, "most">) {
    this.#kind = kind
    if (encodingOf(contentType, bytes) === "protobuf") {
      this.#read = { bytes }
      this.resources = decoded(() => readProtobufResources(bytes))
    } else {
      const { text, resources } = scanRequest(bytes, kind.resources)
      this.#read = { text }
      this.resources = resources
    }
  }

  /** Ids and times are not checked. @throws {HeddleError} 400 that names what is wrong, 413 too many. */
  items<T>(
    { items: most }: ItemLimits,
    readers: { protobuf: (reader: ProtobufReader) => T; json: (message: JsonMessage) => T },
  ): ResourceItems<T>[] {
    const kind = { ...this.#kind, most }
    const read = this.#read
    return decoded(() => {
      if ("bytes" in read) return readProtobufItems(read.bytes, kind, readers.protobuf)
      const values = countValues(read.text)
      if (values > mostJsonValues) throw new TooManyMessagesError(`the request has more than ${mostJsonValues} values`)
      return readJsonItems(parseOtlpJson(read.text), kind, readers.json)
    })
  }
}

/** As many as spans may have in protobuf: each attribute is three or so. */
const mostJsonValues = 3 * maximumMessages

const spans = { resources: "resourceSpans", scopes: "scopeSpans", items: "spans", what: "spans" }
const logs = { resources: "resourceLogs", scopes: "scopeLogs", items: "logRecords", what: "log records" }

export function traceBody(bytes: Buffer, contentType: string | undefined): OtlpBody {
  return new OtlpBody(bytes, contentType, spans)
}

export function logsBody(bytes: Buffer, contentType: string | undefined): OtlpBody {
  return new OtlpBody(bytes, contentType, logs)
}

/** The spans of a request; see {@link OtlpBody.items}. */
export function spansOf(body: OtlpBody, limits: ItemLimits): ResourceSpans[] {
  const all = body.items(limits, { protobuf: readSpan, json: jsonSpan })
  return all.map(({ resource, scopes }) => ({
    resource,
    scopeSpans: scopes.map(({ scope, items }) => ({ scope, spans: items })),
  }))
}

export function logRecordsOf(body: OtlpBody, limits: ItemLimits): ResourceItems<LogRecord>[] {
  return body.items(limits, { protobuf: readLogRecord, json: jsonLogRecord })
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
