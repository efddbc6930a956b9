/** What the log hears of an answer that failed, before its first byte or in the middle. */
import type { FastifyReply } from "fastify"
import { isStoreAway } from "../errors.ts"

/** What was stopped because its client left is no failure of the server. The log has already heard of a store that is away. */
export function logFailure({ raw, request: { log } }: FastifyReply, error: unknown, message: string): void {
  if (isStoreAway(error)) log.debug({ err: error }, "a store is away")
  else if (raw.destroyed) log.info({ err: error }, "the client left before it was answered")
  else log.error({ err: error }, message)
}
