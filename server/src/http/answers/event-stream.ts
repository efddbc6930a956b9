/** Server-sent events out of a generator: keep-alive comments, errors after the first byte, `[DONE]`. */
import type { FastifyReply } from "fastify"
import { Readable } from "node:stream"
import { HeddleError } from "../../errors.ts"
import { openaiErrorBody } from "./error-dialects.ts"
import { logFailure } from "./failure-log.ts"
import { keepScope } from "../../work/work-scope.ts"

/** Comment lines are ignored by the SDKs and keep proxies from closing a silent connection. */
const defaultKeepAliveMs = 15_000
const keepAlive = ": keep-alive\n\n"
const done = "data: [DONE]\n\n"

export function event(json: string): string {
  return `data: ${json}\n\n`
}

/** An event whose name is the type of its data. */
export function typedEvent(data: { type: string }): string {
  return `event: ${data.type}\n${event(JSON.stringify(data))}`
}

/** How a protocol writes the end of a stream and a failure within it. */
export interface StreamForm {
  end: string
  /** An event. */
  failure: (error: HeddleError) => string
}

const openaiForm: StreamForm = {
  end: done,
  failure: (error) => event(JSON.stringify(openaiErrorBody(error))),
}

interface StreamOptions {
  form?: StreamForm
  keepAliveMs?: number
}

/**
 * Waits for the first events before it answers 200, so that an early failure has its own status;
 * a request that still waits after `keepAliveMs` begins its stream with a comment instead.
 * The stream has the end of its form only when `events` ends well (inference-api 6).
 */
export async function sendEvents(
  reply: FastifyReply,
  events: AsyncGenerator<string>,
  { form = openaiForm, keepAliveMs = defaultKeepAliveMs }: StreamOptions = {},
): Promise<void> {
  const kept = keepScope(events)
  const first = kept.next()
  const early = await withTimeout(first, keepAliveMs)
  if (early?.done === true) return
  reply.header("content-type", "text/event-stream; charset=utf-8")
  reply.header("cache-control", "no-cache, no-store")
  reply.header("x-accel-buffering", "no")
  const start = early === null ? keepAlive : ""
  const stream = Readable.from(
    frames({ start, first, events: kept, form, keepAliveMs }, (error) =>
      logFailure(reply, error, "a stream broke off"),
    ),
    {
      objectMode: false,
      highWaterMark: 64 * 1024,
    },
  )
  // A client may leave while the stream waits for it to read: then nothing else asks for more, nor lets it end.
  stream.once("close", () => void kept.return(undefined))
  reply.send(stream)
}

interface OpenStream extends Required<StreamOptions> {
  /** Ahead of the first event. */
  start: string
  first: Promise<IteratorResult<string>>
  events: AsyncGenerator<string>
}

async function* frames(
  { start, first, events, form, keepAliveMs }: OpenStream,
  tellBreak: (error: unknown) => void,
): AsyncGenerator<string> {
  let next = first
  if (start !== "") yield start
  try {
    for (;;) {
      const result = await withTimeout(next, keepAliveMs)
      if (result === null) {
        yield keepAlive
        continue
      }
      if (result.done === true) break
      yield result.value
      next = events.next()
    }
    if (form.end !== "") yield form.end
  } catch (error) {
    tellBreak(error)
    yield form.failure(toStreamError(error))
  }
}

function toStreamError(error: unknown): HeddleError {
  if (error instanceof HeddleError) return error
  return new HeddleError("internal_error", "an unexpected error; the server's log has it under this request id", {
    cause: error,
  })
}

/** null: it takes longer. */
async function withTimeout<T>(promise: Promise<T>, ms: number): Promise<T | null> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<null>((resolve) => (timer = setTimeout(resolve, ms, null)))
  try {
    return await Promise.race([promise, late])
  } finally {
    clearTimeout(timer)
  }
}
