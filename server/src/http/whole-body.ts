/** The body of a request in memory, for every route without `streamsBody`: its bytes, and what they say as JSON. */
import type { IncomingMessage } from "node:http"
import { HeddleError } from "../errors.ts"
import { JsonTextError, maximumJsonDepth } from "../json/json-cursor.ts"
import { isNestedDeeper } from "../json/nesting.ts"
import { readParts } from "../json/json-parts.ts"
import { bodyTooLarge, codingOf, decodingError } from "./content-coding.ts"

/** Each chunk is a journey to another thread and back: with 16 KiB, zlib's own, they take a third of the time. */
const decodedChunkBytes = 128 * 1024

/**
 * The decoded bytes. A body that is too large is read to its end and thrown away, so that the
 * client gets to read the answer.
 * @throws {HeddleError} 413 more than `maximumBytes`, encoded or decoded; 415 unknown encoding; 400 broken encoding.
 */
export async function wholeBody(request: IncomingMessage, maximumBytes: number): Promise<Buffer> {
  const encoding = request.headers["content-encoding"]
  const coding = codingOf(encoding)
  const bytes = await read(request, maximumBytes)
  if (coding === null) return bytes
  try {
    // The limit holds for what comes out: a few kilobytes can decode to gigabytes.
    return await coding.whole(bytes, { maxOutputLength: maximumBytes, chunkSize: decodedChunkBytes })
  } catch (error) {
    throw decodingError(error, encoding, maximumBytes)
  }
}

function read(request: IncomingMessage, maximumBytes: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    // Who left by now is told by no event any more.
    if (request.destroyed) return reject(request.errored ?? new Error("the client left"))
    const chunks: Buffer[] = []
    let bytes = 0
    request.on("data", (chunk: Buffer) => {
      bytes += chunk.length
      if (bytes <= maximumBytes) chunks.push(chunk)
      else chunks.length = 0
    })
    request.on("error", reject)
    request.on("end", () => {
      if (bytes > maximumBytes) reject(bodyTooLarge(maximumBytes))
      else resolve(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks, bytes))
    })
  })
}

/**
 * An empty body counts as absent: openai clients send a JSON content type with DELETE and no body (training-api 1.4).
 * @throws {HeddleError} 400 not JSON.
 * @throws {JsonTextError} nested too deep.
 */
export function parseJson(text: string): unknown {
  if (text.trim() === "") return undefined
  if (isNestedDeeper(text, maximumJsonDepth)) {
    throw new JsonTextError("too_deep", `values are nested in more than ${maximumJsonDepth} levels`)
  }
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new HeddleError("bad_request", `the request body is not JSON: ${(cause as Error).message}`, { cause })
  }
}

/**
 * As {@link parseJson}, for clients whose JSON comes from Python: the bare words `NaN` and `Infinity`
 * become null (calls 1.1), and a value nested too deep for a query to be built of it is refused (objects 1).
 * @throws {JsonTextError} not JSON, or nested too deep.
 */
export function parseTolerantly(text: string): unknown {
  return text.trim() === "" ? undefined : readParts(text, {})
}
