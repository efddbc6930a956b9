/** The body of a request as a stream, for routes with `streamsBody`: decoded, and never more than a limit. */
import { IncomingMessage } from "node:http"
import type { Readable } from "node:stream"
import { bodyTooLarge, codingOf, decodingError } from "./content-coding.ts"
import { thrownAway } from "./thrown-away.ts"

/**
 * Yields the decoded body. What is not read is thrown away, so that the client, which is still sending, gets to read the
 * answer, and the next request on its connection is read. `keepsNone`: the reader is done with a chunk when it asks for the
 * next one, and the chunk is freed.
 * @throws {HeddleError} 413 more than `maximumBytes`, encoded or decoded; 415 unknown encoding; 400 broken encoding; 408 it stopped coming.
 */
export async function* bodyStream(
  request: IncomingMessage,
  maximumBytes: number,
  { keepsNone = false } = {},
): AsyncGenerator<Buffer> {
  if (Number(request.headers["content-length"] ?? 0) > maximumBytes) throw bodyTooLarge(maximumBytes)
  const source = decodedBody(request)
  let bytes = 0
  try {
    for await (const chunk of source.iterator({ destroyOnReturn: false })) {
      const buffer = chunk as Buffer
      bytes += buffer.length
      if (bytes > maximumBytes) throw bodyTooLarge(maximumBytes)
      yield buffer
      // A decoder may still use its buffers, and those of Fastify's `inject` are its caller's.
      if (keepsNone && source instanceof IncomingMessage) free(buffer)
    }
  } catch (error) {
    throw decodingError(error, request.headers["content-encoding"])
  } finally {
    if (source !== request) source.destroy()
    // Node does so by itself only with a body of which nothing was read; it counts listeners in the next tick.
    setImmediate(() => void thrownAway(request))
  }
}

/**
 * Node reads a body into a buffer for each 64 KiB. Left to the garbage collector, they make it mark the whole heap once for
 * every 64 MiB, which for a large file takes more processor time than its two digests.
 */
function free({ buffer, byteLength }: Buffer): void {
  // Small ones share their memory with others.
  if (buffer.byteLength === byteLength) (buffer as ArrayBuffer).transfer(0)
}

/** The body without its content coding. A reader that stops early destroys it, unless it is the request itself. @throws {HeddleError} 415. */
export function decodedBody(request: IncomingMessage): Readable {
  const coding = codingOf(request.headers["content-encoding"])
  if (coding === null) return request
  const decoder = coding()
  request.once("error", (error) => decoder.destroy(error))
  return request.pipe(decoder)
}
