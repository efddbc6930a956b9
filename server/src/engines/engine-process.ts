/**
 * Supervises one engine process: starts it, watches it, starts it again with growing pauses. Calls
 * in flight when it ends fail with `unavailable`; their callers decide whether to try again.
 */
import { once } from "node:events"
import { mkdtemp, rm } from "node:fs/promises"
import { connect, type Socket } from "node:net"
import { tmpdir } from "node:os"
import path from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import type { Log } from "../log.ts"
import type { EngineMethod } from "../wire/engine/methods.ts"
import type { Engine, EngineCall, EngineMember, EngineParams, EngineStatus, JobPlaces } from "./engine.ts"
import { EngineConnection } from "./engine-connection.ts"
import { EngineStanding } from "./engine-standing.ts"
import { defaultWatchdogLimits, EngineWatchdog, untilHung, type WatchdogLimits } from "./engine-watchdog.ts"
import type { EngineProcess, LaunchEngine } from "./python-process.ts"

export interface EngineProcessOptions {
  launch: LaunchEngine
  log: Log
  watchdog?: WatchdogLimits
  /** How long a new process may take until it answers `hello`. */
  startTimeoutMs?: number
  /** Pause before the k-th restart in a row. */
  backOffMs?: (failuresInARow: number) => number
}

/** An engine that ran this long was healthy: the next restart comes at once. */
const healthyMs = 5_000
const connectRetryMs = 20
/** Between the request for a stack dump and the kill. */
const dumpMs = 1_000
const drainSeconds = 2

function defaultBackOff(failuresInARow: number): number {
  return failuresInARow <= 1 ? 0 : Math.min(250 * 2 ** (failuresInARow - 2), 10_000)
}

export class SupervisedEngine implements Engine {
  readonly #options: Required<EngineProcessOptions>
  readonly #closing = new AbortController()
  readonly #stop = once(this.#closing.signal, "abort").then(() => null)
  readonly #supervision: Promise<void>
  readonly #standing = new EngineStanding()
  #failuresInARow = 0
  #connection: EngineConnection | null = null

  /** Starts at once and returns at once. */
  constructor(options: EngineProcessOptions) {
    this.#options = {
      watchdog: defaultWatchdogLimits,
      startTimeoutMs: 120_000,
      backOffMs: defaultBackOff,
      ...options,
    }
    this.#supervision = this.#supervise()
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
    return [{ name: "local", engine: this }]
  }

  jobPlaces(): JobPlaces {
    return this.#standing.jobPlaces()
  }

  async close(): Promise<void> {
    this.#closing.abort()
    await this.#supervision
  }

  async #supervise(): Promise<void> {
    while (!this.#closing.signal.aborted) {
      const began = performance.now()
      const reason = await this.#lifetime().catch((error: Error) => error.message)
      if (this.#closing.signal.aborted) break
      this.#failuresInARow = performance.now() - began > healthyMs ? 1 : this.#failuresInARow + 1
      this.#standing.enter("restarting", reason)
      this.#options.log.warn({ reason, failuresInARow: this.#failuresInARow }, "engine ended")
      await sleep(this.#options.backOffMs(this.#failuresInARow), undefined, {
        signal: this.#closing.signal,
      }).catch(() => undefined)
    }
    this.#standing.enter("closed", "the server is stopping")
  }

  /** One process from start to end. Returns why it ended. */
  async #lifetime(): Promise<string> {
    // The system's folder, because a socket path may have no more than about 100 characters.
    const folder = await mkdtemp(path.join(tmpdir(), "heddle-"))
    const socketPath = path.join(folder, "engine.sock")
    const process = this.#options.launch(socketPath, (line) => this.#options.log.info({ engine: line }, "engine"))
    try {
      return await this.#serve(process, socketPath)
    } finally {
      this.#connection?.close()
      this.#connection = null
      process.kill("SIGKILL")
      await process.exited
      await rm(folder, { recursive: true, force: true })
    }
  }

  async #serve(process: EngineProcess, socketPath: string): Promise<string> {
    const watchdog = new EngineWatchdog(this.#options.watchdog)
    const ended = Promise.withResolvers<string>()
    const gone = new AbortController()
    void process.exited.then(ended.resolve)
    void ended.promise.then(() => gone.abort())
    const late = AbortSignal.timeout(this.#options.startTimeoutMs)
    const starting = AbortSignal.any([late, gone.signal, this.#closing.signal])
    const socket = await Promise.race([this.#connect(socketPath, starting), ended.promise])
    if (typeof socket === "string") return socket
    const connection = new EngineConnection(socket, {
      heartbeat: (beat) => {
        this.#standing.heartbeat = beat
        watchdog.heartbeat(beat)
      },
      closed: (reason) => {
        this.#standing.lose(reason)
        // The exit says more than the closed socket; give it a moment to be known.
        setTimeout(() => ended.resolve(reason), 100).unref()
      },
    })
    this.#connection = connection
    const greeting = connection.hello(null, starting).catch((error: unknown) => {
      throw late.aborted ? this.#startedTooLate("answer") : error
    })
    const hello = await Promise.race([greeting, ended.promise, this.#stop])
    if (hello === null) return "the server is stopping"
    if (typeof hello === "string") return hello
    this.#standing.attach(hello, connection)
    const hung = untilHung(watchdog, AbortSignal.any([gone.signal, this.#closing.signal]))
    return this.#watch(process, connection, hung, ended.promise)
  }

  async #watch(process: EngineProcess, connection: EngineConnection, hung: Promise<string>, ended: Promise<string>) {
    const outcome = await Promise.race([ended, hung.then((reason) => ({ hung: reason })), this.#stop])
    if (outcome === null) {
      await this.#leave(process, connection, ended)
      return "the server is stopping"
    }
    if (typeof outcome === "string") return outcome
    process.kill("SIGUSR1")
    await Promise.race([sleep(dumpMs), ended])
    return outcome.hung
  }

  async #leave(process: EngineProcess, connection: EngineConnection, ended: Promise<string>): Promise<void> {
    this.#standing.enter("closed", "the server is stopping")
    connection.call("shutdown", { drain_s: drainSeconds })
    const drained = await Promise.race([ended.then(() => true), sleep((drainSeconds + 1) * 1000, false)])
    if (drained) return
    process.leave()
    process.kill("SIGTERM")
    await Promise.race([ended, sleep(1000)])
  }

  async #connect(socketPath: string, starting: AbortSignal): Promise<Socket> {
    while (!starting.aborted) {
      const socket = await tryConnect(socketPath)
      if (socket !== null) return socket
      await sleep(connectRetryMs)
    }
    throw this.#startedTooLate("listen")
  }

  #startedTooLate(missed: "listen" | "answer"): Error {
    return new Error(`the engine did not ${missed} within ${this.#options.startTimeoutMs / 1000} s of its start`)
  }
}

function tryConnect(socketPath: string): Promise<Socket | null> {
  return new Promise((resolve) => {
    const socket = connect(socketPath)
    socket.once("connect", () => {
      socket.removeAllListeners("error")
      resolve(socket)
    })
    socket.once("error", () => resolve(null))
  })
}
