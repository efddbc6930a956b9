/** Connections to the embedded store. Each runs one statement at a time; the queue in front says whose turn it is. */
import type { Session } from "chdb"
import type { FairQueue } from "../../../work/fair-queue.ts"
import { HeddleError } from "../../../errors.ts"
import type { WorkKind } from "../../../work/turns.ts"
import { currentScope } from "../../../work/work-scope.ts"
import { storeFailure } from "./store-failure.ts"
import { sleepAtMost } from "../../../work/sleep.ts"

export class Lanes {
  readonly #queue: FairQueue
  readonly #lanes: Lane[]
  readonly #idle: Lane[]

  /** `queue` has as many slots as there are `lanes`. */
  constructor(queue: FairQueue, lanes: Lane[]) {
    this.#queue = queue
    this.#lanes = lanes
    this.#idle = [...lanes]
  }

  run<T>(kind: WorkKind, work: (session: Session) => Promise<T>): Promise<T> {
    return this.#queue.run(kind, async () => {
      const lane = this.#idle.pop()
      if (lane === undefined) throw new Error("more statements run than the store has connections")
      try {
        return await lane.run(work)
      } catch (error) {
        // Why a statement failed that was stopped is of no interest.
        currentScope()?.signal?.throwIfAborted()
        throw error
      } finally {
        this.#idle.push(lane)
      }
    })
  }

  /** Once the statements that run have ended. */
  async close(): Promise<void> {
    await Promise.all(this.#lanes.map((lane) => lane.close()))
  }
}

/** One is enough as far as it was seen. */
const mostDiscards = 5

export class Lane {
  readonly #open: () => Session
  #session: Session
  #running: Promise<unknown> = Promise.resolve()

  constructor(open: () => Session) {
    this.#open = open
    this.#session = open()
  }

  /** Must not be called before the last call has settled. */
  run<T>(work: (session: Session) => Promise<T>): Promise<T> {
    const result = this.#run(work)
    this.#running = result.catch(() => undefined)
    return result
  }

  async close(): Promise<void> {
    await this.#running
    this.#session.close()
  }

  async #run<T>(work: (session: Session) => Promise<T>): Promise<T> {
    try {
      return await work(this.#session)
    } catch (error) {
      // It was refused before it reached the store.
      if (error instanceof HeddleError) throw error
      await this.#discardRest()
      const { message, clickhouseCode } = error as { message: string; clickhouseCode?: number }
      throw storeFailure(message, clickhouseCode ?? null, error)
    }
  }

  /**
   * chDB keeps what a query printed before it failed and puts it ahead of the next answer of the
   * connection: rows of one tenant in an answer to another. The connection serves nobody before it is gone.
   */
  async #discardRest(): Promise<void> {
    for (let tries = 0; tries < mostDiscards; tries++) {
      const answer = await this.#session.queryAsync("select 1 as clean", { format: "JSONEachRow" }).catch(() => null)
      if (answer?.text().trimEnd() === '{"clean":1}') return
    }
    this.#session.close()
    this.#session = this.#open()
  }
}

const againMs = 100

/** Ends statements whose client has left, over a connection that no other statement uses: the others may all be busy. */
export class StatementStopper {
  readonly #lane: Lane
  #last: Promise<unknown> = Promise.resolve()
  #marks = 0

  constructor(lane: Lane) {
    this.#lane = lane
  }

  /** Stops the statement that `run` runs when the client of the present scope leaves. It must begin with `mark`. */
  async whileAwaited<T>(run: (mark: string) => Promise<T>): Promise<T> {
    const mark = `/* heddle ${this.#marks++} */ `
    const signal = currentScope()?.signal
    if (signal == null) return run(mark)
    const ended = new AbortController()
    const stop = () => void this.#stop(mark, ended.signal)
    signal.addEventListener("abort", stop)
    try {
      return await run(mark)
    } finally {
      ended.abort()
      signal.removeEventListener("abort", stop)
    }
  }

  async close(): Promise<void> {
    await this.#last
    await this.#lane.close()
  }

  /** The store does not find a statement that has not reached it yet: asked again until it has ended. */
  async #stop(mark: string, ended: AbortSignal): Promise<void> {
    const kill = `kill query where startsWith(query, '${mark}') async`
    while (!ended.aborted) {
      const killed = this.#last.then(() => this.#lane.run((session) => session.queryAsync(kill)))
      this.#last = killed.catch(() => undefined)
      await this.#last
      await sleepAtMost(againMs, ended)
    }
  }
}
