/**
 * An engine on another machine that others have started: attaches to it, and again whenever the connection breaks. It is
 * never started, killed or shut down from here.
 */
import { once } from "node:events"
import { setTimeout as sleep } from "node:timers/promises"
import type { Log } from "../../log.ts"
import type { EngineMethod } from "../../wire/engine/methods.ts"
import type {
  Engine,
  EngineCall,
  EngineFailure,
  EngineMember,
  EngineParams,
  EngineStatus,
  JobPlaces,
} from "../engine.ts"
import { EngineConnection } from "../engine-connection.ts"
import { EngineStanding } from "../engine-standing.ts"
import { defaultWatchdogLimits, EngineWatchdog, untilHung, type WatchdogLimits } from "../engine-watchdog.ts"
import { connectEngine, type EngineAddress } from "./engine-address.ts"
import { RemoteCalls } from "./remote-calls.ts"

export interface RemoteEngineOptions {
  address: EngineAddress
  token: string
  ca: string | null
  /** Base models that each engine has of its own. */
  shippedBases: ReadonlySet<string>
  log: Log
  watchdog?: WatchdogLimits
  /** Pause before the k-th try in a row. */
  backOffMs?: (failuresInARow: number) => number
}

/** An engine says hello when torch is loaded. */
const helloMs = 120_000
/** After a connection that held. */
const reattachMs = 100

function defaultBackOff(failuresInARow: number): number {
  return Math.min(250 * 2 ** (failuresInARow - 1), 10_000)
}

export class RemoteEngine implements Engine {
  readonly #options: Required<RemoteEngineOptions>
  readonly #closing = new AbortController()
  readonly #stop = once(this.#closing.signal, "abort").then(() => "the server is stopping")
  readonly #standing = new EngineStanding()
  readonly #attachment: Promise<void>
  #logged: string | null = null

  /** Begins to attach at once and returns at once. */
  constructor(options: RemoteEngineOptions) {
    this.#options = { watchdog: defaultWatchdogLimits, backOffMs: defaultBackOff, ...options }
    this.#attachment = this.#keepAttached()
  }

  call<M extends EngineMethod>(method: M, params: EngineParams<M>, signal?: AbortSignal): EngineCall<M> {
    return this.#standing.call(method, params, signal)
  }

  ready(timeoutMs: number): Promise<void> {
    return this.#standing.ready(timeoutMs)
  }

  status(): EngineStatus {
    return this.#standing.status()
  }

  members(): EngineMember[] {
    return [{ name: this.#options.address.url, engine: this }]
  }

  jobPlaces(): JobPlaces {
    return this.#standing.jobPlaces()
  }

  async close(): Promise<void> {
    this.#closing.abort()
    await this.#attachment
  }

  async #keepAttached(): Promise<void> {
    let failuresInARow = 0
    while (!this.#closing.signal.aborted) {
      const { held, reason } = await this.#attach()
      if (this.#closing.signal.aborted) break
      failuresInARow = held ? 0 : failuresInARow + 1
      this.#standing.enter(held ? "restarting" : "unreachable", reason)
      this.#tell(reason)
      const pauseMs = held ? reattachMs : this.#options.backOffMs(failuresInARow)
      await sleep(pauseMs, undefined, { signal: this.#closing.signal }).catch(() => undefined)
    }
    this.#standing.enter("closed", "the server is stopping")
  }

  /** A machine that stays away is told of once. */
  #tell(reason: string): void {
    if (reason === this.#logged) return
    this.#logged = reason
    this.#options.log.warn({ reason, engine: this.#options.address.url }, "no connection to the engine; trying again")
  }

  /** One connection from start to end: whether calls could be made on it, and why it ended. */
  async #attach(): Promise<{ held: boolean; reason: string }> {
    const { address, ca, token, watchdog: limits } = this.#options
    const watchdog = new EngineWatchdog(limits)
    const ended = Promise.withResolvers<string>()
    let connection: EngineConnection
    try {
      const socket = await connectEngine(address, ca, this.#closing.signal)
      connection = new EngineConnection(socket, {
        heartbeat: (beat) => {
          this.#standing.heartbeat = beat
          watchdog.heartbeat(beat)
        },
        closed: (reason) => {
          this.#standing.lose(reason)
          ended.resolve(reason)
        },
      })
    } catch (error) {
      return { held: false, reason: (error as Error).message }
    }
    try {
      const signal = AbortSignal.any([this.#closing.signal, AbortSignal.timeout(helloMs)])
      const hello = await connection.hello(token, signal)
      this.#standing.attach(hello, new RemoteCalls(connection, this.#options.shippedBases))
    } catch (error) {
      connection.close()
      return { held: false, reason: refusedHello(address, error as EngineFailure) }
    }
    this.#logged = null
    this.#options.log.info({ engine: address.url }, "attached to the engine")
    const over = new AbortController()
    // Of an engine that hangs nothing can be had; its people look after its process.
    const reason = await Promise.race([ended.promise, untilHung(watchdog, over.signal), this.#stop])
    over.abort()
    this.#standing.lose(reason)
    connection.close()
    return { held: true, reason }
  }
}

function refusedHello({ url, isTls }: EngineAddress, { kind, param, message }: EngineFailure): string {
  if (param === "token") return `the engine at ${url} refuses the token in HEDDLE_ENGINE_TOKEN_FILE`
  if (kind !== "unavailable" || message.includes("protocol")) return `the engine at ${url}: ${message}`
  const other = isTls ? "tls:" : "tcp:, and not TLS"
  return `the engine at ${url} said no hello (${message}); does an engine listen there, with ${other}?`
}
