/**
 * Ends requests whose bodies do not get on. A body holds memory and a connection while it comes, so a client that sends
 * nothing, or a byte now and then, would keep both from others for as long as it likes. A body that waits for the server
 * (for memory, a disk, a handler) is left alone, and so is a request that has come whole and waits for its answer.
 */
import type { IncomingMessage } from "node:http"
import { HeddleError } from "../../errors.ts"
import type { Limits } from "../../limits.ts"

export type BodyWatchLimits = Pick<Limits, "body_idle_ms" | "body_bytes_per_second">

interface Watched {
  request: IncomingMessage
  /** Bytes received on the connection when it last made progress. */
  bytes: number
  idleMs: number
  /** Bytes received on the connection when the current pace period started. */
  periodBytes: number
  periodMs: number
  isRefused: boolean
}

export class BodyWatch {
  readonly #idleMs: number
  readonly #bytesPerSecond: number
  readonly #tickMs: number
  readonly #watched = new Set<Watched>()
  #timer: NodeJS.Timeout | null = null
  #lastTick = 0

  constructor(limits: BodyWatchLimits) {
    this.#idleMs = limits.body_idle_ms
    this.#bytesPerSecond = limits.body_bytes_per_second
    this.#tickMs = Math.min(1000, this.#idleMs / 5)
  }

  /** Emits `error` on the request with a 408 when its body stalls. Call what it returns once nobody reads the body any more. */
  watch(request: IncomingMessage): () => void {
    const bytes = bytesOf(request)
    const watched = { request, bytes, idleMs: 0, periodBytes: bytes, periodMs: 0, isRefused: false }
    this.#watched.add(watched)
    // Nobody may be reading at the moment, and an error event without a listener ends the process.
    request.on("error", ignore)
    this.#start()
    return () => this.#forget(watched)
  }

  #forget(watched: Watched): void {
    this.#watched.delete(watched)
    watched.request.off("error", ignore)
    if (this.#watched.size > 0 || this.#timer === null) return
    clearInterval(this.#timer)
    this.#timer = null
  }

  #start(): void {
    if (this.#timer !== null) return
    this.#lastTick = performance.now()
    this.#timer = setInterval(() => this.#tick(), this.#tickMs).unref()
  }

  #tick(): void {
    const now = performance.now()
    // While this process was busy it read nothing, which is no client's fault.
    const ms = Math.min(now - this.#lastTick, 2 * this.#tickMs)
    this.#lastTick = now
    for (const watched of this.#watched) this.#look(watched, ms)
  }

  #look(watched: Watched, ms: number): void {
    const { request } = watched
    // A request of Fastify's `inject` has no `complete`, and its socket is none.
    if (request.complete || request.readableEnded || request.destroyed) return this.#forget(watched)
    const bytes = bytesOf(request)
    watched.idleMs = bytes > watched.bytes ? 0 : watched.idleMs + ms
    watched.bytes = bytes
    watched.periodMs += ms
    const waitsForServer = request.readableLength > 0
    if (waitsForServer) watched.idleMs = 0
    if (watched.idleMs >= this.#idleMs) return this.#refuse(watched, `nothing of it came for ${this.#idleMs / 1000} s`)
    if (watched.periodMs < 2 * this.#idleMs && !waitsForServer) return
    const pace = (1000 * (bytes - watched.periodBytes)) / watched.periodMs
    if (pace < this.#bytesPerSecond && !waitsForServer) {
      return this.#refuse(watched, `it comes slower than ${this.#bytesPerSecond} bytes a second`)
    }
    watched.periodBytes = bytes
    watched.periodMs = 0
  }

  #refuse(watched: Watched, why: string): void {
    const { request } = watched
    // Whoever reads the body has had the time to answer.
    if (watched.isRefused) return void request.socket.destroy()
    Object.assign(watched, { isRefused: true, idleMs: 0, periodMs: 0 })
    request.emit("error", stalled(why))
  }
}

function stalled(why: string): HeddleError {
  const message = `the request's body did not arrive: ${why}; nothing was done. Send it again, in smaller requests if the line is slow`
  // The rest of the body may still come, and would be taken for the next request.
  return new HeddleError("request_timeout", message, { headers: { connection: "close" } })
}

/** Bytes read on the connection, over all its requests. */
function bytesOf({ socket }: IncomingMessage): number {
  return socket.bytesRead ?? 0
}

function ignore(): void {}
