/** Streams JSON text to the client: evaluation-store-calls 3.4. */
import type { FastifyReply } from "fastify"
import { Readable } from "node:stream"
import { logFailure } from "./failure-log.ts"
import { jsonLine } from "../../json/json-lines.ts"
import { keepScope } from "../../work/work-scope.ts"

/** Content types of JSON Lines; the first is the one of clients that ask for none. */
export const lineTypes: readonly string[] = [
  "application/jsonl",
  "application/x-ndjson",
  "application/ndjson",
  "application/x-jsonlines",
]

/** The type of JSON Lines that the client asks for by name, else `application/jsonl`. */
export function linesType(accept: string | undefined): string {
  const accepted = (accept ?? "").split(",").map((one) => one.split(";", 1)[0]?.trim().toLowerCase() ?? "")
  return accepted.find((one) => lineTypes.includes(one)) ?? "application/jsonl"
}

/**
 * Answers 200 once the first piece is there, so that an early failure has its own status. A failure
 * after that breaks the connection: an error among the lines would be read as a record.
 */
export async function sendStream(reply: FastifyReply, type: string, pieces: AsyncGenerator<string>): Promise<void> {
  const kept = keepScope(pieces)
  const first = await kept.next()
  const all = withFirst(first, kept, (error) => logFailure(reply, error, "a stream broke off"))
  // A generator that nothing was read from ends without its `finally`, and the client may be gone already.
  const ending = { next: () => all.next(), return: () => end(all, kept), [Symbol.asyncIterator]: () => ending }
  reply.type(type).send(Readable.from(ending, { objectMode: false }))
}

async function end(...pieces: AsyncGenerator<string>[]): Promise<IteratorResult<string>> {
  for (const each of pieces) await each.return(undefined)
  return { done: true, value: undefined }
}

async function* withFirst(
  first: IteratorResult<string>,
  rest: AsyncGenerator<string>,
  tellBreak: (error: unknown) => void,
): AsyncGenerator<string> {
  if (first.done === true) return
  yield first.value
  try {
    yield* rest
  } catch (error) {
    tellBreak(error)
    throw error
  }
}

export async function* jsonLines(batches: AsyncIterable<readonly string[]>): AsyncGenerator<string> {
  for await (const batch of batches) yield batch.map(jsonLine).join("")
}

/** One object with the list `name`. */
export async function* jsonDocument(name: string, batches: AsyncIterable<readonly string[]>): AsyncGenerator<string> {
  let before = `{${JSON.stringify(name)}:[`
  for await (const batch of batches) {
    if (batch.length === 0) continue
    yield before + batch.join(",")
    before = ","
  }
  yield before === "," ? "]}" : `${before}]}`
}
