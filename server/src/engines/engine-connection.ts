/** One connection to an engine: many calls multiplexed over a socket, told apart by id. */
import type { Socket } from "node:net"
import { type EngineError, type Heartbeat, MAX_CALL_BYTES, PROTOCOL_VERSION } from "../wire/engine/frames.ts"
import type { HelloResult } from "../wire/engine/base.ts"
import type { EngineMethod } from "../wire/engine/methods.ts"
import { type EngineCall, EngineFailure, type EngineParams } from "./engine.ts"
import { CallInbox, failedCall } from "./engine-call.ts"
import { encodeFrame, FrameReader } from "./frame-codec.ts"

/** Any frame from the engine; which fields are there tells its kind (`wire/engine/frames.ts`). */
interface InboundFrame {
  id?: number
  event?: string
  data?: unknown
  result?: unknown
  error?: EngineError
}

/** Calls that an engine ends when it is told to, and answers then. */
const cancellable: ReadonlySet<EngineMethod> = new Set(["chat", "embed", "checkpoint.export", "train"])

export interface ConnectionListener {
  heartbeat(beat: Heartbeat): void
  /** Once, after every open call has failed with `unavailable`. */
  closed(reason: string): void
}

export class EngineConnection {
  readonly #socket: Socket
  readonly #listener: ConnectionListener
  readonly #reader = new FrameReader()
  readonly #calls = new Map<number, CallInbox>()
  #nextId = 1
  #corked = false
  #closeReason: string | null = null

  constructor(socket: Socket, listener: ConnectionListener) {
    this.#socket = socket
    this.#listener = listener
    socket.on("data", (chunk: Buffer) => this.#receive(chunk))
    socket.on("error", (error) => this.#fail(`the connection to the engine broke: ${error.message}`))
    socket.on("close", () => this.#fail("the engine closed the connection"))
  }

  async hello(token: string | null, signal: AbortSignal): Promise<HelloResult> {
    const hello = await this.call("hello", { protocol: PROTOCOL_VERSION, token }, signal).result
    if (hello.protocol !== PROTOCOL_VERSION) {
      throw new EngineFailure(
        "unavailable",
        `the engine speaks protocol ${hello.protocol}, this server ${PROTOCOL_VERSION}`,
      )
    }
    return hello
  }

  call<M extends EngineMethod>(method: M, params: EngineParams<M>, signal?: AbortSignal): EngineCall<M> {
    if (this.#closeReason !== null) return failedCall(new EngineFailure("unavailable", this.#closeReason))
    if (signal?.aborted === true) return failedCall(new EngineFailure("cancelled", "cancelled before it was sent"))
    const id = this.#nextId++
    let frame: Buffer
    try {
      frame = encodeFrame({ id, method, params }, MAX_CALL_BYTES)
    } catch (error) {
      return failedCall(
        new EngineFailure("invalid", `the request is too large for the engine: ${(error as Error).message}`),
      )
    }
    const inbox = new CallInbox()
    this.#calls.set(id, inbox)
    this.#send(frame)
    if (signal !== undefined) this.#cancelOnAbort(signal, id, method, params, inbox)
    return inbox.asCall<M>()
  }

  close(): void {
    this.#fail("the connection was closed")
  }

  /** Calls that are made in one turn of the event loop leave in one write. */
  #send(frame: Buffer): void {
    if (!this.#corked) {
      this.#corked = true
      this.#socket.cork()
      setImmediate(() => {
        this.#corked = false
        this.#socket.uncork()
      })
    }
    this.#socket.write(frame)
  }

  #cancelOnAbort(signal: AbortSignal, id: number, method: EngineMethod, params: unknown, inbox: CallInbox): void {
    const abort = () => {
      if (cancellable.has(method)) this.#cancel(id, method, params)
      else this.#giveUp(id, inbox, `${method} was given up: ${(signal.reason as Error).message}`)
    }
    signal.addEventListener("abort", abort, { once: true })
    const forget = () => signal.removeEventListener("abort", abort)
    inbox.asCall().result.then(forget, forget)
  }

  /** A job is named by its own id, any other call by its frame's. The engine still answers the cancelled call itself. */
  #cancel(id: number, method: EngineMethod, params: unknown): void {
    if (this.#closeReason !== null || !this.#calls.has(id)) return
    if (method === "train") this.call("train.cancel", { job_id: (params as { job_id: string }).job_id })
    else this.call("chat.cancel", { id })
  }

  #receive(chunk: Buffer): void {
    try {
      this.#reader.read(chunk, (frame, bytes) => this.#dispatch(frame as InboundFrame, bytes))
    } catch (error) {
      this.#fail(`the engine sent bytes that are no frame: ${(error as Error).message}`)
    }
  }

  #dispatch(frame: InboundFrame, bytes: number): void {
    if (frame.id === undefined) {
      if (frame.event === "heartbeat") this.#listener.heartbeat(frame.data as Heartbeat)
      return
    }
    const inbox = this.#calls.get(frame.id)
    if (inbox === undefined) return
    if (frame.event !== undefined) {
      if (!inbox.push({ event: frame.event, data: frame.data }, bytes)) this.#abandon(frame.id, inbox)
      return
    }
    this.#calls.delete(frame.id)
    if (frame.error === undefined) return inbox.succeed(frame.result)
    const { kind, message, param, usage } = frame.error
    inbox.fail(new EngineFailure(kind, message, param ?? null, usage ?? null))
  }

  #abandon(id: number, inbox: CallInbox): void {
    this.#cancel(id, "chat", null)
    this.#giveUp(id, inbox, "the client does not read its stream")
  }

  /** Nobody waits for the engine's answer any more; should it still come, it is thrown away. */
  #giveUp(id: number, inbox: CallInbox, reason: string): void {
    this.#calls.delete(id)
    inbox.fail(new EngineFailure("cancelled", reason))
  }

  #fail(reason: string): void {
    if (this.#closeReason !== null) return
    this.#closeReason = reason
    this.#socket.destroy()
    for (const inbox of this.#calls.values()) inbox.fail(new EngineFailure("unavailable", reason))
    this.#calls.clear()
    this.#listener.closed(reason)
  }
}
