/** The two encodings of OTLP over HTTP, and what a body means in each. */
import { HeddleError } from "../../errors.ts"
import { ValueTooDeepError } from "./any-value.ts"
import { readJsonTraces } from "./json-traces.ts"
import { parseOtlpJson } from "./otlp-json.ts"
import { ProtobufError, TooManyMessagesError } from "./protobuf-reader.ts"
import { readProtobufTraces } from "./protobuf-traces.ts"
import { maximumSpans, type ResourceSpans } from "./trace-request.ts"

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
  return decoded(() => {
    if (encoding === "protobuf") return readProtobufTraces(bytes)
    const all = readJsonTraces(parseOtlpJson(bytes))
    const spans = all.flatMap(({ scopeSpans }) => scopeSpans).reduce((sum, one) => sum + one.spans.length, 0)
    if (spans > maximumSpans) throw new TooManyMessagesError(`the request has more than ${maximumSpans} spans`)
    return all
  })
}

/** Runs a reader and says in our words why it could not. */
export function decoded<T>(read: () => T): T {
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
