/** What the log hears of an answer that failed, before its first byte or in the middle. */
import type { FastifyReply } from "fastify"
import { isStoreUnavailable } from "../../errors.ts"

/** A request whose client left is no failure of the server. An unavailable store is in the log already. */
export function logFailure({ raw, request: { log } }: FastifyReply, error: unknown, message: string): void {
  if (isStoreUnavailable(error)) log.debug({ err: error }, "a store is away")
  else if (raw.destroyed) log.info({ reason: String(error) }, "the client left before it was answered")
  else log.error({ err: error }, message)
}
