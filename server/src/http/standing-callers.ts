/**
 * Asks again for whom long answers are sent, and bodies read: a stream of events is open for a quarter of an hour, an export
 * for as long as it takes, and a key that is revoked is dead at once (SECURITY.md). Their connections are closed, which no
 * client takes for the end of a whole answer. What is neither read nor sent yet is short, and comes to its end.
 */
import type { FastifyReply, FastifyRequest } from "fastify"
import { keepsRights } from "../access/can.ts"
import { HeddleError } from "../errors.ts"
import { outsideOfRequests } from "../work/work-scope.ts"
import type { Identity } from "./principal.ts"

const lookMs = 2_000

interface OpenRequest {
  request: FastifyRequest
  reply: FastifyReply
  caller: Identity
  /** What shows who calls: requests with the same one are asked about once. */
  credential: string
  /** @throws {HeddleError} for a caller who is none any more. */
  identifyAgain: () => Promise<Identity>
}

export class StandingCallers {
  readonly #open = new Set<OpenRequest>()
  #timer: NodeJS.Timeout | undefined
  #isLooking = false

  /** Looks after a request until its connection has taken the answer, or is gone. */
  watch(open: OpenRequest): void {
    const { raw } = open.reply
    if (raw.destroyed) return
    this.#open.add(open)
    const forget = () => this.#open.delete(open)
    // Requests of the server to itself only finish.
    raw.once("finish", forget).once("close", forget)
    this.#timer ??= outsideOfRequests(() => setInterval(() => void this.#look(), lookMs).unref())
  }

  close(): void {
    clearInterval(this.#timer)
  }

  async #look(): Promise<void> {
    // A look that waits for the catalog is not joined by others.
    if (this.#isLooking) return
    this.#isLooking = true
    try {
      const lasting = [...this.#open].filter(({ request, reply }) => !request.raw.complete || reply.raw.headersSent)
      const callers = Map.groupBy(lasting, ({ credential }) => credential)
      await Promise.all(callers.values().map((requests) => lookAt(requests)))
    } finally {
      this.#isLooking = false
    }
  }
}

async function lookAt(requests: readonly OpenRequest[]): Promise<void> {
  const now = await callerNow(requests)
  if (now === "unknown") return
  for (const { request, reply, caller } of requests) {
    if (now !== null && keepsRights(caller, now)) continue
    const why = now === null ? "key or session has ended" : "rights are fewer than when it began"
    request.log.info(`a request was broken off: the caller's ${why}`)
    reply.raw.destroy()
    request.raw.destroy()
  }
}

/** null: nobody any more; "unknown": it cannot be looked up now, as while the catalog is away. */
async function callerNow([first]: readonly OpenRequest[]): Promise<Identity | null | "unknown"> {
  try {
    return (await first?.identifyAgain()) ?? "unknown"
  } catch (error) {
    return error instanceof HeddleError && error.status === 401 ? null : "unknown"
  }
}
