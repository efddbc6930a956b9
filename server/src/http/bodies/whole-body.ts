/** The body of a request in memory, for every route without `streamsBody`: its bytes, and what they say as JSON. */
import type { IncomingMessage } from "node:http"
import { HeddleError } from "../../errors.ts"
import { JsonTextError, maximumJsonDepth } from "../../json/json-text-error.ts"
import { freeBytes } from "../../work/byte-memory.ts"
import { isNestedDeeper } from "../../json/nesting.ts"
import { readParts } from "../../json/json-parts.ts"
import type { HeldBody } from "./body-budget.ts"
import { decodedBody } from "./body-stream.ts"
import { bodyTooLarge, decodingError } from "./content-coding.ts"
import { thrownAway } from "./thrown-away.ts"

/**
 * The decoded bytes, counted in `held`. A body that is refused is read to its end and thrown away, so that the client
 * gets to read the answer.
 * @throws {HeddleError} 413 more than `maximumBytes`; 415 unknown encoding; 400 broken encoding; 408 it stopped coming; 503 no room for it.
 */
export async function wholeBody(request: IncomingMessage, maximumBytes: number, held: HeldBody): Promise<Buffer> {
  try {
    return await collect(request, maximumBytes, held)
  } catch (error) {
    held.release()
    // A stalled body cannot be read to its end.
    if (!isStalled(error)) await thrownAway(request)
    throw decodingError(error, request.headers["content-encoding"])
  }
}

function isStalled(error: unknown): boolean {
  return error instanceof HeddleError && error.code === "request_timeout"
}

async function collect(request: IncomingMessage, maximumBytes: number, held: HeldBody): Promise<Buffer> {
  // If the client has already gone, no event will tell of it any more.
  if (request.destroyed) throw request.errored ?? new Error("the client left")
  if (Number(request.headers["content-length"] ?? 0) > maximumBytes) throw bodyTooLarge(maximumBytes)
  const source = decodedBody(request)
  const chunks: Buffer[] = []
  let bytes = 0
  return new Promise((resolve, reject) => {
    const take = (chunk: Buffer) => {
      bytes += chunk.length
      if (bytes > maximumBytes) return fail(bodyTooLarge(maximumBytes))
      chunks.push(chunk)
      const room = held.take(chunk.length)
      if (room === null) return
      source.pause()
      room.then(() => source.resume(), fail)
    }
    const fail = (error: Error) => {
      source.off("data", take)
      if (source !== request) source.destroy()
      reject(error)
    }
    source.on("data", take)
    source.on("error", fail)
    source.on("end", () => {
      if (source === request && chunks[0]?.length === bytes) return resolve(chunks[0])
      // A decoder returns slices of a larger buffer, which they would keep in memory.
      resolve(Buffer.concat(chunks, bytes))
      if (source === request) freeBytes(...chunks)
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
