/**
 * The engine seam. The engine owns weights, tokens and gradients; the server owns names, jobs and
 * accounts. Implementations: a supervised process (`engine-process.ts`), one on another machine
 * (`remote/remote-engine.ts`), several of those (`pool/engine-pool.ts`) and none (`no-engine.ts`).
 */
import type { z } from "zod"
import type { HelloResult } from "../wire/engine/base.ts"
import type { ChatUsage, EngineErrorKind, Heartbeat } from "../wire/engine/frames.ts"
import type { engineMethods, EngineMethod } from "../wire/engine/methods.ts"

type Methods = typeof engineMethods

export type EngineParams<M extends EngineMethod> = z.input<Methods[M]["params"]>
export type EngineResult<M extends EngineMethod> = z.output<Methods[M]["result"]>

type EventsOf<M extends EngineMethod> = Methods[M]["events"]
/** One event of a call, discriminated by `event`. */
export type EngineEvent<M extends EngineMethod> = {
  [K in keyof EventsOf<M>]: {
    event: K
    data: EventsOf<M>[K] extends z.ZodType ? z.output<EventsOf<M>[K]> : never
  }
}[keyof EventsOf<M>]

export interface EngineCall<M extends EngineMethod> {
  /**
   * Batches of events in order, each holding all that came since the last was taken. Ends when the
   * call does, however it does; `result` then tells how.
   */
  events: AsyncIterable<EngineEvent<M>[]>
  /** Rejects with {@link EngineFailure}. */
  result: Promise<EngineResult<M>>
}

/** `unreachable`: of an engine on another machine that a try to connect has not reached; more follow. */
export type EngineState = "none" | "starting" | "ready" | "restarting" | "unreachable" | "closed"

export interface EngineStatus {
  state: EngineState
  /** The engine's own description of itself, once it is ready. */
  hello: HelloResult | null
  heartbeat: Heartbeat | null
  /** Why the engine is not ready, for people. */
  reason: string | null
  /** How long it has taken no calls; null while it does. */
  awayMs: number | null
}

/** Jobs that an engine trains at a time: it takes turns between them at gradient steps. */
export const jobsPerEngine = 4

export interface JobPlaces {
  /** Engines that train, or will shortly. */
  engines: number
  /** Jobs that were begun and wait for an engine. */
  waiting: number
}

/** One of the engines that an {@link Engine} stands for. */
export interface EngineMember {
  /** Its address; `local` beside the server. */
  name: string
  engine: Pick<Engine, "call" | "ready" | "status">
}

/** How long a request may wait for the engine to start. */
export const engineStartMs = 10_000

export interface Engine {
  /** Starts a call. Aborting `signal` cancels it; it then ends with kind `cancelled`. */
  call<M extends EngineMethod>(method: M, params: EngineParams<M>, signal?: AbortSignal): EngineCall<M>
  /** Resolves once calls are taken. @throws {EngineFailure} `unavailable` when that does not come within `timeoutMs`. */
  ready(timeoutMs: number): Promise<void>
  status(): EngineStatus
  members(): readonly EngineMember[]
  jobPlaces(): JobPlaces
  /** Lets running chats finish for a short while, parks jobs, ends the process. */
  close(): Promise<void>
}

/** The engine is away, or died under the call. */
export function isEngineAway(error: unknown): boolean {
  return error instanceof EngineFailure && error.kind === "unavailable"
}

/** A call that did not end with a result: the protocol's error object (`wire/engine/frames.ts`) as an exception. */
export class EngineFailure extends Error {
  override readonly name = "EngineFailure"
  readonly kind: EngineErrorKind
  readonly param: string | null
  readonly usage: ChatUsage | null

  constructor(kind: EngineErrorKind, message: string, param: string | null = null, usage: ChatUsage | null = null) {
    super(message)
    this.kind = kind
    this.param = param
    this.usage = usage
  }
}
